#include "load.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void require(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "load: %s\n", what);
    exit(1);
}

int64_t check(int64_t status, const char *operation) {
    if (status >= 0) return status;
    fprintf(stderr, "load: %s: %s\n", operation, strerror(errno));
    exit(1);
}
