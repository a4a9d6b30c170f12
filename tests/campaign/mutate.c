/* SPDX-License-Identifier: BSD-3-Clause */
#include "mutate.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

uint64_t random_begin(uint64_t seed, uint64_t number)
{
    uint64_t state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (number + 1) * UINT64_C(0xbf58476d1ce4e5b9);
    state = state ? state : 1;
    for (int i = 0; i < 4; i++)
        random_next(&state);
    return state;
}

size_t random_below(uint64_t *state, size_t count)
{
    return (size_t)((random_next(state) >> 16) % count);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- numbers in binary files ---- */

static uint64_t get_number(const unsigned char *at, size_t width, bool is_big)
{
    uint64_t number = 0;
    for (size_t i = 0; i < width; i++)
        number |= (uint64_t)at[is_big ? width - 1 - i : i] << 8 * i;
    return number;
}

static void put_number(unsigned char *at, size_t width, bool is_big, uint64_t number)
{
    for (size_t i = 0; i < width; i++)
        at[is_big ? width - 1 - i : i] = (unsigned char)(number >> 8 * i);
}

static uint64_t nasty_number(uint64_t *random)
{
    static const uint64_t nasty[] = {0,
                                     1,
                                     2,
                                     3,
                                     7,
                                     0x7f,
                                     0x80,
                                     0xff,
                                     0x7fff,
                                     0x8000,
                                     0xffff,
                                     0x10000,
                                     0x7fffffff,
                                     0x80000000,
                                     0xfffffffe,
                                     0xffffffff,
                                     1ull << 20,
                                     1ull << 29,
                                     1ull << 32,
                                     1ull << 40,
                                     1ull << 62,
                                     1ull << 63,
                                     INT64_MAX,
                                     UINT64_MAX - 1,
                                     UINT64_MAX,
                                     0x7ff0000000000000, /* infinity */
                                     0xfff0000000000000,
                                     0x7ff8000000000000, /* not a number */
                                     0xbff0000000000000, /* -1.0 */
                                     0x7fefffffffffffff, /* the largest */
                                     0x0000000000000001, /* the smallest */
                                     0x3ff0000000000000 /* 1.0 */};
    return nasty[random_below(random, COUNT(nasty))];
}

/* Some hits go to the front, with headers and tables; most of those make a store unreadable. */
static size_t pick_place(const struct piece *piece, uint64_t *random)
{
    size_t reach = random_below(random, 6) ? piece->size : smaller(piece->size, 512);
    return random_below(random, reach);
}

static void flip_bit(struct piece *piece, uint64_t *random)
{
    piece->bytes[pick_place(piece, random)] ^= (unsigned char)(1u << random_below(random, 8));
}

static void overwrite(struct piece *piece, uint64_t *random)
{
    size_t width = (size_t)1 << random_below(random, 4), at = pick_place(piece, random);
    if (random_below(random, 4))
        at -= at % width;
    uint64_t number = random_below(random, 4) ? nasty_number(random) : random_next(random);
    if (at + width <= piece->size)
        put_number(piece->bytes + at, width, random_below(random, 4) == 0, number);
}

/* A field that may be an offset, a count or an id becomes what another might be. */
static void bend_field(struct piece *piece, uint64_t *random)
{
    size_t width = (size_t)2 << random_below(random, 3);
    bool is_big = random_below(random, 8) == 0;
    if (piece->size < width)
        return;
    for (unsigned tries = 0; tries < 64; tries++) {
        size_t at = pick_place(piece, random), other = pick_place(piece, random);
        at -= at % smaller(width, 4), other -= other % smaller(width, 4);
        if (at + width > piece->size || other + width > piece->size)
            continue;
        uint64_t number = get_number(piece->bytes + at, width, is_big), size = piece->size;
        if (number == 0 || number > 2 * size)
            continue;
        uint64_t there = get_number(piece->bytes + other, width, is_big);
        const uint64_t bent[] = {number + 1,          number - 1,  number + 8, number - 8, number * 2,
                                 number / 2,          0,           size,       size - 1,   size + 1,
                                 number ^ 0x100000,   number << 8, there,      there + 1,  0 - number,
                                 nasty_number(random)};
        put_number(piece->bytes + at, width, is_big, bent[random_below(random, COUNT(bent))]);
        return;
    }
}

/* ---- ranges ---- */

/* The length of a record, or anything. */
static size_t pick_length(const struct piece *piece, uint64_t *random)
{
    static const size_t strides[] = {4, 8, 10, 12, 16, 20, 24, 32, 40, 48, 56, 64};
    size_t length = random_below(random, 4) ? strides[random_below(random, COUNT(strides))]
                                            : 1 + random_below(random, smaller(piece->size, 4096));
    return smaller(length, piece->size);
}

static size_t pick_aligned(const struct piece *piece, size_t length, uint64_t *random)
{
    size_t at = random_below(random, piece->size - length + 1);
    return random_below(random, 4) ? at - at % smaller(length, 8) : at;
}

static void swap_ranges(struct piece *piece, uint64_t *random)
{
    size_t length = pick_length(piece, random), from = pick_aligned(piece, length, random);
    /* Neighbours as often as not. */
    size_t to =
        random_below(random, 2) ? pick_aligned(piece, length, random) : (from >= length ? from - length : 0);
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = piece->bytes[from + i];
        piece->bytes[from + i] = piece->bytes[to + i];
        piece->bytes[to + i] = byte;
    }
}

static void copy_range(struct piece *piece, uint64_t *random)
{
    size_t length = pick_length(piece, random), from = pick_aligned(piece, length, random);
    size_t to = pick_aligned(piece, length, random);
    memmove(piece->bytes + to, piece->bytes + from, length);
}

/* Duplicates a range in place; everything after it moves. */
static void repeat_range(struct piece *piece, uint64_t *random)
{
    size_t length = pick_length(piece, random), from = pick_aligned(piece, length, random),
           size = piece->size;
    piece_resize(piece, size + length);
    memmove(piece->bytes + from + length, piece->bytes + from, size - from);
}

static void cut_out(struct piece *piece, uint64_t *random)
{
    size_t length = pick_length(piece, random), from = pick_aligned(piece, length, random);
    memmove(piece->bytes + from, piece->bytes + from + length, piece->size - from - length);
    piece_resize(piece, piece->size - length);
}

static void clear_range(struct piece *piece, uint64_t *random)
{
    size_t length = pick_length(piece, random), from = pick_aligned(piece, length, random);
    memset(piece->bytes + from, random_below(random, 2) ? 0 : 0xff, length);
}

static void truncate_piece(struct piece *piece, uint64_t *random)
{
    size_t reach = random_below(random, 2) ? piece->size : smaller(piece->size, 64);
    piece_resize(piece, piece->size - 1 - random_below(random, reach));
}

static void lengthen(struct piece *piece, uint64_t *random)
{
    size_t size = piece->size, more = 1 + random_below(random, 64);
    piece_resize(piece, size + more);
    if (random_below(random, 2))
        memcpy(piece->bytes + size, piece->bytes, smaller(size, more));
}

/* ---- text ---- */

static void replace(struct piece *piece, size_t from, size_t length, const char *word)
{
    size_t size = piece->size, longer = strlen(word);
    if (longer > length)
        piece_resize(piece, size + longer - length);
    memmove(piece->bytes + from + longer, piece->bytes + from + length, size - from - length);
    memcpy(piece->bytes + from, word, longer);
    piece_resize(piece, size + longer - length);
}

static bool is_digit(unsigned char byte)
{
    return byte >= '0' && byte <= '9';
}

static void bend_number(struct piece *piece, uint64_t *random)
{
    static const char *const numbers[] = {"0",
                                          "1",
                                          "2",
                                          "-1",
                                          "",
                                          "255",
                                          "65536",
                                          "2147483647",
                                          "2147483648",
                                          "4294967295",
                                          "4294967296",
                                          "536870912",
                                          "9223372036854775807",
                                          "18446744073709551615",
                                          "99999999999999999999999",
                                          "ffffffffffffffff",
                                          "1e308",
                                          "nan",
                                          "0x7"};
    size_t at = random_below(random, piece->size), end;
    while (at < piece->size && !is_digit(piece->bytes[at]))
        at++;
    while (at > 0 && is_digit(piece->bytes[at - 1]))
        at--;
    for (end = at; end < piece->size && is_digit(piece->bytes[end]); end++)
        continue;
    if (end > at && random_below(random, 3) == 0)
        piece->bytes[end - 1] = (unsigned char)('0' + random_below(random, 10));
    else if (end > at)
        replace(piece, at, end - at, numbers[random_below(random, COUNT(numbers))]);
}

static void insert_word(struct piece *piece, uint64_t *random)
{
    static const char right_to_left[] = {'\xe2', '\x80', '\xae', '\0'};
    static const char *const words[] = {"\n",
                                        " ",
                                        "\"",
                                        "<",
                                        ">",
                                        "/>",
                                        "&amp;",
                                        "&#0;",
                                        "<!--",
                                        "]]>",
                                        "<![CDATA[",
                                        "=",
                                        "0",
                                        "-",
                                        ",",
                                        ";",
                                        "@",
                                        "/",
                                        "../",
                                        "\t",
                                        "\r",
                                        "\x1b[31m",
                                        "\xc2\x9b",
                                        "\xff",
                                        "\xc0",
                                        "\x01",
                                        "\x02",
                                        "\x03",
                                        right_to_left,
                                        "\xe2\x80\xa8",
                                        "SESS ",
                                        "TASK ",
                                        "FORK ",
                                        "DLOP ",
                                        "timestamp=",
                                        "tid=",
                                        "lines=",
                                        "arg1/s",
                                        "%s",
                                        "%n",
                                        "i=\"1\"",
                                        "n=\"x\"",
                                        "<PF i=\"1\">",
                                        "</PF>",
                                        "_ZN1a1bE",
                                        "[",
                                        "]",
                                        "(",
                                        ")"};
    const char *word = words[random_below(random, COUNT(words))];
    size_t at = random_below(random, piece->size), length = strlen(word);
    bool is_over = random_below(random, 2) && at + length <= piece->size;
    replace(piece, at, is_over ? length : 0, word);
}

static size_t line_at(const struct piece *piece, size_t at, size_t *length)
{
    size_t end = at;
    while (at > 0 && piece->bytes[at - 1] != '\n')
        at--;
    while (end < piece->size && piece->bytes[end] != '\n')
        end++;
    *length = smaller(end + 1, piece->size) - at;
    return at;
}

static void bend_lines(struct piece *piece, uint64_t *random)
{
    size_t length, from = line_at(piece, random_below(random, piece->size), &length), size = piece->size;
    if (random_below(random, 3) == 0) {
        memmove(piece->bytes + from, piece->bytes + from + length, size - from - length);
        piece_resize(piece, size - length);
        return;
    }
    /* A copy of it, here or elsewhere. */
    size_t other, to = random_below(random, 2) ? from : line_at(piece, random_below(random, size), &other);
    unsigned char line[4096];
    length = smaller(length, sizeof line);
    memcpy(line, piece->bytes + from, length);
    piece_resize(piece, size + length);
    memmove(piece->bytes + to + length, piece->bytes + to, size - to);
    memcpy(piece->bytes + to, line, length);
}

static bool is_text(const struct piece *piece)
{
    size_t odd = 0;
    for (size_t i = 0; i < piece->size; i++)
        odd += piece->bytes[i] == 0 || piece->bytes[i] >= 0x80;
    return odd * 16 < piece->size;
}

/* ---- stores ---- */

typedef void change(struct piece *piece, uint64_t *random);

static void bend_piece(struct piece *piece, uint64_t *random)
{
    static change *const of_binary[] = {flip_bit,   flip_bit,     overwrite,   overwrite,   overwrite,
                                        bend_field, bend_field,   bend_field,  bend_field,  swap_ranges,
                                        copy_range, repeat_range, clear_range, cut_out,     truncate_piece,
                                        lengthen,   flip_bit,     bend_field,  swap_ranges, overwrite};
    static change *const of_text[] = {bend_number, bend_number,  bend_number, insert_word,   insert_word,
                                      bend_lines,  bend_lines,   flip_bit,    swap_ranges,   copy_range,
                                      cut_out,     repeat_range, overwrite,   truncate_piece};
    if (piece->size == 0)
        piece_resize(piece, 1 + random_below(random, 16));
    else if (is_text(piece))
        of_text[random_below(random, COUNT(of_text))](piece, random);
    else
        of_binary[random_below(random, COUNT(of_binary))](piece, random);
}

/* Lists of symbols are many, and say little. */
static struct piece *pick_piece(const struct store *store, uint64_t *random)
{
    struct piece *piece = NULL;
    for (unsigned tries = 0; tries < 3; tries++) {
        piece = &store->pieces[random_below(random, store->count)];
        const char *end = strrchr(piece->name, '.');
        if (end == NULL || (strcmp(end, ".sym") != 0 && strcmp(end, ".dbg") != 0))
            break;
    }
    return piece;
}

static void exchange_piece(struct store *store, const struct store *other, uint64_t *random)
{
    size_t index = random_below(random, store->count);
    struct piece *piece = &store->pieces[index];
    for (size_t i = 0; i < other->count; i++)
        if (strcmp(other->pieces[i].name, piece->name) == 0 && random_below(random, 4)) {
            piece_resize(piece, other->pieces[i].size);
            memcpy(piece->bytes, other->pieces[i].bytes, piece->size);
            return;
        }
    if (store->count > 1)
        piece_remove(store, index);
}

/* A file without its first or last bytes is rejected at once; otherwise damage reaches further. */
static void mend_ends(struct piece *piece, const struct piece *sound)
{
    enum {
        FRONT = 16,
        BACK = 8
    };
    if (sound->size < FRONT + BACK || piece->size < FRONT + BACK ||
        memcmp(sound->bytes, "HPCTOOLKIT", 10) != 0)
        return;
    memcpy(piece->bytes, sound->bytes, FRONT);
    memcpy(piece->bytes + piece->size - BACK, sound->bytes + sound->size - BACK, BACK);
}

void mutate(struct store *store, const struct store *sound, const struct store *other, uint64_t *random)
{
    size_t scale = random_below(random, 10);
    size_t changes = scale < 5 ? 1 : scale < 9 ? 2 + random_below(random, 3) : 5 + random_below(random, 12);
    for (size_t i = 0; i < changes; i++)
        bend_piece(pick_piece(store, random), random);
    if (random_below(random, 4))
        for (size_t i = 0; i < store->count; i++)
            mend_ends(&store->pieces[i], &sound->pieces[i]);
    if (random_below(random, 50) == 0)
        exchange_piece(store, other, random);
}
