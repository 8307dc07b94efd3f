// Latencies, counted in buckets that are at most 1/128 wider than what they begin with.

#include "load.h"
#include <string.h>

enum { STEPS = 128, STEP_BITS = 7, OCTAVES = 64 - STEP_BITS };

static uint64_t counts[STEPS * (OCTAVES + 1)], total;

static unsigned bucket_of(uint64_t value) {
    if (value < STEPS) return value;
    unsigned octave = 63 - __builtin_clzll(value) - STEP_BITS;
    return STEPS * octave + (value >> octave);
}

// The value in the middle of a bucket.
static double middle_of(unsigned bucket) {
    if (bucket < STEPS) return bucket;
    unsigned octave = bucket / STEPS - 1;
    return ((uint64_t)(bucket - STEPS * octave) + 0.5) * (1ull << octave);
}

void forget_latencies(void) {
    memset(counts, 0, sizeof counts);
    total = 0;
}

void add_latency(uint64_t nanoseconds) {
    counts[bucket_of(nanoseconds)]++;
    total++;
}

double latency_microseconds(double percentile) {
    uint64_t seen = 0;
    unsigned bucket = 0;
    while ((seen += counts[bucket]) < percentile / 100 * total) bucket++;
    return middle_of(bucket) / 1e3;
}
