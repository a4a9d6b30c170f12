/* SPDX-License-Identifier: BSD-3-Clause */
/* What decoders of JSON share. */
#include "format/otlp/decode/decode.h"
#include "format/protobuf.h"

/* Some writers print integers as floating-point numbers. */
static uint64_t whole(struct lode_range content)
{
    for (uint64_t i = 0; i < content.size; i++) {
        if (content.data[i] <= '9' && content.data[i] >= '0')
            continue;
        if (content.data[i] != '.' && content.data[i] != 'e' && content.data[i] != 'E')
            continue;
        double real = lode_otlp_real(content);
        return real >= 0 && real < (double)UINT64_MAX ? (uint64_t)real : 0;
    }
    return lode_json_unsigned(content);
}

uint64_t lode_otlp_json_unsigned(struct lode_json *json)
{
    struct lode_range content, key;
    bool is_string;
    uint64_t parts[2] = {0};
    if (lode_json_peek(json) != '{') {
        if (lode_json_scalar(json, &content, &is_string))
            return whole(content);
        lode_json_skip(json);
        return 0;
    }
    /* {"low": ..., "high": ...}: exporters of Node until 2023. */
    lode_json_enter(json, '{');
    while (lode_json_key(json, &key)) {
        bool is_known = lode_json_is(key, "low") || lode_json_is(key, "high");
        if (is_known && lode_json_scalar(json, &content, &is_string))
            parts[lode_json_is(key, "high")] = (uint32_t)lode_json_signed(content);
        else
            lode_json_skip(json);
    }
    return parts[1] << 32 | parts[0];
}

struct lode_range lode_otlp_json_text(struct lode_json *json)
{
    struct lode_range content = {(const uint8_t *)"", 0};
    if (lode_json_peek(json) == '"')
        (void)lode_json_string(json, &content);
    else
        lode_json_skip(json);
    return content;
}

bool lode_otlp_json_true(struct lode_json *json)
{
    struct lode_range content;
    bool is_string;
    if (lode_json_scalar(json, &content, &is_string))
        return lode_json_is(content, "true");
    lode_json_skip(json);
    return false;
}

void lode_otlp_put_pair(struct otlp_put *put, unsigned field, const char *key, struct lode_range text)
{
    otlp_nested pair = lode_otlp_put_begin(put, field);
    lode_otlp_put_bytes(put, PAIR_KEY, (struct lode_range){(const uint8_t *)key, strlen(key)});
    otlp_nested value = lode_otlp_put_begin(put, PAIR_VALUE);
    lode_otlp_put_text(put, ANY_STRING, text);
    lode_otlp_put_end(put, value);
    lode_otlp_put_end(put, pair);
}

bool lode_otlp_json_add(struct otlp_batch *batch, struct lode_json *json, const struct otlp_codec *codec,
                        uint32_t origin)
{
    struct otlp_put put = {&batch->scratch, false};
    const uint8_t *position = lode_json_peek(json) ? json->at : json->end;
    batch->scratch.size = 0;
    if (codec->brief) {
        struct otlp_reading reading = {0};
        bool is_read = codec->brief(json, &reading) && !json->has_failed;
        if (is_read)
            lode_otlp_batch_put(batch, &reading, position, origin);
        return is_read;
    }
    bool is_sound = codec->write(json, OTLP_BRIEF, &put) && !json->has_failed;
    batch->has_failed |= put.has_failed;
    if (is_sound && !put.has_failed)
        (void)lode_otlp_batch_add(batch, (struct lode_range){batch->scratch.bytes, batch->scratch.size},
                                  position, origin);
    return is_sound;
}

bool lode_otlp_span(const struct otlp_codec *codec, struct lode_range from, struct otlp_put *put,
                    struct lode_range *span)
{
    struct lode_json json = lode_json_of(from);
    struct lode_pb_walk walk = lode_pb_walk_of(from);
    struct lode_pb_field field;
    if (codec->write) {
        put->blob->size = 0;
        /* What is inside of attributes was skipped before: damage there ends the span. */
        (void)codec->write(&json, OTLP_WHOLE, put);
        *span = (struct lode_range){put->blob->bytes, put->blob->size};
        return !put->has_failed;
    }
    if (lode_pb_next(&walk, &field) != LODE_PB_FIELD || field.number != SCOPE_SPANS_SPANS)
        return false;
    *span = field.bytes;
    return true;
}
