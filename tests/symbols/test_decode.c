/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Instructions: lengths and where execution goes on. Bytes are those of assemblers; by hand, all
 * instructions of glibc, libm and LLVM have the lengths that objdump says.
 */
#include "symbols/decode.h"
#include "unit.h"

struct known {
    const char *text;
    size_t size;
    uint8_t bytes[X86_LONGEST];
    enum flow flow;
    uint64_t target; /* if the instruction is at 0x1000 */
};

static const struct known x86[] = {
    {"ret", 1, {0xc3}, FLOW_RETURN, 0},
    {"call +5", 5, {0xe8, 0, 0, 0, 0}, FLOW_CALL, 0x1005},
    {"jmp short -2", 2, {0xeb, 0xfe}, FLOW_JUMP, 0x1000},
    {"jne near", 6, {0x0f, 0x85, 0x10, 0, 0, 0}, FLOW_BRANCH, 0x1016},
    {"bnd jmp", 6, {0xf2, 0xe9, 0, 1, 0, 0}, FLOW_JUMP, 0x1106},
    {"jmp *%rax", 2, {0xff, 0xe0}, FLOW_INDIRECT, 0},
    {"jmp *(,%rax,8)", 7, {0xff, 0x24, 0xc5, 0, 0x20, 0x40, 0}, FLOW_INDIRECT, 0},
    {"jmp *16(%rip)", 6, {0xff, 0x25, 16, 0, 0, 0}, FLOW_TAIL, 0x1016},
    {"call *8(%rip)", 6, {0xff, 0x15, 8, 0, 0, 0}, FLOW_CALL_INDIRECT, 0x100e},
    {"ud2", 2, {0x0f, 0x0b}, FLOW_STOP, 0},
    {"endbr64", 4, {0xf3, 0x0f, 0x1e, 0xfa}, FLOW_NEXT, 0},
    {"nop of 10 bytes", 10, {0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}, FLOW_PADDING, 0},
    {"pause", 2, {0xf3, 0x90}, FLOW_NEXT, 0},
    {"movabs", 10, {0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}, FLOW_NEXT, 0},
    {"mov imm16", 4, {0x66, 0xb8, 1, 2}, FLOW_NEXT, 0},
    {"test imm32", 6, {0xf7, 0xc7, 1, 0, 0, 0}, FLOW_NEXT, 0},
    {"neg", 2, {0xf7, 0xdf}, FLOW_NEXT, 0},
    {"test imm8", 3, {0xf6, 0xc1, 1}, FLOW_NEXT, 0},
    {"enter", 4, {0xc8, 1, 0, 1}, FLOW_NEXT, 0},
    {"mov moffs", 9, {0xa0, 1, 2, 3, 4, 5, 6, 7, 8}, FLOW_NEXT, 0},
    {"pinsrw", 5, {0x66, 0x0f, 0xc4, 0xc0, 1}, FLOW_NEXT, 0},
    {"pshufb", 5, {0x66, 0x0f, 0x38, 0, 0xc1}, FLOW_NEXT, 0},
    {"palignr", 6, {0x66, 0x0f, 0x3a, 0x0f, 0xc1, 8}, FLOW_NEXT, 0},
    {"vzeroupper", 3, {0xc5, 0xf8, 0x77}, FLOW_NEXT, 0},
    {"vpcmpeqb", 4, {0xc5, 0xfd, 0x74, 0x07}, FLOW_NEXT, 0},
    {"vperm2i128", 6, {0xc4, 0xe3, 0x7d, 0x46, 0xc1, 1}, FLOW_NEXT, 0},
    {"vmovdqu64 (EVEX, disp8)", 7, {0x62, 0xe1, 0xfe, 0x28, 0x6f, 0x47, 1}, FLOW_NEXT, 0},
    {"vpternlogd (EVEX, imm8)", 7, {0x62, 0xf3, 0x7d, 0x48, 0x25, 0xc0, 0xff}, FLOW_NEXT, 0},
    {"kmovd", 4, {0xc5, 0xfb, 0x93, 0xc1}, FLOW_NEXT, 0},
    {"mov with SIB and disp32", 8, {0x48, 0x8b, 0x84, 0x24, 0x80, 0, 0, 0}, FLOW_NEXT, 0},
};

static void instructions_of_x86_64_have_their_lengths_and_targets(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof x86 / sizeof *x86; i++) {
        struct instruction found = decode_x86(x86[i].bytes, sizeof x86[i].bytes, 0x1000);
        if (found.length != x86[i].size || found.flow != x86[i].flow || found.target != x86[i].target)
            fail_msg("%s: length %d, flow %d, target %llx", x86[i].text, found.length, found.flow,
                     (unsigned long long)found.target);
        /* Cut off, it is a byte that goes on. */
        found = decode_x86(x86[i].bytes, x86[i].size - 1, 0x1000);
        assert_true(x86[i].size == 1 || (found.length >= 1 && found.length < x86[i].size));
    }
}

static void is(struct instruction found, enum flow flow, uint64_t target)
{
    assert_int_equal(found.flow, flow);
    assert_int_equal(found.target, target);
}

static void branches_of_other_processors_have_their_targets(void **state)
{
    static const uint8_t half[] = {0xfd, 0xbf}, beqz[] = {0x01, 0xc5}, jal[] = {0x6f, 0, 0x40, 0},
                         plain[] = {0x82, 0x80};
    (void)state;
    is(decode_arm64(0x17ffffff, 0x1000), FLOW_JUMP, 0xffc);
    is(decode_arm64(0x94000001, 0x1000), FLOW_CALL, 0x1004);
    is(decode_arm64(0x54ffffe1, 0x1000), FLOW_BRANCH, 0xffc);
    is(decode_arm64(0x35000040, 0x1000), FLOW_BRANCH, 0x1008);
    is(decode_arm64(0x37000040, 0x1000), FLOW_BRANCH, 0x1008);
    is(decode_arm64(0xd65f03c0, 0x1000), FLOW_RETURN, 0);
    is(decode_arm64(0xd61f0200, 0x1000), FLOW_INDIRECT, 0);
    is(decode_arm64(0xd63f0200, 0x1000), FLOW_CALL_INDIRECT, 0);
    is(decode_arm64(0x8b000000, 0x1000), FLOW_NEXT, 0);
    is(decode_power(0x4bfffffc, 0x1000), FLOW_JUMP, 0xffc);
    is(decode_power(0x48000005, 0x1000), FLOW_CALL, 0x1004);
    is(decode_power(0x4082fff8, 0x1000), FLOW_BRANCH, 0xff8);
    is(decode_power(0x4200fff8, 0x1000), FLOW_BRANCH, 0xff8); /* bdnz */
    is(decode_power(0x4e800020, 0x1000), FLOW_RETURN, 0);
    is(decode_power(0x4d820020, 0x1000), FLOW_NEXT, 0); /* beqlr: it goes on, or returns */
    is(decode_power(0x4e800420, 0x1000), FLOW_INDIRECT, 0);
    is(decode_riscv(half, 2, 0x1000), FLOW_JUMP, 0xffe);
    is(decode_riscv(beqz, 2, 0x1000), FLOW_BRANCH, 0x1008);
    is(decode_riscv(jal, 4, 0x1000), FLOW_JUMP, 0x1004);
    is(decode_riscv(plain, 2, 0x1000), FLOW_RETURN, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_of_x86_64_have_their_lengths_and_targets),
        cmocka_unit_test(branches_of_other_processors_have_their_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
