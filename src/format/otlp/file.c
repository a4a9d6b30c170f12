/* SPDX-License-Identifier: BSD-3-Clause */
/* Files: what their content is, and unpacking. */
#include "base/error.h"
#include "base/io/bytes.h"
#include "base/io/gzip.h"
#include "base/memory/machine.h"
#include "base/text/count.h"
#include "format/otlp/otlp.h"
#include "format/otlp/zstd.h"
#include "format/protobuf.h"

enum {
    PROBED = 1 << 16,    /* bytes that are looked at */
    LENGTH_SIZE = 4,     /* before a message */
    MESSAGES_PROBED = 4, /* of several that follow each other */
    NESTED_KEYS = 64,    /* that are looked at to tell forms of JSON from each other */
    UNPACKED_SHARE = 4   /* of the budget, for files that are compressed */
};

/* ---- protobuf ---- */

/* Whether a message looks like TracesData: its field 1 has messages in fields 1 and 2. */
static bool is_traces(struct lode_range bytes, bool is_complete)
{
    struct lode_pb_walk walk = lode_pb_walk_of(bytes), inner;
    struct lode_pb_field field, part;
    if (lode_pb_key(&walk, &field) != LODE_PB_FIELD || field.number != TRACES_RESOURCE_SPANS ||
        field.type != LODE_PB_BYTES || lode_pb_number(&walk, &field.value) != LODE_PB_FIELD)
        return false;
    uint64_t left = (uint64_t)(walk.end - walk.at);
    bool is_cut = field.value > left;
    if (is_cut && is_complete)
        return false;
    inner = (struct lode_pb_walk){walk.at, walk.at + (is_cut ? left : field.value)};
    bool has_scopes = false;
    enum lode_pb_step step = LODE_PB_END;
    while ((step = lode_pb_next(&inner, &part)) == LODE_PB_FIELD) {
        if (part.number < 1 || (part.number > 3 && part.number < RESOURCE_SPANS_LIBRARIES) ||
            part.type != LODE_PB_BYTES)
            return false;
        has_scopes |= part.number != RESOURCE_SPANS_RESOURCE;
    }
    return step == LODE_PB_END ? has_scopes : is_cut && step == LODE_PB_CUT && inner.at < inner.end;
}

static bool is_content(struct lode_range message, bool is_complete)
{
    return message.size > 0 && (message.data[0] == '{' || is_traces(message, is_complete));
}

/* Whether messages with lengths before them follow each other. */
static bool has_lengths(struct lode_range bytes, bool is_complete)
{
    if (bytes.size <= LENGTH_SIZE)
        return false;
    uint64_t size = get_u32be(bytes.data), left = bytes.size - LENGTH_SIZE;
    bool is_cut = size > left;
    struct lode_range message = {bytes.data + LENGTH_SIZE, is_cut ? left : size};
    return size > 0 && (!is_cut || !is_complete) && is_content(message, is_complete || !is_cut);
}

static bool is_delimited(struct lode_range bytes, bool is_complete)
{
    struct lode_pb_walk walk = lode_pb_walk_of(bytes);
    uint64_t size;
    unsigned count = 0;
    for (; count < MESSAGES_PROBED && walk.at < walk.end; count++) {
        if (lode_pb_number(&walk, &size) != LODE_PB_FIELD)
            return false;
        uint64_t left = (uint64_t)(walk.end - walk.at);
        bool is_cut = size > left;
        struct lode_range message = {walk.at, is_cut ? left : size};
        if ((is_cut && is_complete) || !is_traces(message, is_complete || !is_cut))
            return false;
        walk.at += message.size;
    }
    return count > 0;
}

static struct otlp_form form_of_binary(struct lode_range bytes, bool is_complete)
{
    struct otlp_form none = {0};
    if (has_lengths(bytes, is_complete))
        return (struct otlp_form){bytes.data[LENGTH_SIZE] == '{' ? &lode_otlp_json : &lode_otlp_protobuf,
                                  OTLP_LENGTHS};
    if (is_traces(bytes, is_complete))
        return (struct otlp_form){&lode_otlp_protobuf, OTLP_BARE};
    if (is_delimited(bytes, is_complete))
        return (struct otlp_form){&lode_otlp_protobuf, OTLP_DELIMITED};
    return none;
}

/* ---- JSON ---- */

/* The codec of an object by its keys. */
static const struct otlp_codec *codec_of_object(struct lode_json *json)
{
    static const struct {
        const char *key;
        const struct otlp_codec *codec;
    } keys[] = {
        {"resourceSpans", &lode_otlp_json}, {"resource_spans", &lode_otlp_json},  {"result", &lode_otlp_json},
        {"traceID", &lode_otlp_jaeger},     {"spanID", &lode_otlp_jaeger},        {"data", &lode_otlp_jaeger},
        {"processes", &lode_otlp_jaeger},   {"localEndpoint", &lode_otlp_zipkin}, {"id", &lode_otlp_zipkin}};
    struct lode_range key;
    bool has_trace = false;
    for (unsigned i = 0; i < NESTED_KEYS && lode_json_key(json, &key); i++) {
        has_trace |= lode_json_is(key, "traceId");
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            bool is_zipkin = keys[k].codec == &lode_otlp_zipkin;
            if (lode_json_is(key, keys[k].key) && (!is_zipkin || has_trace))
                return keys[k].codec;
        }
        /* Members may come in any order: "id" may be before "traceId". */
        if (has_trace && lode_json_is(key, "traceId") && i > 0)
            return &lode_otlp_zipkin;
        lode_json_skip(json);
    }
    return NULL;
}

/* An object, or the first one of an array of them, or of an array of arrays. */
static const struct otlp_codec *codec_of_json(struct lode_json json)
{
    unsigned arrays = 0;
    while (arrays < 2 && lode_json_enter(&json, '[')) {
        arrays++;
        if (!lode_json_item(&json))
            return NULL;
    }
    const struct otlp_codec *codec = lode_json_enter(&json, '{') ? codec_of_object(&json) : NULL;
    /* In an array of something else, such a key is no proof. */
    return arrays > 0 && codec == &lode_otlp_json ? NULL : codec;
}

static struct otlp_form form_of_json(struct lode_json json)
{
    struct otlp_form form = {codec_of_json(json), OTLP_VALUES};
    const uint8_t *line = memchr(json.at, '\n', (size_t)(json.end - json.at));
    struct lode_json first = {.at = json.at, .end = line ? line : json.end};
    if (line && lode_json_skip(&first) && lode_json_peek(&first) == '\0')
        form.framing = OTLP_LINES;
    return form;
}

struct otlp_form lode_otlp_form(struct lode_range bytes, bool is_complete)
{
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf};
    if (bytes.size >= sizeof mark && memcmp(bytes.data, mark, sizeof mark) == 0)
        bytes = (struct lode_range){bytes.data + sizeof mark, bytes.size - sizeof mark};
    struct lode_json json = lode_json_of(bytes);
    char first = bytes.size > 0 ? lode_json_peek(&json) : '\0';
    if (first == '{' || first == '[')
        return form_of_json(json);
    return form_of_binary(bytes, is_complete);
}

/* ---- unpacking ---- */

/* Unpacks at most `most` bytes. `offset` is where unpacking ended in the file. */
static enum lode_gzip_end unpack(struct lode_range file, size_t most, struct lode_blob *out, uint64_t *offset)
{
    if (lode_gzip_begins(file))
        return lode_gzip_unpack(file, most, out, offset);
    return lode_otlp_unzstd(file, most, out, offset);
}

bool lode_otlp_is_store(const struct lode_folder *folder, const char *name)
{
    struct lode_input input = {0};
    struct lode_blob unpacked = {0};
    bool is_store = false;
    if (lode_input_open(&input, folder, name, NULL) == LODE_OK) {
        struct lode_range bytes = input.bytes;
        bool is_complete = bytes.size <= PROBED;
        if (lode_gzip_begins(bytes) || lode_otlp_is_zstd(bytes)) {
            uint64_t offset = 0;
            enum lode_gzip_end end = unpack(bytes, PROBED, &unpacked, &offset);
            bytes = (struct lode_range){unpacked.bytes, unpacked.size};
            is_complete = end == LODE_GZIP_SOUND || end == LODE_GZIP_TRAILING;
        }
        bytes.size = bytes.size < PROBED ? bytes.size : PROBED;
        is_store = bytes.size > 0 && lode_otlp_form(bytes, is_complete).codec != NULL;
    }
    lode_blob_free(&unpacked);
    lode_input_close(&input);
    return is_store;
}

static lode_status report_end(struct otlp_opening *opening, const struct otlp_file *file,
                              enum lode_gzip_end end, uint64_t offset)
{
    switch (end) {
    case LODE_GZIP_SOUND:
        return LODE_OK;
    case LODE_GZIP_MEMORY:
        return file->unpacked.status != LODE_OK ? file->unpacked.status : lode_fail_memory(opening->error);
    case LODE_GZIP_LIMIT:
        return lode_report_add(opening->report, OTLP_RATIO, file->name, offset,
                               "%s to more than %s; to read them, unpack the file",
                               LODE_COUNTED(file->input.bytes.size, "byte unpacks", "bytes unpack"),
                               LODE_COUNTED(file->unpacked.blob.size, "byte", "bytes"));
    case LODE_GZIP_TRAILING:
    case LODE_GZIP_CUT:
    case LODE_GZIP_CORRUPT:
    default:
        return lode_report_add(opening->report, OTLP_UNPACK, file->name, offset, "the compressed data is %s",
                               end == LODE_GZIP_CUT        ? "cut off"
                               : end == LODE_GZIP_TRAILING ? "followed by other bytes"
                                                           : "damaged");
    }
}

uint64_t lode_otlp_budget(const struct otlp_opening *opening)
{
    uint64_t all = lode_machine_memory();
    return opening->memory ? opening->memory : all ? all / 4 : UINT64_C(1) << 30;
}

static lode_status unpack_file(struct otlp_opening *opening, struct otlp_file *file)
{
    static const uint8_t none[1];
    uint64_t offset = 0, allowed = lode_gzip_allowed(file->bytes.size);
    uint64_t most = lode_otlp_budget(opening) / UNPACKED_SHARE;
    most = most > opening->unpacked ? most - opening->unpacked : 0;
    struct lode_blob *unpacked = &file->unpacked.blob;
    lode_backed_blob_init(&file->unpacked, most < SIZE_MAX ? (size_t)most : SIZE_MAX, opening->error);
    enum lode_gzip_end end = unpack(file->bytes, (size_t)allowed, unpacked, &offset);
    LODE_TRY(report_end(opening, file, end, offset));
    LODE_TRY(lode_backed_blob_seal(&file->unpacked, opening->error));
    if (file->unpacked.file.bytes == NULL)
        opening->unpacked += unpacked->capacity;
    file->bytes = (struct lode_range){unpacked->size ? unpacked->bytes : none, unpacked->size};
    return LODE_OK;
}

lode_status lode_otlp_file_open(struct otlp_opening *opening, struct otlp_file *file)
{
    lode_status status = lode_input_open(&file->input, &opening->rec->folder, file->name, opening->error);
    if (status == LODE_ABSENT)
        return LODE_OK;
    LODE_TRY(status);
    file->bytes = file->input.bytes;
    bool is_zstd = lode_otlp_is_zstd(file->bytes);
    if (is_zstd && !lode_otlp_has_zstd())
        return lode_report_add(opening->report, OTLP_ZSTD, file->name, 0, "the file is compressed with zstd");
    if (is_zstd || lode_gzip_begins(file->bytes))
        LODE_TRY(unpack_file(opening, file));
    file->form = lode_otlp_form(file->bytes, true);
    if (file->form.codec == NULL && file->bytes.size > 0 && lode_otlp_form(file->bytes, false).codec)
        file->form = lode_otlp_form(file->bytes, false); /* its only message is torn */
    if (file->form.codec == NULL && file->bytes.size > 0)
        return lode_report_add(opening->report, OTLP_UNKNOWN, file->name, 0, "not a file of spans");
    return LODE_OK;
}
