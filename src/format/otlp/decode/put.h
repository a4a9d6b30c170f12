/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes protobuf: decoders of JSON translate spans to it. */
#ifndef LODE_OTLP_PUT_H
#define LODE_OTLP_PUT_H

#include "base/io/range.h"
#include "base/memory/blob.h"
#include "base/text/json.h"

enum {
    OTLP_ID_MOST = 18 /* bytes: base64 of 16 may have two more */
};

/* After the first failure nothing is written. */
struct otlp_put {
    struct lode_blob *blob;
    bool has_failed; /* out of memory */
};

/* Of nested messages: where the content begins. */
typedef size_t otlp_nested;

void lode_otlp_put_number(struct otlp_put *put, unsigned field, uint64_t number);
void lode_otlp_put_fixed(struct otlp_put *put, unsigned field, uint64_t number);
void lode_otlp_put_double(struct otlp_put *put, unsigned field, double number);
void lode_otlp_put_bytes(struct otlp_put *put, unsigned field, struct lode_range bytes);
/* A nested message: what is written between the two calls. */
otlp_nested lode_otlp_put_begin(struct otlp_put *put, unsigned field);
void lode_otlp_put_end(struct otlp_put *put, otlp_nested nested);
/* A string of JSON, with its escapes replaced. */
void lode_otlp_put_text(struct otlp_put *put, unsigned field, struct lode_range content);
/* A number as an id: hexadecimal, with leading zeros if they are missing, or base64. */
void lode_otlp_put_id(struct otlp_put *put, unsigned field, struct lode_range content, size_t size);
/* The same, as bytes: at most 16 of them. False if it is no id of this size. */
bool lode_otlp_read_id(struct lode_range content, size_t size, uint8_t *id);
/* What base64 stands for. */
void lode_otlp_put_base64(struct otlp_put *put, unsigned field, struct lode_range content);
/* A floating-point number of JSON, or one of its names. */
double lode_otlp_real(struct lode_range content);

#endif
