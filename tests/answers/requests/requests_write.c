/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a trace store with the writer of the library, from lines on standard input: requests_write
 * STORE. Fields end with a tab, times are microseconds.
 *
 *   M class method signature   a method: 0, 1, 2...
 *   R begin                    a request begins
 *   ( time method              a call begins, so long after its request
 *   A key value                an attribute of the innermost call
 *   X                          the innermost call fails
 *   C calls                    so many calls were counted in it, with itself
 *   ) time                     it ends
 */
#include "base/error.h"
#include "format/zorka/write/write.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_STAMP UINT64_C(1772457960000)  /* milliseconds: 2026-03-02 13:26:00 UTC */
#define START_CLOCK UINT64_C(86400000000000) /* nanoseconds */

enum {
    METHODS_MAX = 1024,
    FIELDS = 4,
    FLAG_ERROR = 8
};

struct store {
    struct zor_writer writer;
    struct zor_entry *methods[METHODS_MAX];
    size_t method_count;
    uint64_t requests, begin; /* nanoseconds */
    uint64_t depth;
    bool has_ids;
};

static struct zor_entry *text_of(struct store *store, const char *text)
{
    struct zor_entry *entry = lode_zor_string(&store->writer.strings, ZOR_MARK_NONE, zor_range(text));
    if (entry == NULL)
        abort();
    return entry;
}

static uint64_t number_of(const char *text)
{
    return strtoull(text, NULL, 10);
}

static void add_method(struct store *store, char **fields)
{
    if (store->method_count == METHODS_MAX)
        abort();
    store->methods[store->method_count++] = lode_zor_method(&store->writer.strings, zor_range(fields[1]),
                                                            zor_range(fields[2]), zor_range(fields[3]));
}

static void begin_request(struct store *store, struct zor_encoder *encoder, char **fields)
{
    uint64_t number = ++store->requests;
    struct zor_id id = {UINT64_C(0x5eed) << 48 | number, number * UINT64_C(0x9e3779b97f4a7c15) | 1};
    store->begin = number_of(fields[1]) * 1000;
    store->has_ids = false;
    lode_zor_begin_track(encoder, number);
    lode_zor_begin_trace(encoder, id, START_STAMP + store->begin / 1000000);
}

static uint64_t tick_of(const struct store *store, const char *time)
{
    return (START_CLOCK + store->begin + number_of(time) * 1000) >> ZOR_TICK_SHIFT;
}

static lode_status enter(struct store *store, struct zor_encoder *encoder, char **fields, lode_error *error)
{
    size_t method = number_of(fields[2]);
    if (method >= store->method_count)
        abort();
    LODE_TRY(store->depth ? lode_zor_more(encoder, error) : LODE_OK);
    LODE_TRY(lode_zor_enter(encoder, tick_of(store, fields[1]), store->methods[method], error));
    if (store->depth++ == 0) {
        lode_zor_number(encoder, ZOR_KEY_STAMP, START_STAMP + store->begin / 1000000);
        lode_zor_put_ids(encoder);
    }
    return LODE_OK;
}

static lode_status take(struct store *store, struct zor_encoder *encoder, char **fields, lode_error *error)
{
    switch (fields[0][0]) {
    case 'M':
        if (encoder->is_noting)
            add_method(store, fields);
        return LODE_OK;
    case 'R':
        begin_request(store, encoder, fields);
        return LODE_OK;
    case '(':
        return enter(store, encoder, fields, error);
    case 'A':
        LODE_TRY(lode_zor_more(encoder, error));
        lode_zor_attribute_text(encoder, text_of(store, fields[1]), text_of(store, fields[2]));
        return LODE_OK;
    case 'X':
        LODE_TRY(lode_zor_more(encoder, error));
        lode_zor_number(encoder, ZOR_KEY_FLAGS, FLAG_ERROR);
        return LODE_OK;
    case 'C':
        lode_zor_counted(encoder, number_of(fields[1]));
        return LODE_OK;
    case ')':
        store->depth--;
        LODE_TRY(lode_zor_more(encoder, error));
        return lode_zor_leave(encoder, tick_of(store, fields[1]), error);
    default:
        abort();
    }
}

/* Splits a copy of each line: the text is read twice. */
static lode_status play(struct store *store, const char *text, lode_error *error)
{
    char line[8192], none[1] = "";
    store->requests = store->depth = 0;
    for (const char *at = text, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        char *fields[FIELDS] = {line, none, none, none};
        size_t length = (size_t)(end - at), count = 1;
        if (length >= sizeof line)
            abort();
        memcpy(line, at, length);
        line[length] = '\0';
        for (char *tab = line; count < FIELDS && (tab = strchr(tab, '\t')) != NULL; count++) {
            *tab++ = '\0';
            fields[count] = tab;
        }
        LODE_TRY(take(store, &store->writer.encoders[0], fields, error));
    }
    return LODE_OK;
}

static char *read_input(void)
{
    size_t size = 0, capacity = 1 << 20, got;
    char *text = malloc(capacity);
    while (text && (got = fread(text + size, 1, capacity - size - 1, stdin)) > 0) {
        size += got;
        if (size + 1 < capacity)
            continue;
        char *more = realloc(text, capacity *= 2);
        if (more == NULL)
            free(text);
        text = more;
    }
    if (text)
        text[size] = '\0';
    return text;
}

static lode_status make(struct store *store, const char *path, const char *text, lode_error *error)
{
    LODE_TRY(lode_zor_writer_create(&store->writer, path, ZOR_LAYOUT_PAGE, false, 1, error));
    LODE_TRY(play(store, text, error));
    LODE_TRY(lode_zor_writer_number(&store->writer, error));
    LODE_TRY(play(store, text, error));
    return lode_zor_writer_finish(&store->writer, error);
}

int main(int argc, char **argv)
{
    static struct store store = {.writer = ZOR_WRITER_INIT};
    lode_error error = {0};
    char *text = argc == 2 ? read_input() : NULL;
    if (text == NULL)
        return 2;
    lode_status status = make(&store, argv[1], text, &error);
    lode_zor_writer_close(&store.writer);
    free(text);
    if (status != LODE_OK)
        fprintf(stderr, "%s: %s\n", argv[1], error.text);
    return status != LODE_OK;
}
