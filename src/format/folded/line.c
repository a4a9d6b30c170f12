/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/folded/line.h"

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static struct lode_range trimmed_end(struct lode_range text)
{
    while (text.size > 0 && is_blank(text.data[text.size - 1]))
        text.size--;
    return text;
}

/* The last word, and what is before it; a word has no blanks. */
static struct lode_range last_word(struct lode_range text, struct lode_range *before)
{
    uint64_t at = text.size;
    while (at > 0 && !is_blank(text.data[at - 1]))
        at--;
    *before = trimmed_end((struct lode_range){text.data, at});
    return (struct lode_range){text.data + at, text.size - at};
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* "12", "12.5" or "6."; more than 18 digits of a fraction are not used. */
static bool parse_count(struct lode_range word, lode_wide *count, bool *is_large)
{
    static const lode_wide most = (lode_wide)1 << 62;
    lode_wide whole = 0, fraction = 0, scale = 1;
    uint64_t at = 0, first;
    for (; at < word.size && is_digit(word.data[at]); at++)
        whole = whole >= most ? most : whole * 10 + (word.data[at] - '0');
    if (at == 0)
        return false;
    if (at < word.size && word.data[at] == '.') {
        for (first = ++at; at < word.size && is_digit(word.data[at]); at++) {
            if (at - first >= 18)
                continue;
            fraction = fraction * 10 + (word.data[at] - '0');
            scale *= 10;
        }
    }
    whole = whole > most ? most : whole;
    *is_large |= whole > (lode_wide)1 << 53;
    *count = (whole << FOLDED_SHIFT) + (fraction << FOLDED_SHIFT) / scale;
    return at == word.size;
}

static void parse_line(struct folded_line *line)
{
    struct lode_range text = trimmed_end(line->whole), start = text;
    while (start.size > 0 && is_blank(start.data[0])) {
        start.data++;
        start.size--;
    }
    if (start.size == 0 || start.data[0] == '#') {
        line->kind = start.size == 0 ? FOLDED_NOTHING : FOLDED_COMMENT;
        return;
    }
    line->kind = FOLDED_BAD;
    struct lode_range word = last_word(text, &line->stack);
    if (line->stack.size == 0 || text.size > FOLDED_LINE_MOST ||
        !parse_count(word, &line->count, &line->is_large))
        return;
    line->kind = FOLDED_STACK;
    word = last_word(line->stack, &line->rest);
    line->has_two = line->rest.size > 0 && parse_count(word, &line->before, &line->is_large);
}

bool lode_folded_next(struct lode_range *text, struct folded_line *line)
{
    *line = (struct folded_line){0};
    if (text->size == 0)
        return false;
    const uint8_t *end = memchr(text->data, '\n', (size_t)text->size);
    uint64_t size = end ? (uint64_t)(end - text->data) : text->size;
    line->whole = (struct lode_range){text->data, size};
    text->data += size + (end != NULL);
    text->size -= size + (end != NULL);
    if (size > 0 && line->whole.data[size - 1] == '\r')
        line->whole.size--;
    parse_line(line);
    return true;
}
