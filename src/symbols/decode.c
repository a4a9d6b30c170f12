/* SPDX-License-Identifier: BSD-3-Clause */
/* Where execution goes on after an instruction. */
#include "decode.h"

#include <string.h>

/* ---- x86-64 ---- */

static enum flow flow_of_ff(const struct x86 *x86)
{
    bool is_slot = x86->mod != 3 && x86->index == X86_NO_REGISTER;
    switch (x86->reg & 7) {
    case 2:
    case 3:
        return FLOW_CALL_INDIRECT;
    case 4:
        return is_slot ? FLOW_TAIL : FLOW_INDIRECT;
    case 5:
        return FLOW_TAIL;
    default:
        return FLOW_NEXT;
    }
}

static enum flow flow_of_two_bytes(const struct x86 *x86)
{
    if (x86->opcode >> 4 == 8)
        return FLOW_BRANCH;
    if (x86->opcode == 0x0b) /* ud2 */
        return FLOW_STOP;
    return x86->opcode == 0x1f ? FLOW_PADDING : FLOW_NEXT; /* nop with operands */
}

static enum flow flow_of(const struct x86 *x86)
{
    if (x86->is_vex || x86->map > 1)
        return FLOW_NEXT;
    if (x86->map == 1)
        return flow_of_two_bytes(x86);
    switch (x86->opcode) {
    case 0xe8:
        return FLOW_CALL;
    case 0xe9:
    case 0xeb:
        return FLOW_JUMP;
    case 0xe0:
    case 0xe1:
    case 0xe2:
    case 0xe3:
        return FLOW_BRANCH;
    case 0xc2:
    case 0xc3:
    case 0xca:
    case 0xcb:
    case 0xcf:
        return FLOW_RETURN;
    case 0xf4: /* hlt */
        return FLOW_STOP;
    case 0x90: /* nop; pause, with a prefix */
        return x86->is_rep ? FLOW_NEXT : FLOW_PADDING;
    case 0xcc:
        return FLOW_PADDING;
    case 0xff:
        return flow_of_ff(x86);
    default:
        return x86->opcode >> 4 == 7 ? FLOW_BRANCH : FLOW_NEXT;
    }
}

struct instruction decode_x86(const uint8_t *bytes, size_t size, uint64_t address)
{
    struct x86 x86;
    if (!x86_read(&x86, bytes, size))
        return (struct instruction){.length = 1, .flow = FLOW_NEXT};
    struct instruction found = {.length = x86.length, .flow = (uint8_t)flow_of(&x86)};
    uint64_t next = address + x86.length;
    if (found.flow == FLOW_BRANCH || found.flow == FLOW_JUMP || found.flow == FLOW_CALL)
        found.target = next + (uint64_t)x86.immediate;
    else if ((found.flow == FLOW_CALL_INDIRECT || found.flow == FLOW_TAIL) && x86.base == X86_RIP)
        found.target = next + (uint64_t)(int64_t)x86.displacement;
    return found;
}

/* ---- AArch64 ---- */

/* `bits` of a word from `low` on, with a sign. */
static uint64_t signed_bits(uint32_t word, unsigned low, unsigned bits)
{
    uint64_t sign = (uint64_t)1 << (bits - 1), number = word >> low & ((UINT64_C(1) << bits) - 1);
    return (number ^ sign) - sign;
}

struct instruction decode_arm64(uint32_t word, uint64_t address)
{
    struct instruction found = {.length = 4, .flow = FLOW_NEXT};
    if (word >> 26 == 0x05 || word >> 26 == 0x25) { /* b, bl */
        found.flow = word >> 31 ? FLOW_CALL : FLOW_JUMP;
        found.target = address + 4 * signed_bits(word, 0, 26);
    } else if (word >> 24 == 0x54 || (word & 0x7e000000) == 0x34000000) { /* b.cond, cbz, cbnz */
        found.flow = FLOW_BRANCH;
        found.target = address + 4 * signed_bits(word, 5, 19);
    } else if ((word & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
        found.flow = FLOW_BRANCH;
        found.target = address + 4 * signed_bits(word, 5, 14);
    } else if ((word & 0xfe000000) == 0xd6000000) { /* by register, also with authentication */
        unsigned operation = word >> 21 & 15;
        found.flow = (operation & 7) == 0   ? FLOW_INDIRECT
                     : (operation & 7) == 1 ? FLOW_CALL_INDIRECT
                                            : FLOW_RETURN;
    } else if (word >> 16 == 0 || (word & 0xffe0001f) == 0xd4200000) /* udf, brk */
        found.flow = FLOW_STOP;
    else if (word == 0xd503201f)
        found.flow = FLOW_PADDING;
    return found;
}

/* ---- POWER ---- */

struct instruction decode_power(uint32_t word, uint64_t address)
{
    struct instruction found = {.length = 4, .flow = FLOW_NEXT};
    bool is_call = word & 1, is_absolute = word & 2, is_always = (word >> 21 & 0x14) == 0x14;
    unsigned operation = word >> 26, more = word >> 1 & 0x3ff;
    if (operation == 18) { /* b, bl */
        found.flow = is_call ? FLOW_CALL : FLOW_JUMP;
        found.target = (is_absolute ? 0 : address) + 4 * signed_bits(word, 2, 24);
    } else if (operation == 16 && !is_call) { /* bc */
        found.flow = is_always ? FLOW_JUMP : FLOW_BRANCH;
        found.target = (is_absolute ? 0 : address) + 4 * signed_bits(word, 2, 14);
    } else if (operation == 19 && (more == 16 || more == 528 || more == 560)) { /* LR, CTR, TAR */
        if (is_call)
            found.flow = FLOW_CALL_INDIRECT;
        else if (is_always) /* else it goes on, or away from the function */
            found.flow = more == 16 ? FLOW_RETURN : FLOW_INDIRECT;
    } else if (word == 0x7fe00008 || word == 0) /* trap */
        found.flow = FLOW_STOP;
    else if (word == 0x60000000)
        found.flow = FLOW_PADDING;
    return found;
}

/* ---- RISC-V ---- */

static struct instruction decode_compressed(uint32_t half, uint64_t address)
{
    struct instruction found = {.length = 2, .flow = FLOW_NEXT};
    unsigned quadrant = half & 3, function = half >> 13 & 7, source = half >> 7 & 31;
    if (half == 0 || half == 0x9002) /* not allowed, ebreak */
        found.flow = FLOW_STOP;
    else if (half == 1)
        found.flow = FLOW_PADDING;
    else if (quadrant == 1 && function == 5) { /* c.j */
        uint32_t offset = (half >> 12 & 1) << 11 | (half >> 11 & 1) << 4 | (half >> 9 & 3) << 8 |
                          (half >> 8 & 1) << 10 | (half >> 7 & 1) << 6 | (half >> 6 & 1) << 7 |
                          (half >> 3 & 7) << 1 | (half >> 2 & 1) << 5;
        found.flow = FLOW_JUMP;
        found.target = address + signed_bits(offset, 0, 12);
    } else if (quadrant == 1 && function >= 6) { /* c.beqz, c.bnez */
        uint32_t offset = (half >> 12 & 1) << 8 | (half >> 10 & 3) << 3 | (half >> 5 & 3) << 6 |
                          (half >> 3 & 3) << 1 | (half >> 2 & 1) << 5;
        found.flow = FLOW_BRANCH;
        found.target = address + signed_bits(offset, 0, 9);
    } else if (quadrant == 2 && function == 4 && (half >> 2 & 31) == 0) /* c.jr, c.jalr */
        found.flow = half >> 12 & 1 ? FLOW_CALL_INDIRECT : source == 1 ? FLOW_RETURN : FLOW_INDIRECT;
    return found;
}

struct instruction decode_riscv(const uint8_t *bytes, size_t size, uint64_t address)
{
    struct instruction found = {.length = 4, .flow = FLOW_NEXT};
    uint32_t word = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8;
    if ((word & 3) != 3 || size < 4)
        return decode_compressed(word, address);
    word |= (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    unsigned to = word >> 7 & 31, from = word >> 15 & 31;
    switch (word & 0x7f) {
    case 0x63: { /* branches */
        uint32_t offset =
            (word >> 31) << 12 | (word >> 25 & 63) << 5 | (word >> 8 & 15) << 1 | (word >> 7 & 1) << 11;
        found.flow = FLOW_BRANCH;
        found.target = address + signed_bits(offset, 0, 13);
        break;
    }
    case 0x6f: { /* jal */
        uint32_t offset = (word >> 31) << 20 | (word >> 21 & 0x3ff) << 1 | (word >> 20 & 1) << 11 |
                          (word >> 12 & 0xff) << 12;
        found.flow = to == 0 ? FLOW_JUMP : FLOW_CALL;
        found.target = address + signed_bits(offset, 0, 21);
        break;
    }
    case 0x67: /* jalr */
        found.flow = to != 0 ? FLOW_CALL_INDIRECT : from == 1 ? FLOW_RETURN : FLOW_INDIRECT;
        break;
    case 0x13:
        found.flow = word == 0x13 ? FLOW_PADDING : FLOW_NEXT;
        break;
    default:
        break;
    }
    return found;
}

/* auipc and jalr of one register are a direct call or jump. */
static void use_pair(struct instruction *found, const uint8_t *at, uint64_t address)
{
    uint32_t first, second;
    memcpy(&first, at - 4, sizeof first);
    memcpy(&second, at, sizeof second);
    if ((first & 0x7f) != 0x17 || (second & 0x7f) != 0x67 || (first >> 7 & 31) != (second >> 15 & 31))
        return;
    uint64_t page = (first & UINT32_C(0xfffff000)) ^ UINT64_C(0x80000000);
    found->target = address - 4 + (page - UINT64_C(0x80000000)) + signed_bits(second, 20, 12);
    found->flow = (second >> 7 & 31) == 0 ? FLOW_JUMP : FLOW_CALL;
}

/* ---- all ---- */

static uint32_t word_at(const uint8_t *bytes, bool is_big)
{
    return is_big ? (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3]
                  : (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
}

struct instruction decode(enum machine machine, const uint8_t *bytes, size_t size, uint64_t address,
                          const struct instruction *before)
{
    struct instruction found = {.length = (uint8_t)(size < 4 ? size : 4), .flow = FLOW_STOP};
    if (machine == MACHINE_X86_64)
        return decode_x86(bytes, size, address);
    if (machine == MACHINE_RISCV64 && size >= 2) {
        found = decode_riscv(bytes, size, address);
        if (found.length == 4 && before && before->length == 4)
            use_pair(&found, bytes, address);
    } else if (machine == MACHINE_ARM64 && size >= 4)
        found = decode_arm64(word_at(bytes, false), address);
    else if (size >= 4)
        found = decode_power(word_at(bytes, machine == MACHINE_POWER_BE), address);
    return found;
}
