/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text/json.h"

#include "base/io/bytes.h"

static bool fail(struct lode_json *json)
{
    json->has_failed = true;
    json->at = json->end;
    return false;
}

static void skip_blanks(struct lode_json *json)
{
    while (json->at < json->end &&
           (*json->at == ' ' || *json->at == '\n' || *json->at == '\r' || *json->at == '\t'))
        json->at++;
}

char lode_json_peek(struct lode_json *json)
{
    skip_blanks(json);
    return json->at < json->end ? (char)*json->at : '\0';
}

bool lode_json_enter(struct lode_json *json, char open)
{
    if (lode_json_peek(json) != open)
        return false;
    if (json->depth == LODE_JSON_DEPTH)
        return fail(json);
    json->at++;
    json->depth++;
    json->is_first = true;
    return true;
}

static bool leave(struct lode_json *json)
{
    json->at++;
    json->depth--;
    json->is_first = false;
    return false;
}

/* Moves to the next item of an object or array; false after the last one. */
static bool next_item(struct lode_json *json, char close)
{
    char next = lode_json_peek(json);
    bool is_first = json->is_first;
    if (json->has_failed)
        return false;
    json->is_first = false;
    if (next == close)
        return leave(json);
    if (is_first)
        return next != '\0' ? true : fail(json);
    if (next != ',')
        return fail(json);
    json->at++;
    next = lode_json_peek(json);
    return next != '\0' && next != close ? true : fail(json);
}

enum {
    WORD = sizeof(uint64_t),
    WORDS_LOOKED_AT = 4
};

/* The first quote; NULL if there is none. Most strings are shorter than a call of memchr takes. */
static const uint8_t *find_quote(const uint8_t *at, const uint8_t *end)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), quotes = ones * '"';
    for (unsigned i = 0; i < WORDS_LOOKED_AT && end - at >= WORD; i++, at += WORD) {
        uint64_t others = get_u64le(at) ^ quotes;
        uint64_t found = (others - ones) & ~others & ones << 7;
        if (found)
            return at + __builtin_ctzll(found) / 8;
    }
    return memchr(at, '"', (size_t)(end - at));
}

/* From the opening quote to behind the closing one. Quotes are found first: most have no escape. */
static bool take_string(struct lode_json *json, struct lode_range *content)
{
    const uint8_t *begin = ++json->at;
    while (json->at < json->end) {
        const uint8_t *quote = find_quote(json->at, json->end);
        size_t slashes = 0;
        if (quote == NULL)
            break;
        while (quote - slashes > json->at && quote[-1 - (ptrdiff_t)slashes] == '\\')
            slashes++;
        json->at = quote + 1;
        if (slashes % 2 == 0) {
            *content = (struct lode_range){begin, (uint64_t)(quote - begin)};
            return true;
        }
    }
    return fail(json);
}

bool lode_json_string(struct lode_json *json, struct lode_range *content)
{
    return lode_json_peek(json) == '"' && take_string(json, content);
}

bool lode_json_key(struct lode_json *json, struct lode_range *key)
{
    if (!next_item(json, '}'))
        return false;
    if (!lode_json_string(json, key) || lode_json_peek(json) != ':')
        return fail(json);
    json->at++;
    return true;
}

bool lode_json_item(struct lode_json *json)
{
    return next_item(json, ']');
}

static bool is_plain(uint8_t byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           byte == '-' || byte == '+' || byte == '.';
}

bool lode_json_scalar(struct lode_json *json, struct lode_range *content, bool *is_string)
{
    *is_string = lode_json_peek(json) == '"';
    if (*is_string)
        return take_string(json, content);
    const uint8_t *begin = json->at;
    while (json->at < json->end && is_plain(*json->at))
        json->at++;
    *content = (struct lode_range){begin, (uint64_t)(json->at - begin)};
    return json->at > begin;
}

/* The nesting of what is skipped, a bit for each level: 1 for objects. */
struct nesting {
    uint64_t objects;
    unsigned depth;
};

static bool open_level(struct nesting *nesting, const struct lode_json *json, bool is_object)
{
    if (json->depth + nesting->depth >= LODE_JSON_DEPTH)
        return false;
    nesting->objects = nesting->objects << 1 | is_object;
    nesting->depth++;
    return true;
}

static bool close_level(struct nesting *nesting, bool is_object)
{
    bool is_right = nesting->depth > 0 && (nesting->objects & 1) == is_object;
    nesting->objects >>= 1;
    nesting->depth -= nesting->depth > 0;
    return is_right;
}

static bool skip_nested(struct lode_json *json)
{
    struct nesting nesting = {0};
    struct lode_range ignored;
    do {
        bool is_right = true;
        if (json->at == json->end)
            return fail(json);
        uint8_t byte = *json->at;
        if (byte == '"') {
            if (!take_string(json, &ignored))
                return false;
            continue;
        }
        json->at++;
        if (byte == '{' || byte == '[')
            is_right = open_level(&nesting, json, byte == '{');
        else if (byte == '}' || byte == ']')
            is_right = close_level(&nesting, byte == '}');
        if (!is_right)
            return fail(json);
    } while (nesting.depth > 0);
    return true;
}

bool lode_json_skip(struct lode_json *json)
{
    char first = lode_json_peek(json);
    struct lode_range ignored;
    bool is_string;
    if (first == '{' || first == '[')
        return skip_nested(json);
    return lode_json_scalar(json, &ignored, &is_string) || fail(json);
}

/* ---- strings ---- */

static bool read_hex(const uint8_t *at, uint32_t *unit)
{
    *unit = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint8_t byte = at[i];
        uint32_t digit = byte >= '0' && byte <= '9'   ? byte - (uint32_t)'0'
                         : byte >= 'a' && byte <= 'f' ? byte - (uint32_t)'a' + 10
                         : byte >= 'A' && byte <= 'F' ? byte - (uint32_t)'A' + 10
                                                      : UINT32_MAX;
        if (digit == UINT32_MAX)
            return false;
        *unit = *unit << 4 | digit;
    }
    return true;
}

static size_t put_character(uint8_t *out, uint32_t character)
{
    if (character < 0x80) {
        out[0] = (uint8_t)character;
        return 1;
    }
    if (character < 0x800) {
        out[0] = (uint8_t)(0xc0 | character >> 6);
        out[1] = (uint8_t)(0x80 | (character & 0x3f));
        return 2;
    }
    if (character < 0x10000) {
        out[0] = (uint8_t)(0xe0 | character >> 12);
        out[1] = (uint8_t)(0x80 | (character >> 6 & 0x3f));
        out[2] = (uint8_t)(0x80 | (character & 0x3f));
        return 3;
    }
    out[0] = (uint8_t)(0xf0 | character >> 18);
    out[1] = (uint8_t)(0x80 | (character >> 12 & 0x3f));
    out[2] = (uint8_t)(0x80 | (character >> 6 & 0x3f));
    out[3] = (uint8_t)(0x80 | (character & 0x3f));
    return 4;
}

/* The character of \uXXXX, whose digits begin at `at`; returns how many bytes after \u it has. */
static size_t read_unit(const uint8_t *at, size_t left, uint32_t *character)
{
    uint32_t low;
    *character = 0xfffd;
    if (left < 4 || !read_hex(at, character)) {
        *character = 0xfffd;
        return left < 4 ? left : 4;
    }
    if (*character < 0xd800 || *character > 0xdfff)
        return 4;
    bool is_pair = *character < 0xdc00 && left >= 10 && at[4] == '\\' && at[5] == 'u' &&
                   read_hex(at + 6, &low) && low >= 0xdc00 && low <= 0xdfff;
    *character = is_pair ? 0x10000 + ((*character - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
    return is_pair ? 10 : 4;
}

size_t lode_json_unescape(struct lode_range content, uint8_t *out)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const uint8_t *at = content.data, *end = at + content.size;
    uint8_t *begin = out;
    while (at < end) {
        const uint8_t *slash = memchr(at, '\\', (size_t)(end - at));
        size_t plain = (size_t)((slash ? slash : end) - at);
        uint32_t character;
        memcpy(out, at, plain);
        out += plain;
        at += plain;
        if (slash == NULL || end - at < 2)
            break;
        const char *letter = at[1] ? strchr(letters, at[1]) : NULL;
        if (letter) {
            *out++ = (uint8_t)meanings[letter - letters];
            at += 2;
            continue;
        }
        bool is_unit = at[1] == 'u';
        at += 2;
        if (is_unit) {
            at += read_unit(at, (size_t)(end - at), &character);
            /* A torn escape may be shorter than the bytes of U+FFFD. */
            out += put_character(out, character == 0xfffd ? '?' : character);
        } else {
            *out++ = '?';
        }
    }
    return (size_t)(out - begin);
}

/* ---- numbers ---- */

enum {
    DIGITS_THAT_FIT = 19 /* into 64 bits, whatever they are */
};

uint64_t lode_json_unsigned(struct lode_range digits)
{
    uint64_t value = 0;
    for (uint64_t i = 0; i < digits.size && digits.data[i] >= '0' && digits.data[i] <= '9'; i++) {
        uint64_t digit = digits.data[i] - (uint64_t)'0';
        if (i >= DIGITS_THAT_FIT && value > (UINT64_MAX - digit) / 10)
            return UINT64_MAX;
        value = value * 10 + digit;
    }
    return value;
}

int64_t lode_json_signed(struct lode_range digits)
{
    bool is_negative = digits.size > 0 && digits.data[0] == '-';
    if (is_negative)
        digits = (struct lode_range){digits.data + 1, digits.size - 1};
    uint64_t value = lode_json_unsigned(digits), most = (uint64_t)INT64_MAX + is_negative;
    value = value < most ? value : most;
    return is_negative ? (int64_t)(0 - value) : (int64_t)value;
}
