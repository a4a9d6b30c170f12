/* SPDX-License-Identifier: BSD-3-Clause */
#include "zor_cases.h"

#include <stdlib.h>
#include <string.h>

#define BREAK(name) static void break_##name(struct minizor *s)

/* The begin and end of a valid call; tests insert something between them. */
#define BEGIN "c89f cea10c10 cea10e04 cea1051b0000016311155db8"
#define END   "cea10d14 cea10902 ff"

static struct minizor_bytes *data_of(struct minizor *s)
{
    return minizor_file(s, "traces.dat");
}

static struct minizor_bytes *texts_of(struct minizor *s)
{
    return minizor_file(s, "text-00000001.wal");
}

/* Where the second chunk begins. */
static size_t second_chunk(struct minizor *s)
{
    const struct minizor_bytes *data = data_of(s);
    for (size_t i = 20; i + 4 <= data->size; i++)
        if (memcmp(data->bytes + i, "ZCH0", 4) == 0)
            return i;
    abort();
}

/* ---- the data file ---- */

BREAK(data_header)
{
    data_of(s)->bytes[0] = 'X';
}

BREAK(data_flags)
{
    data_of(s)->bytes[7] = 0x13;
}

BREAK(data_gap)
{
    minizor_add(data_of(s), "stray bytes", 11);
}

BREAK(chunk_cut)
{
    data_of(s)->size--;
}

BREAK(chunk_limit)
{
    data_of(s)->bytes[16 + 8] = 0x7f;
}

BREAK(chunk_checksum)
{
    data_of(s)->bytes[16 + 20] ^= 1;
}

BREAK(chunk_codec)
{
    data_of(s)->bytes[16 + 11]++;
}

BREAK(chunk_size)
{
    minizor_payload(s, BEGIN END);
    data_of(s)->bytes[16 + 11]--;
}

BREAK(chunk_events)
{
    minizor_payload(s, BEGIN END "c9a5");
}

BREAK(chunk_bomb)
{
    minizor_payload(s, BEGIN END);
    for (int i = 0; i < 200000; i++)
        minizor_hex(data_of(s), "9f");
    struct minizor_bytes payload = {0};
    minizor_add(&payload, data_of(s)->bytes + 32, data_of(s)->size - 32);
    data_of(s)->size = 16;
    minizor_chunk(data_of(s), &payload, MINIZOR_PLAIN);
    free(payload.bytes);
}

BREAK(chunk_length)
{
    minizor_payload(s, BEGIN END "cebbffffffffffffffff 0000");
}

/* ---- the text index ---- */

BREAK(text_missing)
{
    texts_of(s)->size = 4;
}

BREAK(text_header)
{
    struct minizor_bytes *other = minizor_file(s, "text-00000100.wal");
    minizor_add(other, "LAW\3", 4);
}

BREAK(text_record)
{
    texts_of(s)->size -= 4;
    minizor_add(texts_of(s), "A\1text\2B\3", 9);
}

BREAK(text_duplicate)
{
    texts_of(s)->size -= 4;
    minizor_add(texts_of(s),
                "5\1other\2"
                "5\3",
                10);
}

/* A compressed index of one block, whose text is one byte. */
static struct minizor_bytes *add_index(struct minizor *s)
{
    static const char zeros[1024];
    struct minizor_bytes *index = minizor_file(s, "text-00000100-00000001.fmi");
    minizor_hex(index, "304d465a 01000000 01000000 00000000 0001000000000000 00000000 00000000");
    minizor_add(index, zeros, sizeof zeros);
    minizor_hex(index, "00000000 00000000 00000000 0300");
    return index;
}

BREAK(text_checksum)
{
    add_index(s);
}

BREAK(text_blocks)
{
    struct minizor_bytes *index = add_index(s);
    index->bytes[8] = 2;
    index->bytes[32 + 1024 + 4] = 1;
    minizor_seal(index->bytes, index->size);
}

/* ---- metadata ---- */

BREAK(meta_header)
{
    minizor_add(minizor_file(s, "qmeta.idx"), "MQI0", 4);
}

/* ---- traces ---- */

BREAK(trace_orphan)
{
    minizor_payload(s, END);
}

BREAK(trace_ambiguous)
{
    struct minizor_bytes payload = {0};
    minizor_payload(s, BEGIN);
    minizor_hex(&payload, BEGIN);
    minizor_chunk(data_of(s), &payload, MINIZOR_PLAIN);
    payload.size = 0;
    minizor_hex(&payload, END);
    minizor_chunk(data_of(s), &payload, MINIZOR_PLAIN);
    minizor_chunk(data_of(s), &payload, MINIZOR_PLAIN);
    free(payload.bytes);
}

BREAK(trace_stamp)
{
    minizor_payload(s, "c89f cea10c10 cea10e04 " END);
}

BREAK(trace_lost)
{
    struct minizor_bytes payload = {0};
    minizor_payload(s, BEGIN);
    minizor_hex(&payload, "f6");
    size_t at = minizor_chunk(data_of(s), &payload, MINIZOR_PLAIN);
    data_of(s)->bytes[at + 16] = 0;
    payload.size = 0;
    minizor_hex(&payload, END);
    minizor_chunk(data_of(s), &payload, MINIZOR_PLAIN);
    free(payload.bytes);
}

BREAK(trace_open)
{
    data_of(s)->size = second_chunk(s);
    minizor_payload(s, BEGIN);
}

BREAK(trace_depth)
{
    struct minizor_bytes payload = {0};
    minizor_payload(s, "");
    data_of(s)->size = 16;
    minizor_hex(&payload, BEGIN);
    for (int i = 0; i < 65536; i++)
        minizor_hex(&payload, "c89f cea10c10 cea10e04");
    for (int i = 0; i < 65537; i++)
        minizor_hex(&payload, END);
    minizor_chunk(data_of(s), &payload, MINIZOR_PLAIN);
    free(payload.bytes);
}

BREAK(call_start)
{
    minizor_payload(s, "c89f cea10c10 cea1051b0000016311155db8" END);
}

BREAK(call_stop)
{
    minizor_payload(s, BEGIN "ff");
}

BREAK(call_time)
{
    minizor_payload(s, BEGIN "cea10d0f ff");
}

BREAK(call_stray)
{
    minizor_payload(s, BEGIN END "ff");
}

BREAK(method_unknown)
{
    minizor_payload(s, "c89f cea10c10 cea10e1863 cea1051b0000016311155db8" END);
}

BREAK(string_unknown)
{
    minizor_payload(s, BEGIN "c9a1c605c61863" END);
}

BREAK(exception_unknown)
{
    minizor_payload(s, BEGIN "d8231863" END);
}

BREAK(value_size)
{
    struct minizor_bytes payload = {0};
    minizor_hex(&payload, BEGIN "c9a1c605 9a00011170");
    for (int i = 0; i < 70000; i++)
        minizor_hex(&payload, "01");
    minizor_hex(&payload, END);
    minizor_payload(s, "");
    data_of(s)->size = 16;
    minizor_chunk(data_of(s), &payload, MINIZOR_PLAIN);
    free(payload.bytes);
}

BREAK(item_unknown)
{
    minizor_payload(s, BEGIN "d9123481a0" END);
}

const struct zor_case zor_cases[] = {
    {"data-header", break_data_header, ""},
    {"data-flags", break_data_flags, ""},
    {"data-gap", break_data_gap, ""},
    {"chunk-cut", break_chunk_cut, "trace-open"},
    {"chunk-limit", break_chunk_limit, ""},
    {"chunk-checksum", break_chunk_checksum, ""},
    {"chunk-codec", break_chunk_codec, ""},
    {"chunk-size", break_chunk_size, ""},
    {"chunk-events", break_chunk_events, ""},
    {"chunk-events", break_chunk_bomb, ""},
    {"chunk-events", break_chunk_length, ""},
    {"text-missing", break_text_missing, "method-unknown string-unknown"},
    {"text-header", break_text_header, ""},
    {"text-record", break_text_record, ""},
    {"text-duplicate", break_text_duplicate, ""},
    {"text-checksum", break_text_checksum, ""},
    {"text-blocks", break_text_blocks, ""},
    {"meta-header", break_meta_header, ""},
    {"trace-orphan", break_trace_orphan, ""},
    {"trace-ambiguous", break_trace_ambiguous, ""},
    {"trace-stamp", break_trace_stamp, ""},
    {"trace-lost", break_trace_lost, "chunk-checksum"},
    {"trace-open", break_trace_open, ""},
    {"trace-depth", break_trace_depth, ""},
    {"call-start", break_call_start, ""},
    {"call-stop", break_call_stop, ""},
    {"call-time", break_call_time, ""},
    {"call-stray", break_call_stray, ""},
    {"method-unknown", break_method_unknown, ""},
    {"string-unknown", break_string_unknown, ""},
    {"string-unknown", break_exception_unknown, ""},
    {"value-size", break_value_size, ""},
    {"item-unknown", break_item_unknown, ""},
};
const size_t zor_case_count = sizeof zor_cases / sizeof *zor_cases;
