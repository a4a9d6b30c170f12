/* SPDX-License-Identifier: BSD-3-Clause */
/* Lengths and operands of instructions of x86-64. */
#include "decode.h"

#include <string.h>

/* What follows an opcode. */
enum {
    M = 1,   /* ModRM, and what that needs */
    B = 2,   /* an immediate byte */
    W = 4,   /* two bytes */
    Z = 8,   /* four bytes; two with the prefix 66 and without REX.W */
    V = 16,  /* as Z; eight with REX.W */
    J = 32,  /* four bytes: near jumps */
    O = 64,  /* an address: eight bytes; four with the prefix 67 */
    X = 128, /* not an instruction */
    MB = M | B,
    MZ = M | Z
};

static const uint8_t one_byte[256] = {
    /* 00 */ M,  M,  M, M,  B, Z, X,  X,  M,     M,  M, M,  B, Z, X, 0,
    /* 10 */ M,  M,  M, M,  B, Z, X,  X,  M,     M,  M, M,  B, Z, X, X,
    /* 20 */ M,  M,  M, M,  B, Z, 0,  X,  M,     M,  M, M,  B, Z, 0, X,
    /* 30 */ M,  M,  M, M,  B, Z, 0,  X,  M,     M,  M, M,  B, Z, 0, X,
    /* 40 */ 0,  0,  0, 0,  0, 0, 0,  0,  0,     0,  0, 0,  0, 0, 0, 0,
    /* 50 */ 0,  0,  0, 0,  0, 0, 0,  0,  0,     0,  0, 0,  0, 0, 0, 0,
    /* 60 */ X,  X,  X, M,  0, 0, 0,  0,  Z,     MZ, B, MB, 0, 0, 0, 0,
    /* 70 */ B,  B,  B, B,  B, B, B,  B,  B,     B,  B, B,  B, B, B, B,
    /* 80 */ MB, MZ, X, MB, M, M, M,  M,  M,     M,  M, M,  M, M, M, M,
    /* 90 */ 0,  0,  0, 0,  0, 0, 0,  0,  0,     0,  X, 0,  0, 0, 0, 0,
    /* a0 */ O,  O,  O, O,  0, 0, 0,  0,  B,     Z,  0, 0,  0, 0, 0, 0,
    /* b0 */ B,  B,  B, B,  B, B, B,  B,  V,     V,  V, V,  V, V, V, V,
    /* c0 */ MB, MB, W, 0,  X, X, MB, MZ, W | B, 0,  W, 0,  0, B, X, 0,
    /* d0 */ M,  M,  M, M,  X, X, X,  0,  M,     M,  M, M,  M, M, M, M,
    /* e0 */ B,  B,  B, B,  B, B, B,  B,  J,     J,  X, B,  0, 0, 0, 0,
    /* f0 */ 0,  0,  0, 0,  0, 0, M,  M,  0,     0,  0, 0,  0, 0, M, M,
};

static const uint8_t two_bytes[256] = {
    /* 00 */ M,  M,  M,  M,  X,  0,  0,  0, 0, 0, X,  0, X,  M, 0, MB,
    /* 10 */ M,  M,  M,  M,  M,  M,  M,  M, M, M, M,  M, M,  M, M, M,
    /* 20 */ M,  M,  M,  M,  X,  X,  X,  X, M, M, M,  M, M,  M, M, M,
    /* 30 */ 0,  0,  0,  0,  0,  0,  X,  0, 0, X, 0,  X, X,  X, X, X,
    /* 40 */ M,  M,  M,  M,  M,  M,  M,  M, M, M, M,  M, M,  M, M, M,
    /* 50 */ M,  M,  M,  M,  M,  M,  M,  M, M, M, M,  M, M,  M, M, M,
    /* 60 */ M,  M,  M,  M,  M,  M,  M,  M, M, M, M,  M, M,  M, M, M,
    /* 70 */ MB, MB, MB, MB, M,  M,  M,  0, M, M, M,  M, M,  M, M, M,
    /* 80 */ J,  J,  J,  J,  J,  J,  J,  J, J, J, J,  J, J,  J, J, J,
    /* 90 */ M,  M,  M,  M,  M,  M,  M,  M, M, M, M,  M, M,  M, M, M,
    /* a0 */ 0,  0,  0,  M,  MB, M,  M,  M, 0, 0, 0,  M, MB, M, M, M,
    /* b0 */ M,  M,  M,  M,  M,  M,  M,  M, M, M, MB, M, M,  M, M, M,
    /* c0 */ M,  M,  MB, M,  MB, MB, MB, M, 0, 0, 0,  0, 0,  0, 0, 0,
    /* d0 */ M,  M,  M,  M,  M,  M,  M,  M, M, M, M,  M, M,  M, M, M,
    /* e0 */ M,  M,  M,  M,  M,  M,  M,  M, M, M, M,  M, M,  M, M, M,
    /* f0 */ M,  M,  M,  M,  M,  M,  M,  M, M, M, M,  M, M,  M, M, M,
};

struct prefixes {
    bool is_short, is_address_short; /* 66, 67 */
    uint8_t rex;
};

/* The next byte; false at the end of the bytes or of the longest instruction. */
struct bytes {
    const uint8_t *at;
    size_t size, used;
};

static bool take(struct bytes *bytes, uint8_t *out)
{
    if (bytes->used >= bytes->size || bytes->used >= X86_LONGEST)
        return false;
    *out = bytes->at[bytes->used++];
    return true;
}

/* A number of 0, 1, 2, 4 or 8 bytes, or of 3, whose sign nobody needs. */
static bool take_signed(struct bytes *bytes, unsigned size, int64_t *out)
{
    const uint8_t *at = bytes->at + bytes->used;
    if (size > bytes->size - bytes->used || bytes->used + size > X86_LONGEST)
        return false;
    bytes->used += size;
    if (size == 1)
        *out = *at < 0x80 ? *at : *at - 0x100;
    else if (size == 4)
        *out =
            (int32_t)((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
    else {
        uint64_t number = 0;
        for (unsigned i = 0; i < size; i++)
            number |= (uint64_t)at[i] << 8 * i;
        *out = size == 2 ? (int16_t)number : (int64_t)number;
    }
    return true;
}

/* Prefixes and the byte after them. REX counts if it is the last one. */
static bool take_prefixes(struct bytes *bytes, struct x86 *x86, struct prefixes *prefixes)
{
    for (;;) {
        if (!take(bytes, &x86->opcode))
            return false;
        switch (x86->opcode) {
        case 0x66:
            prefixes->is_short = true;
            break;
        case 0x67:
            prefixes->is_address_short = true;
            break;
        case 0xf3:
            x86->is_rep = true;
            break;
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x64:
        case 0x65:
        case 0xf0:
        case 0xf2:
            break;
        default:
            if (x86->opcode >> 4 != 4)
                return true;
            prefixes->rex = x86->opcode;
            continue;
        }
        prefixes->rex = 0;
    }
}

/* Opcodes after VEX and EVEX: the prefix says which map they are of. */
static bool take_vex(struct bytes *bytes, struct x86 *x86, uint8_t *form)
{
    unsigned more = x86->opcode == 0xc5 ? 1 : x86->opcode == 0xc4 ? 2 : 3;
    uint8_t first, byte;
    if (!take(bytes, &first))
        return false;
    x86->map = more == 1 ? 1 : first & (more == 2 ? 0x1f : 7);
    x86->is_vex = true;
    for (unsigned i = 1; i < more; i++)
        if (!take(bytes, &byte))
            return false;
    if (!take(bytes, &x86->opcode))
        return false;
    bool is_plain = x86->map == 1 && x86->opcode == 0x77; /* vzeroupper */
    bool has_byte = x86->map == 3 || (x86->map == 1 && two_bytes[x86->opcode] == MB);
    *form = is_plain ? 0 : has_byte ? MB : M;
    return true;
}

static bool take_opcode(struct bytes *bytes, struct x86 *x86, struct prefixes *prefixes, uint8_t *form)
{
    if (!take_prefixes(bytes, x86, prefixes))
        return false;
    if (x86->opcode == 0xc4 || x86->opcode == 0xc5 || x86->opcode == 0x62)
        return take_vex(bytes, x86, form);
    *form = one_byte[x86->opcode];
    if (x86->opcode != 0x0f)
        return true;
    if (!take(bytes, &x86->opcode))
        return false;
    x86->map = x86->opcode == 0x38 ? 2 : x86->opcode == 0x3a ? 3 : 1;
    if (x86->map == 1) {
        *form = two_bytes[x86->opcode];
        return true;
    }
    *form = x86->map == 3 ? MB : M;
    return take(bytes, &x86->opcode);
}

static bool take_memory(struct bytes *bytes, struct x86 *x86, uint8_t rex)
{
    uint8_t sib = 0, low = x86->rm & 7;
    int64_t displacement;
    unsigned size = x86->mod == 1 ? 1 : x86->mod == 2 ? 4 : 0;
    x86->base = x86->rm;
    if (low == 4) {
        if (!take(bytes, &sib))
            return false;
        uint8_t index = (uint8_t)((sib >> 3 & 7) | (rex & 2) << 2);
        low = sib & 7;
        x86->base = (uint8_t)(low | (rex & 1) << 3);
        x86->index = index == 4 ? X86_NO_REGISTER : index;
        x86->scale = (uint8_t)(1u << (sib >> 6));
        if (low == 5 && x86->mod == 0) {
            x86->base = X86_NO_REGISTER;
            size = 4;
        }
    } else if (low == 5 && x86->mod == 0) {
        x86->base = X86_RIP;
        size = 4;
    }
    if (!take_signed(bytes, size, &displacement))
        return false;
    x86->displacement = (int32_t)displacement;
    return true;
}

static bool take_modrm(struct bytes *bytes, struct x86 *x86, uint8_t rex)
{
    uint8_t modrm;
    if (!take(bytes, &modrm))
        return false;
    x86->has_modrm = true;
    x86->mod = modrm >> 6;
    x86->reg = (uint8_t)((modrm >> 3 & 7) | (rex & 4) << 1);
    x86->rm = (uint8_t)((modrm & 7) | (rex & 1) << 3);
    return x86->mod == 3 || take_memory(bytes, x86, rex);
}

static bool take_immediate(struct bytes *bytes, struct x86 *x86, const struct prefixes *prefixes,
                           uint8_t form)
{
    bool is_short = prefixes->is_short && !x86->is_wide;
    unsigned size = (form & B ? 1u : 0u) + (form & W ? 2u : 0u);
    /* test is the only one of its group that has an immediate. */
    bool is_test = x86->map == 0 && (x86->opcode == 0xf6 || x86->opcode == 0xf7) && (x86->reg & 7) < 2;
    if (form & Z || (is_test && x86->opcode == 0xf7))
        size = is_short ? 2 : 4;
    else if (is_test)
        size = 1;
    else if (form & V)
        size = x86->is_wide ? 8 : is_short ? 2 : 4;
    else if (form & J)
        size = 4;
    else if (form & O)
        size = prefixes->is_address_short ? 4 : 8;
    return take_signed(bytes, size, &x86->immediate);
}

bool x86_read(struct x86 *x86, const uint8_t *at, size_t size)
{
    struct bytes bytes = {at, size, 0};
    struct prefixes prefixes = {0};
    uint8_t form = 0;
    *x86 = (struct x86){.base = X86_NO_REGISTER, .index = X86_NO_REGISTER, .scale = 1, .mod = 3, .length = 1};
    bool is_known = take_opcode(&bytes, x86, &prefixes, &form) && !(form & X);
    x86->is_wide = (prefixes.rex & 8) != 0;
    x86->is_short = prefixes.is_short;
    is_known = is_known && (!(form & M) || take_modrm(&bytes, x86, prefixes.rex)) &&
               take_immediate(&bytes, x86, &prefixes, form);
    if (is_known)
        x86->length = (uint8_t)bytes.used;
    return is_known;
}
