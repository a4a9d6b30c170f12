/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The decoders of spans alone: the fuzzer's bytes are one message of each form. What the first pass
 * keeps of a span must be what is read again from its position.
 */
#include "format/otlp/decode/decode.h"
#include "format/otlp/otlp.h"
#include "format/protobuf.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Two readings of a span: flags of notes are in both, the position and the origin are not. */
static bool is_equal(const struct otlp_span *a, const struct otlp_span *b)
{
    return a->trace[0] == b->trace[0] && a->trace[1] == b->trace[1] && a->id == b->id &&
           a->parent_id == b->parent_id && a->begin == b->begin && a->end == b->end && a->kind == b->kind &&
           a->flags == b->flags;
}

/* Frames of a stack lie in its text, and each takes some of it. */
static void read_frames(struct lode_range stack)
{
    struct otlp_frame frame;
    uint64_t size = stack.size;
    while (lode_otlp_next_frame(&stack, &frame)) {
        if (stack.size >= size)
            abort();
        size = stack.size;
    }
}

/* What was skipped in the first pass may be damaged. */
static bool is_whole(const struct otlp_codec *codec, struct lode_range from, struct lode_blob *blob)
{
    struct lode_json json = lode_json_of(from);
    struct otlp_put put = {blob, false};
    blob->size = 0;
    return codec->write == NULL || (codec->write(&json, OTLP_WHOLE, &put) && !json.has_failed);
}

static void read_again(const struct otlp_codec *codec, struct lode_range message,
                       const struct otlp_span *span, struct otlp_batch *scratch)
{
    struct otlp_put put = {&scratch->scratch, false};
    struct lode_range from, bytes;
    uint64_t offset = otlp_offset_of(span);
    scratch->spans.count = 0;
    if (!lode_range_part(message, offset, message.size - offset, &from))
        abort();
    bool is_sound = is_whole(codec, from, put.blob);
    if (!lode_otlp_span(codec, from, &put, &bytes))
        abort();
    bool is_read = lode_otlp_batch_add(scratch, bytes, message.data, 0) && scratch->spans.count == 1;
    if (is_sound && (!is_read || !is_equal(LODE_ARRAY_AT(&scratch->spans, struct otlp_span, 0), span)))
        abort();
    /* Text is copied, numbers have at most ten bytes, and a key is written for each field. */
    if (codec->write && bytes.size > 64 * message.size + 4096)
        abort();
}

static void read_message(const struct otlp_codec *codec, struct lode_range message)
{
    struct otlp_batch batch, scratch;
    lode_otlp_batch_init(&batch);
    lode_otlp_batch_init(&scratch);
    batch.start = scratch.start = message.data;
    bool is_sound = codec->read(&batch, message);
    for (size_t i = 0; i < batch.spans.count; i++) {
        struct otlp_span *span = LODE_ARRAY_AT(&batch.spans, struct otlp_span, i);
        if (span->origin >= batch.origins.items.count || span->end < span->begin)
            abort();
        /* Spans of a damaged message do not count. */
        if (is_sound)
            read_again(codec, message, span, &scratch);
    }
    lode_otlp_batch_free(&batch);
    lode_otlp_batch_free(&scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct otlp_codec *const codecs[] = {&lode_otlp_protobuf, &lode_otlp_json, &lode_otlp_jaeger,
                                                      &lode_otlp_zipkin};
    struct lode_range message = {data, size};
    (void)lode_otlp_form(message, true);
    (void)lode_otlp_form(message, false);
    read_frames(message);
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
        read_message(codecs[i], message);
    return 0;
}
