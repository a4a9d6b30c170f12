/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that a long jump ends, and a program that a signal ends. */
#include <setjmp.h>
#include <signal.h>

static jmp_buf place;

__attribute__((noinline)) static void leave(int value)
{
    longjmp(place, value);
}

__attribute__((noinline)) static void deeper(int depth)
{
    if (depth == 0)
        leave(1);
    deeper(depth - 1);
}

__attribute__((noinline)) static int attempt(int depth)
{
    if (setjmp(place) == 0)
        deeper(depth);
    return depth;
}

int main(int argc, char **argv)
{
    (void)argv;
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += attempt(i);
    if (argc > 1)
        raise(SIGKILL);
    return sum == 0;
}
