/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements without their values. One step per byte of the text. */
#include "analysis/diagnose/requests/statement.h"

#include <string.h>
#include <strings.h>

enum {
    HEX_MIN = 8 /* digits of a hexadecimal id */
};

bool lode_diagnose_is_statement_key(const char *key)
{
    static const char *const keys[] = {"db.statement", "db.query.text", "db.sql",   "sql",
                                       "statement",    "http.url",      "url.full", "url"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcasecmp(keys[i], key) == 0)
            return true;
    return false;
}

struct text {
    const char *at, *end;
    char *out;
    size_t size, capacity;
    bool has_parameters;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void put(struct text *text, char c)
{
    if (c == ' ' && (text->size == 0 || text->out[text->size - 1] == ' '))
        return;
    if (text->size + 1 < text->capacity)
        text->out[text->size++] = c ? c : '?';
}

static void drop_spaces(struct text *text)
{
    while (text->size > 0 && text->out[text->size - 1] == ' ')
        text->size--;
}

/* A value; after another one and a comma, it is the next one of the same list. */
static void put_value(struct text *text)
{
    size_t size = text->size;
    while (size > 0 && text->out[size - 1] == ' ')
        size--;
    if (size > 0 && text->out[size - 1] == ',') {
        size--;
        while (size > 0 && text->out[size - 1] == ' ')
            size--;
        if (size > 0 && text->out[size - 1] == '?') {
            text->size = size;
            return;
        }
    }
    put(text, '?');
}

/* A string in quotes; a doubled quote and one after a backslash are a part of it. */
static void skip_string(struct text *text)
{
    text->at++;
    while (text->at < text->end) {
        char c = *text->at++;
        if (c == '\\' && text->at < text->end) {
            text->at++;
        } else if (c == '\'') {
            if (text->at == text->end || *text->at != '\'')
                return;
            text->at++;
        }
    }
}

static bool skip_comment(struct text *text)
{
    size_t left = (size_t)(text->end - text->at);
    if (left >= 2 && text->at[0] == '/' && text->at[1] == '*') {
        const char *at = text->at + 2;
        while (at < text->end && !(at[0] == '/' && at[-1] == '*' && at - 1 >= text->at + 2))
            at++;
        text->at = at < text->end ? at + 1 : text->end;
        return true;
    }
    if (left >= 3 && text->at[0] == '-' && text->at[1] == '-' && is_space(text->at[2])) {
        const char *end = memchr(text->at, '\n', left);
        text->at = end ? end : text->end;
        return true;
    }
    return false;
}

/* 8-4-4-4-12 hexadecimal digits. */
static bool is_uuid(const char *at, const char *end)
{
    static const unsigned char hyphens[] = {8, 13, 18, 23};
    size_t next = 0;
    if (end - at < 36 || (end - at > 36 && is_word(at[36])))
        return false;
    for (size_t i = 0; i < 36; i++) {
        bool is_hyphen = next < sizeof hyphens && hyphens[next] == i;
        if (is_hyphen ? at[i] != '-' : !is_hex(at[i]))
            return false;
        next += is_hyphen;
    }
    return true;
}

/* A name, or a number or id, which is a value. */
static void take_word(struct text *text)
{
    const char *begin = text->at;
    bool is_id = true, has_digit = false;
    if (is_uuid(begin, text->end)) {
        text->at += 36;
        put_value(text);
        return;
    }
    while (text->at < text->end && is_word(*text->at)) {
        is_id = is_id && is_hex(*text->at);
        has_digit = has_digit || is_digit(*text->at);
        text->at++;
    }
    if (is_digit(*begin)) {
        while (text->at < text->end && (is_word(*text->at) || *text->at == '.'))
            text->at++;
        put_value(text);
    } else if (is_id && has_digit && text->at - begin >= HEX_MIN) {
        put_value(text);
    } else {
        for (const char *at = begin; at < text->at; at++)
            put(text, *at);
    }
}

/* ?, $1, :name, %s. */
static bool take_parameter(struct text *text)
{
    char c = text->at[0], next = text->end - text->at > 1 ? text->at[1] : '\0';
    char before = text->size > 0 ? text->out[text->size - 1] : ' ';
    bool is_named = (c == '$' && is_digit(next)) || (c == '%' && next == 's') ||
                    (c == ':' && is_word(next) && !is_digit(next) && !is_word(before) && before != ':');
    if (c == '?' && (next == '\0' || !is_word(next))) {
        text->at++;
    } else if (is_named) {
        text->at++;
        while (text->at < text->end && is_word(*text->at))
            text->at++;
    } else {
        return false;
    }
    text->has_parameters = true;
    put_value(text);
    return true;
}

static void take(struct text *text)
{
    char c = *text->at;
    if (skip_comment(text)) {
        put(text, ' ');
    } else if (c == '\'') {
        skip_string(text);
        put_value(text);
    } else if (is_space(c)) {
        text->at++;
        put(text, ' ');
    } else if (is_word(c)) {
        take_word(text);
    } else if (!take_parameter(text)) {
        text->at++;
        put(text, c);
    }
}

void lode_diagnose_normalise_statement(const char *text, size_t length, char *out, size_t capacity,
                                       bool *has_parameters)
{
    struct text state = {text, text + length, out, 0, capacity, false};
    while (state.at < state.end && state.size + 1 < state.capacity)
        take(&state);
    drop_spaces(&state);
    out[state.size] = '\0';
    *has_parameters = state.has_parameters;
}
