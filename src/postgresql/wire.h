/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters and results of statements, as PostgreSQL has them in binary form. */
#ifndef POSTGRESQL_WIRE_H
#define POSTGRESQL_WIRE_H

#include <libpq-fe.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that grow. Without memory it has none, and stays so. */
typedef struct buffer {
    char *bytes;
    size_t size, capacity;
    int is_out_of_memory;
} buffer;

void buffer_put(buffer *b, const void *bytes, size_t size);
void buffer_text(buffer *b, const char *text);
/* A short text. */
void buffer_format(buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buffer_free(buffer *b);

/* ---- parameters ---- */

#define PARAMETERS_MAX 300

/* Of one statement, in the order of their numbers. Zero is empty. */
typedef struct parameters {
    buffer data;
    int count;
    struct parameter {
        Oid type;
        size_t begin, size;
        int is_null;
    } items[PARAMETERS_MAX];
} parameters;

/* All return the number of the parameter. */
int put_null(parameters *p, Oid type);
int put_integer(parameters *p, int64_t value);
/* Nanoseconds since the epoch, as a timestamp of microseconds before or at it. */
int put_time(parameters *p, uint64_t nanoseconds);
int put_text(parameters *p, const char *text); /* NULL: the null value */
int put_bytes(parameters *p, const void *bytes, size_t size);
int put_texts(parameters *p, const char *const *texts, size_t count);
int put_integers(parameters *p, const int64_t *values, size_t count);
int put_reals(parameters *p, const double *values, size_t count);
void parameters_free(parameters *p);

#define OID_REALS 1022

/* Sends a statement. 0, or -1 and PQerrorMessage, or no memory. */
int parameters_send(const parameters *p, PGconn *connection, const char *sql);

/* ---- results ---- */

/*
 * Whether a result has columns of these types and every value the form of its type: i int8,
 * d float8, t text, b bool, I int4[], D float8[], T text[]. A server is not trusted; whoever asks
 * for a value below relies on this.
 */
int result_fits(const PGresult *result, const char *types);

int64_t cell_integer(const PGresult *result, int row, int column);
double cell_real(const PGresult *result, int row, int column);
int cell_bool(const PGresult *result, int row, int column);
/* "" of the null value. */
const char *cell_text(const PGresult *result, int row, int column);
/* A time or a size; 0 if it is negative. */
uint64_t cell_unsigned(const PGresult *result, int row, int column);

/* Elements of an array, one after the other; none of the null value. */
typedef struct array {
    const char *at;
    uint32_t count; /* that are left */
} array;

array cell_array(const PGresult *result, int row, int column);
int32_t array_int(array *a);
double array_real(array *a);
/* Not ended by a NUL. */
const char *array_text(array *a, size_t *size);

#endif
