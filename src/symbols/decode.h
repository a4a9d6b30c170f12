/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Instructions, as far as loops need them: how long each is, and where execution goes on. All
 * processors' decoders are written by hand: of thousands of instructions, branches matter, and of
 * those of x86-64 the length, which follows from prefixes, opcode map, ModRM and immediates, also
 * where an extension is newer than this program.
 */
#ifndef SYMBOLS_DECODE_H
#define SYMBOLS_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum flow {
    FLOW_NEXT,
    FLOW_PADDING,       /* nothing happens: nop, int3 */
    FLOW_BRANCH,        /* to the target, or on */
    FLOW_JUMP,          /* to the target */
    FLOW_INDIRECT,      /* a jump to an address in a register or table */
    FLOW_CALL,          /* of the target */
    FLOW_CALL_INDIRECT, /* target: the slot in memory that has the address; 0: unknown */
    FLOW_TAIL,          /* a jump through a slot in memory, as FLOW_CALL_INDIRECT */
    FLOW_RETURN,
    FLOW_STOP /* the program ends: a trap */
};

enum machine {
    MACHINE_UNKNOWN,
    MACHINE_X86_64,
    MACHINE_ARM64,
    MACHINE_POWER,    /* 64 bits, little-endian */
    MACHINE_POWER_BE, /* big-endian */
    MACHINE_RISCV64
};

struct instruction {
    uint64_t target; /* of branches, jumps and calls; else 0 */
    uint32_t at;     /* offset from the begin of its piece */
    uint8_t length;
    uint8_t flow;
    uint8_t marks; /* MARK_... */
    uint8_t unused;
};

/* What an instruction at an address does. Bytes that are none have a length, too, and go on. */
struct instruction decode(enum machine machine, const uint8_t *bytes, size_t size, uint64_t address,
                          const struct instruction *before);

struct instruction decode_x86(const uint8_t *bytes, size_t size, uint64_t address);
struct instruction decode_arm64(uint32_t word, uint64_t address);
struct instruction decode_power(uint32_t word, uint64_t address);
struct instruction decode_riscv(const uint8_t *bytes, size_t size, uint64_t address);

/* ---- operands of x86-64, for jump tables ---- */

enum {
    X86_LONGEST = 15,
    X86_NO_REGISTER = 255,
    X86_RIP = 254
};

struct x86 {
    uint8_t length;
    uint8_t map;    /* 0: one byte, 1: 0f, 2: 0f 38, 3: 0f 3a, others of VEX and EVEX */
    uint8_t opcode; /* the last byte */
    bool is_vex;    /* VEX, EVEX */
    bool is_wide;   /* REX.W */
    bool is_rep, is_short;
    bool has_modrm;
    uint8_t mod, reg, rm;       /* rm: a register if mod is 3 */
    uint8_t base, index, scale; /* of memory; scale 1, 2, 4, 8 */
    int32_t displacement;
    int64_t immediate;
};

/* False: no instruction that is known, or it does not fit; the length is 1. */
bool x86_read(struct x86 *x86, const uint8_t *bytes, size_t size);

#endif
