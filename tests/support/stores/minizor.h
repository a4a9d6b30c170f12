/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small valid Zorka trace stores in memory for tests: every rule of the checker holds without
 * findings, so that a test can break one thing and see exactly that reported.
 */
#ifndef LODE_TESTS_MINIZOR_H
#define LODE_TESTS_MINIZOR_H

#include <lode/database.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MINIZOR_FILES = 8,
    /* Ids of the text index. */
    MINIZOR_CLASS = 1,
    MINIZOR_METHOD_NAME,
    MINIZOR_SIGNATURE,
    MINIZOR_METHOD,
    MINIZOR_KEY,
    MINIZOR_VALUE,
    MINIZOR_STACK_ITEM,
    MINIZOR_STACK,
    MINIZOR_EXCEPTION,
    MINIZOR_TEXTS
};

struct minizor_bytes {
    unsigned char *bytes;
    size_t size, capacity;
};

struct minizor {
    struct {
        const char *name;
        struct minizor_bytes content;
    } files[MINIZOR_FILES];
    size_t count;
};

enum minizor_codec {
    MINIZOR_PLAIN,
    MINIZOR_DEFLATE,
    MINIZOR_LZ4
};

/* Bytes that grow. */
void minizor_add(struct minizor_bytes *to, const void *bytes, size_t size);
/* Bytes as pairs of hexadecimal digits; anything else is passed over. */
void minizor_hex(struct minizor_bytes *to, const char *digits);
void minizor_u32(struct minizor_bytes *to, uint32_t number);
/* A chunk around a payload; returns where it begins. */
size_t minizor_chunk(struct minizor_bytes *to, const struct minizor_bytes *payload, enum minizor_codec codec);

/* Two traces in three chunks, the second continued; `is_page`: tags and flags as documented. */
void minizor_make(struct minizor *store, unsigned flags, bool is_page);
void minizor_free(struct minizor *store);
/* Sets the checksums of the header and blocks of a little-endian compressed text index. */
void minizor_seal(unsigned char *bytes, size_t size);
/* Moves the text index into a compressed file. */
#define MINIZOR_INDEX "text-00000001-00000009.fmi"
void minizor_compress(struct minizor *store, bool is_big);
/* A file of the store, which is added if it is new. */
struct minizor_bytes *minizor_file(struct minizor *store, const char *name);
size_t minizor_list(const struct minizor *store, lode_memory_file *files);
/* Adds a text to the index, under an id below 64. */
void minizor_text(struct minizor *store, int id, const char *text);
/* Adds an uncompressed chunk with this payload to an uncompressed store. Returns its offset. */
size_t minizor_more(struct minizor *store, const char *digits);
/*
 * Adds trace metadata of 2018 or 2019: id, flags (in 2018 1 error, 2 one of several chunks, 4 the
 * first of them; in 2019 0x08, 0x10 and 0x20), offset of the chunk, and offset in the chunk.
 */
void minizor_qmeta(struct minizor *store, unsigned id, unsigned flags, size_t chunk, uint32_t offset);
void minizor_meta(struct minizor *store, unsigned id, unsigned flags, size_t chunk, uint32_t offset);
/* Adds metadata of both kinds for the two traces, and properties. */
void minizor_describe(struct minizor *store);
/* Replaces all chunks by one with this payload, not compressed. */
void minizor_payload(struct minizor *store, const char *digits);

#endif
