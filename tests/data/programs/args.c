/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls with integers, strings, floating point numbers and pointers, and what they return. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) int add(int left, int right)
{
    return left + right;
}

__attribute__((noinline)) double scale(double value, float factor)
{
    return value * (double)factor;
}

__attribute__((noinline)) const char *name_of(int number, const char *prefix)
{
    static char text[64];
    snprintf(text, sizeof text, "%s \"%d\" {x}", prefix, number);
    return text;
}

__attribute__((noinline)) unsigned long length_of(const char *text)
{
    return strlen(text);
}

__attribute__((noinline)) long count_down(long n)
{
    return n == 0 ? 0 : 1 + count_down(n - 1);
}

int main(void)
{
    long sum = 0;
    for (int i = 0; i < 12; i++) {
        sum += add(i, -i * 3);
        sum += (long)scale(i, 1.5f);
        sum += (long)length_of(name_of(i, i % 2 ? "odd" : "even"));
        sum += count_down(i % 5);
    }
    return sum == 0;
}
