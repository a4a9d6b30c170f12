/* SPDX-License-Identifier: BSD-3-Clause */
#include "export/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DECIMALS = 6,
    DIGITS_FIRST = 15, /* that a double always has */
    DIGITS_MOST = 17   /* that always read back the same */
};

size_t lode_number_u64(char *text, uint64_t number)
{
    char digits[LODE_NUMBER_SIZE];
    size_t length = 0;
    do
        digits[length++] = (char)('0' + number % 10);
    while (number /= 10);
    for (size_t i = 0; i < length; i++)
        text[i] = digits[length - 1 - i];
    text[length] = '\0';
    return length;
}

size_t lode_number_i64(char *text, int64_t number)
{
    if (number >= 0)
        return lode_number_u64(text, (uint64_t)number);
    text[0] = '-';
    return 1 + lode_number_u64(text + 1, -(uint64_t)number);
}

size_t lode_number_hex(char *text, uint64_t number)
{
    return (size_t)snprintf(text, LODE_NUMBER_SIZE, "0x%" PRIx64, number);
}

/* Replaces the decimal point of the locale, and adds a fraction if there is none. */
static size_t normalise(char *text)
{
    size_t from = strspn(text, "-0123456789"), to = from;
    if (text[from] == '\0' || text[from] == 'e') {
        if (text[from] == 'e')
            return strlen(text);
        memcpy(text + from, ".0", 3);
        return from + 2;
    }
    while (text[to] && (text[to] < '0' || text[to] > '9'))
        to++;
    text[from] = '.';
    memmove(text + from + 1, text + to, strlen(text + to) + 1);
    return strlen(text);
}

/*
 * A number of at most DECIMALS decimals and 15 digits. A quotient of two exact numbers is rounded
 * as reading its digits rounds, and no other text of up to 15 digits reads back as the same number.
 */
static size_t short_text(char *text, double number)
{
    double size = fabs(number), scaled = size * 1e6;
    if (!(scaled < 1e15) || scaled != floor(scaled) || scaled / 1e6 != size || size == 0)
        return 0;
    uint64_t digits = (uint64_t)scaled;
    unsigned decimals = DECIMALS;
    for (; decimals > 1 && digits % 10 == 0; decimals--)
        digits /= 10;
    uint64_t power = 1;
    for (unsigned i = 0; i < decimals; i++)
        power *= 10;
    size_t length = signbit(number) ? 1 : 0;
    text[0] = '-';
    length += lode_number_u64(text + length, digits / power);
    text[length++] = '.';
    for (uint64_t rest = digits % power; power /= 10, power > 0; rest %= power)
        text[length++] = (char)('0' + rest / power);
    text[length] = '\0';
    return length;
}

size_t lode_number_f64(char *text, double number)
{
    if (isnan(number) || isinf(number)) {
        const char *word = isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
        return (size_t)snprintf(text, LODE_NUMBER_SIZE, "%s", word);
    }
    size_t length = short_text(text, number);
    if (length > 0)
        return length;
    /* Numbers next to zero have fewer. */
    for (int digits = isnormal(number) ? DIGITS_FIRST : 1; digits <= DIGITS_MOST; digits++) {
        snprintf(text, LODE_NUMBER_SIZE, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    return normalise(text);
}
