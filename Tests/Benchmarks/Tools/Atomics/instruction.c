// As much of x86-64's encoding as atomic operations on memory need: those with a lock prefix, and xchg.

#include "atomics.h"
#include <string.h>

static bool is_prefix(uint8_t byte) {
    static const uint8_t prefixes[] = {0xF0, 0xF2, 0xF3, 0x26, 0x2E, 0x36, 0x3E, 0x64, 0x65, 0x66, 0x67};
    return memchr(prefixes, byte, sizeof prefixes) != NULL;
}

static int64_t read_displacement(const uint8_t **next, int size) {
    int8_t small;
    int32_t large;
    const uint8_t *at = *next;
    *next += size;
    if (size == 0) return 0;
    if (size == 1) return memcpy(&small, at, 1), small;
    return memcpy(&large, at, 4), large;
}

// The size of the constant that ends an instruction.
static int constant_size(bool is_long_opcode, uint8_t opcode, bool is_16_bit) {
    if (is_long_opcode) return opcode == 0xBA ? 1 : 0;
    if (opcode == 0x81) return is_16_bit ? 2 : 4;
    return opcode == 0x80 || opcode == 0x83 ? 1 : 0;
}

instruction_t decode(const uint8_t *bytes) {
    instruction_t result = {.base = NONE, .index = NONE};
    const uint8_t *next = bytes;
    bool is_locked = false, is_16_bit = false;
    for (; next < bytes + LONGEST && is_prefix(*next); next++) {
        is_locked |= *next == 0xF0;
        is_16_bit |= *next == 0x66;
        result.is_of_thread |= *next == 0x64;
    }
    int rex = (*next & 0xF0) == 0x40 ? *next++ : 0;
    bool is_long_opcode = *next == 0x0F;
    if (is_long_opcode) next++;
    uint8_t opcode = *next++;
    bool is_exchange = !is_long_opcode && (opcode == 0x86 || opcode == 0x87);
    int mode = *next >> 6, place = *next & 7;
    next++;
    if (!(is_locked || is_exchange) || mode == 3) return result;

    result.is_atomic = true;
    int size = mode == 1 ? 1 : mode == 2 ? 4 : 0;
    result.is_relative = mode == 0 && place == 5;
    if (result.is_relative) size = 4;
    if (place == 4) {
        uint8_t scaled = *next++;
        int index = (scaled >> 3 & 7) | (rex & 2) << 2;
        if (index != 4) result.index = index;
        result.scale = 1 << (scaled >> 6);
        place = scaled & 7;
        if (mode == 0 && place == 5) place = NONE, size = 4;
    }
    if (place != NONE && !result.is_relative) result.base = place | (rex & 1) << 3;
    result.displacement = read_displacement(&next, size);
    result.length = next + constant_size(is_long_opcode, opcode, is_16_bit) - bytes;
    return result;
}

static uint64_t value_of(int number, const struct user_regs_struct *r) {
    const uint64_t values[] = {r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi,
                               r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15};
    return number == NONE ? 0 : values[number];
}

uint64_t address_of(const instruction_t *instruction, const struct user_regs_struct *registers) {
    uint64_t address = instruction->displacement + value_of(instruction->base, registers) +
                       value_of(instruction->index, registers) * instruction->scale;
    if (instruction->is_relative) address += registers->rip + instruction->length;
    if (instruction->is_of_thread) address += registers->fs_base;
    return address;
}
