/* SPDX-License-Identifier: BSD-3-Clause */
/* From a file to the bytes of a profile, and what other files of this kind are. */
#include "base/io/bytes.h"
#include "base/io/gzip.h"
#include "format/pprof/probe.h"
#include "format/pprof/read.h"
#include <stdlib.h>

/* ---- recognition ---- */

enum {
    PROBED = 1 << 16 /* bytes that are looked at */
};

/* What the first bytes of a file look like. */
struct look {
    struct lode_blob unpacked;
    struct lode_range bytes;
    bool is_whole;
};

static bool look_at(struct look *look, struct lode_range file)
{
    uint64_t offset;
    *look = (struct look){.bytes = file, .is_whole = file.size <= PROBED};
    if (lode_gzip_begins(file)) {
        enum lode_gzip_end end = lode_gzip_unpack(file, PROBED, &look->unpacked, &offset);
        look->bytes = (struct lode_range){look->unpacked.bytes, look->unpacked.size};
        look->is_whole = end == LODE_GZIP_SOUND || end == LODE_GZIP_TRAILING;
    }
    if (look->bytes.size > PROBED)
        look->bytes.size = PROBED;
    return look->bytes.size > 0;
}

/* Counts of fields up to the end of what is looked at, or to the first error. */
struct tally {
    unsigned known, unknown, first, records; /* records: samples, locations, functions */
    bool is_sound;
    bool has_bad_type; /* a sample type that is not one */
};

static bool is_value_type(struct lode_range bytes)
{
    struct pprof_walk walk = pprof_walk_of(PPROF_VALUE_TYPE, bytes);
    struct pprof_field field;
    enum pprof_step step;
    while ((step = lode_pprof_next(&walk, &field)) == PPROF_FIELD) {
    }
    return step == PPROF_END;
}

static struct tally tally_fields(const struct look *look)
{
    struct pprof_walk walk = pprof_walk_of(PPROF_PROFILE, look->bytes);
    struct pprof_field field;
    struct tally tally = {0};
    enum pprof_step step;
    while ((step = lode_pprof_next(&walk, &field)) == PPROF_FIELD) {
        bool is_type = field.number == PROFILE_SAMPLE_TYPE;
        tally.first += is_type;
        tally.known += field.is_known;
        tally.unknown += !field.is_known;
        tally.records += field.number == PROFILE_SAMPLE || field.number == PROFILE_LOCATION ||
                         field.number == PROFILE_FUNCTION;
        tally.has_bad_type |= is_type && !is_value_type(field.bytes);
    }
    tally.is_sound = step == PPROF_END || (step == PPROF_CUT && !look->is_whole);
    return tally;
}

static bool begins_with(struct lode_range bytes, const char *text)
{
    size_t length = strlen(text);
    return bytes.size >= length && memcmp(bytes.data, text, length) == 0;
}

static uint64_t get_word(const uint8_t *at, size_t size, bool is_big)
{
    if (size == sizeof(uint32_t))
        return is_big ? get_u32be(at) : get_u32le(at);
    return is_big ? get_u64be(at) : get_u64le(at);
}

/* Words 0, 3, 0 or 1, period, 0 of 4 or 8 bytes, in either byte order. */
static bool is_legacy_cpu(struct lode_range bytes)
{
    for (size_t size = 4; size <= 8; size *= 2) {
        uint64_t words[5];
        if (bytes.size < size * 5)
            return false;
        for (unsigned order = 0; order < 2; order++) {
            for (size_t i = 0; i < 5; i++)
                words[i] = get_word(bytes.data + i * size, size, order);
            if (words[0] == 0 && words[1] == 3 && words[2] <= 1 && words[3] > 0 && words[4] == 0)
                return true;
        }
    }
    return false;
}

static bool is_legacy(struct lode_range bytes)
{
    static const char *const beginnings[] = {"heap profile:", "--- heapz",          "--- contentionz",
                                             "--- mutex",     "--- threadz",        "--- contention",
                                             "--- Memory",    "goroutine profile:", "threadcreate profile:",
                                             "--- growthz",   "--- profile",        "--- heap"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (begins_with(bytes, beginnings[i]))
            return true;
    return is_legacy_cpu(bytes);
}

static bool has_suffix(const char *name)
{
    static const char *const suffixes[] = {".pb.gz", ".pb", ".pprof", ".prof"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t length = strlen(name), size = strlen(suffixes[i]);
        if (length > size && strcmp(name + length - size, suffixes[i]) == 0)
            return true;
    }
    return false;
}

static const char *explain_bytes(const struct look *look)
{
    if (begins_with(look->bytes, "heap_v2/"))
        return "a heap profile of jemalloc, not pprof; convert it with 'jeprof --collapsed'";
    if (is_legacy(look->bytes))
        return "a legacy pprof file; convert it with 'go tool pprof -proto FILE > NEW.pb.gz'";
    struct tally tally = tally_fields(look);
    if (tally.records > 0 && tally.is_sound && !tally.has_bad_type)
        return NULL;
    if (tally.first > 0 && tally.has_bad_type && (tally.records > 0 || tally.first <= 2))
        return "an OTLP profile or a Perfetto trace, not pprof; export it as pprof from the tool that "
               "wrote it";
    if (tally.first > 2 && tally.first == tally.known)
        return "a Perfetto trace, not pprof; open it in ui.perfetto.dev";
    return NULL;
}

/* Looks at the only file of a folder. */
static bool look_into(const struct lode_folder *folder, struct lode_input *source, struct look *look)
{
    *look = (struct look){0};
    return lode_input_open(source, folder, lode_folder_only(folder), NULL) == LODE_OK &&
           look_at(look, source->bytes);
}

int lode_pprof_probe(const struct lode_folder *folder)
{
    struct lode_input source;
    struct look look;
    int score = LODE_PROBE_NO;
    bool has_bytes = look_into(folder, &source, &look);
    if (has_bytes && explain_bytes(&look) == NULL) {
        struct tally tally = tally_fields(&look);
        if (tally.is_sound && tally.records > 0)
            score = LODE_PROBE_CONTENT;
        else if (tally.known >= 3 && tally.known > tally.unknown)
            score = LODE_PROBE_MARK;
    }
    if (score == LODE_PROBE_NO && has_suffix(lode_folder_only(folder)) &&
        (!has_bytes || explain_bytes(&look) == NULL))
        score = LODE_PROBE_NAMES;
    lode_blob_free(&look.unpacked);
    lode_input_close(&source);
    return score;
}

const char *lode_pprof_explain(const struct lode_folder *folder)
{
    struct lode_input source;
    struct look look;
    const char *text = look_into(folder, &source, &look) ? explain_bytes(&look) : NULL;
    lode_blob_free(&look.unpacked);
    lode_input_close(&source);
    return text;
}

/* ---- unpacking ---- */

static const struct lode_bounded_rules bounded_rules = {
    PPROF_RULE_GZIP, PPROF_RULE_TRAILING, PPROF_RULE_LIMIT, PPROF_RULE_RATIO, PPROF_RULE_EXPANSION};

lode_status lode_pprof_unpack(struct pprof_reader *reader, const struct lode_folder *folder)
{
    struct lode_report *report = reader->report;
    reader->file = lode_folder_only(folder);
    lode_status status = lode_input_open(&reader->source, folder, reader->file, report->error);
    if (status == LODE_ABSENT)
        return lode_fail(report->error, LODE_ERR_IO, reader->file, LODE_NO_OFFSET, "there is no such file");
    LODE_TRY(status);
    reader->bytes = reader->source.bytes;
    reader->bounds = (struct lode_bounded){.report = report,
                                           .rules = &bounded_rules,
                                           .file = reader->file,
                                           .subject = "the profile has",
                                           .most = PPROF_BYTES_MOST};
    LODE_TRY(lode_bounded_unpack(&reader->bounds, &reader->bytes, &reader->unpacked));
    if (reader->bytes.size == 0) {
        LODE_TRY(lode_report_add(report, PPROF_RULE_EMPTY, reader->file, 0, "the profile is empty"));
        return LODE_END;
    }
    if (lode_gzip_begins(reader->bytes)) {
        LODE_TRY(
            lode_report_add(report, PPROF_RULE_GZIP, reader->file, 0, "the profile is compressed twice"));
        return LODE_END;
    }
    lode_import_limit(&reader->import, reader->bounds.packed, reader->bounds.bytes);
    return LODE_OK;
}
