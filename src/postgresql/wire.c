/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire.h"

#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As pg_type.dat of PostgreSQL has them; they never change. */
enum {
    OID_BOOL = 16,
    OID_BYTES = 17,
    OID_INT8 = 20,
    OID_INT4 = 23,
    OID_TEXT = 25,
    OID_REAL = 701,
    OID_INT4S = 1007,
    OID_TEXTS = 1009,
    OID_INT8S = 1016,
    OID_TIME = 1184
};

#define EPOCH_2000 INT64_C(946684800000000) /* microseconds: where PostgreSQL begins to count */

/* ---- bytes ---- */

void buffer_put(buffer *b, const void *bytes, size_t size)
{
    if (b->is_out_of_memory)
        return;
    if (size >= b->capacity - b->size) {
        size_t capacity = 2 * (b->size + size) + 64;
        char *grown = capacity > size ? realloc(b->bytes, capacity) : NULL;
        if (!grown) {
            buffer_free(b);
            b->is_out_of_memory = 1;
            return;
        }
        b->bytes = grown;
        b->capacity = capacity;
    }
    if (size)
        memcpy(b->bytes + b->size, bytes, size);
    b->size += size;
    b->bytes[b->size] = '\0';
}

void buffer_text(buffer *b, const char *text)
{
    buffer_put(b, text, strlen(text));
}

void buffer_format(buffer *b, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    buffer_put(b, text, length < 0 ? 0 : (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

void buffer_free(buffer *b)
{
    free(b->bytes);
    *b = (buffer){NULL, 0, 0, 0};
}

static void put32(buffer *b, uint32_t value)
{
    value = htobe32(value);
    buffer_put(b, &value, sizeof value);
}

static void put64(buffer *b, uint64_t value)
{
    value = htobe64(value);
    buffer_put(b, &value, sizeof value);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- parameters ---- */

static struct parameter *begin(parameters *p, Oid type)
{
    /* The caller bounds labels, so that there is always room; a statement that lacks one fails. */
    struct parameter *item = &p->items[p->count < PARAMETERS_MAX ? p->count++ : PARAMETERS_MAX - 1];
    *item = (struct parameter){type, p->data.size, 0, 0};
    return item;
}

static int end(parameters *p, struct parameter *item)
{
    item->size = p->data.size - item->begin;
    return p->count;
}

int put_null(parameters *p, Oid type)
{
    begin(p, type)->is_null = 1;
    return p->count;
}

int put_integer(parameters *p, int64_t value)
{
    struct parameter *item = begin(p, OID_INT8);
    put64(&p->data, (uint64_t)value);
    return end(p, item);
}

int put_time(parameters *p, uint64_t nanoseconds)
{
    struct parameter *item = begin(p, OID_TIME);
    put64(&p->data, (uint64_t)((int64_t)(nanoseconds / 1000) - EPOCH_2000));
    return end(p, item);
}

int put_bytes(parameters *p, const void *bytes, size_t size)
{
    struct parameter *item = begin(p, OID_BYTES);
    buffer_put(&p->data, bytes, size);
    return end(p, item);
}

int put_text(parameters *p, const char *text)
{
    if (!text)
        return put_null(p, OID_TEXT);
    struct parameter *item = begin(p, OID_TEXT);
    buffer_text(&p->data, text);
    return end(p, item);
}

/* One dimension, from 1 on, without null values. */
static struct parameter *begin_array(parameters *p, Oid type, Oid of, size_t count)
{
    struct parameter *item = begin(p, type);
    put32(&p->data, count ? 1 : 0);
    put32(&p->data, 0);
    put32(&p->data, of);
    if (count) {
        put32(&p->data, (uint32_t)count);
        put32(&p->data, 1);
    }
    return item;
}

int put_texts(parameters *p, const char *const *texts, size_t count)
{
    struct parameter *item = begin_array(p, OID_TEXTS, OID_TEXT, count);
    for (size_t i = 0; i < count; i++) {
        put32(&p->data, (uint32_t)strlen(texts[i]));
        buffer_text(&p->data, texts[i]);
    }
    return end(p, item);
}

int put_integers(parameters *p, const int64_t *values, size_t count)
{
    struct parameter *item = begin_array(p, OID_INT8S, OID_INT8, count);
    for (size_t i = 0; i < count; i++) {
        put32(&p->data, sizeof *values);
        put64(&p->data, (uint64_t)values[i]);
    }
    return end(p, item);
}

int put_reals(parameters *p, const double *values, size_t count)
{
    struct parameter *item = begin_array(p, OID_REALS, OID_REAL, count);
    for (size_t i = 0; i < count; i++) {
        put32(&p->data, sizeof *values);
        put64(&p->data, bits_of(values[i]));
    }
    return end(p, item);
}

void parameters_free(parameters *p)
{
    buffer_free(&p->data);
    p->count = 0;
}

int parameters_send(const parameters *p, PGconn *connection, const char *sql)
{
    Oid types[PARAMETERS_MAX];
    const char *values[PARAMETERS_MAX];
    int sizes[PARAMETERS_MAX], formats[PARAMETERS_MAX];
    if (p->data.is_out_of_memory || p->data.size > INT32_MAX)
        return -1;
    for (int i = 0; i < p->count; i++) {
        const struct parameter *item = &p->items[i];
        types[i] = item->type;
        values[i] = item->is_null ? NULL : p->data.bytes ? p->data.bytes + item->begin : "";
        sizes[i] = (int)item->size;
        formats[i] = 1;
    }
    return PQsendQueryParams(connection, sql, p->count, types, values, sizes, formats, 1) == 1 ? 0 : -1;
}

/* ---- results ---- */

static uint32_t get32(const char *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return be32toh(value);
}

static uint64_t get64(const char *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return be64toh(value);
}

static double get_real(const char *bytes)
{
    uint64_t bits = get64(bytes);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#define ARRAY_HEAD 20 /* dimensions, flags, type, count, lower bound */

/* `size` of elements; 0: any. */
static int is_array(const char *bytes, size_t left, Oid type, size_t size)
{
    if (left < 12 || get32(bytes + 8) != type)
        return 0;
    if (get32(bytes) == 0)
        return left == 12;
    if (get32(bytes) != 1 || left < ARRAY_HEAD)
        return 0;
    uint32_t count = get32(bytes + 12);
    bytes += ARRAY_HEAD;
    left -= ARRAY_HEAD;
    for (uint32_t i = 0; i < count; i++) {
        /* The length of a null value, -1, is longer than anything that is left. */
        if (left < 4 || get32(bytes) > left - 4 || (size && get32(bytes) != size))
            return 0;
        left -= 4 + get32(bytes);
        bytes += 4 + get32(bytes);
    }
    return left == 0;
}

static const struct form {
    char letter;
    Oid type, of; /* of elements; 0: not an array */
    size_t size;  /* of a value, or of an element; 0: any */
} forms[] = {
    {'i', OID_INT8, 0, 8},         {'d', OID_REAL, 0, 8},         {'t', OID_TEXT, 0, 0},
    {'b', OID_BOOL, 0, 1},         {'I', OID_INT4S, OID_INT4, 4}, {'D', OID_REALS, OID_REAL, 8},
    {'T', OID_TEXTS, OID_TEXT, 0},
};

static const struct form *form_of(char letter)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].letter == letter)
            return &forms[i];
    return NULL;
}

static int column_fits(const PGresult *result, int column, const struct form *form)
{
    if (PQftype(result, column) != form->type || PQfformat(result, column) != 1)
        return 0;
    for (int row = 0; row < PQntuples(result); row++) {
        const char *bytes = PQgetvalue(result, row, column);
        size_t size = (size_t)PQgetlength(result, row, column);
        if (PQgetisnull(result, row, column))
            continue;
        if (form->of ? !is_array(bytes, size, form->of, form->size) : form->size && size != form->size)
            return 0;
    }
    return 1;
}

int result_fits(const PGresult *result, const char *types)
{
    if (PQnfields(result) != (int)strlen(types))
        return 0;
    for (int i = 0; types[i]; i++) {
        const struct form *form = form_of(types[i]);
        if (!form || !column_fits(result, i, form))
            return 0;
    }
    return 1;
}

int64_t cell_integer(const PGresult *result, int row, int column)
{
    return PQgetisnull(result, row, column) ? 0 : (int64_t)get64(PQgetvalue(result, row, column));
}

uint64_t cell_unsigned(const PGresult *result, int row, int column)
{
    int64_t value = cell_integer(result, row, column);
    return value < 0 ? 0 : (uint64_t)value;
}

double cell_real(const PGresult *result, int row, int column)
{
    return PQgetisnull(result, row, column) ? 0 : get_real(PQgetvalue(result, row, column));
}

int cell_bool(const PGresult *result, int row, int column)
{
    return !PQgetisnull(result, row, column) && PQgetvalue(result, row, column)[0] != 0;
}

const char *cell_text(const PGresult *result, int row, int column)
{
    return PQgetisnull(result, row, column) ? "" : PQgetvalue(result, row, column);
}

array cell_array(const PGresult *result, int row, int column)
{
    const char *bytes = PQgetvalue(result, row, column);
    if (PQgetisnull(result, row, column) || get32(bytes) == 0)
        return (array){NULL, 0};
    return (array){bytes + ARRAY_HEAD, get32(bytes + 12)};
}

const char *array_text(array *a, size_t *size)
{
    const char *text = a->at + 4;
    *size = get32(a->at);
    a->at = text + *size;
    a->count--;
    return text;
}

int32_t array_int(array *a)
{
    size_t size;
    return (int32_t)get32(array_text(a, &size));
}

double array_real(array *a)
{
    size_t size;
    return get_real(array_text(a, &size));
}
