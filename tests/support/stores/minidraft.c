/* SPDX-License-Identifier: BSD-3-Clause */
#include "minidraft.h"

#include "base/io/bytes.h"
#include "base/memory/blob.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char document[] =
    "<?xml version=\"1.0\"?>\n"
    "<HPCToolkitExperiment version=\"4.0\">\n"
    "<Header n=\"mini &lt;draft&gt;\">\n<Info/>\n</Header>\n"
    "<SecCallPathProfile i=\"0\" n=\"mini &lt;draft&gt;\">\n<SecHeader>\n"
    "<IdentifierNameTable>\n"
    "<Identifier i=\"1\" n=\"NODE\"/>\n<Identifier i=\"0\" n=\"SUMMARY\"/>\n"
    "<Identifier i=\"2\" n=\"RANK\"/>\n<Identifier i=\"3\" n=\"THREAD\"/>\n"
    "</IdentifierNameTable>\n"
    "<MetricTable>\n"
    "<Metric i=\"%d\" o=\"2\" n=\"a:b (sec):PARTIAL:0 (I)\" v=\"derived-incr\" t=\"inclusive\" show=\"4\">\n"
    "<MetricFormula t=\"combine\" frm=\"sum($%d, $%d)\"/>\n"
    "<Info><NV n=\"units\" v=\"events\"/></Info>\n</Metric>\n"
    "<Metric i=\"%d\" o=\"1\" n=\"a:b (sec):PARTIAL:0 (E)\" v=\"derived-incr\" t=\"exclusive\" show=\"4\">\n"
    "<MetricFormula t=\"combine\" frm=\"sum($%d, $%d)\"/>\n</Metric>\n"
    "<Metric i=\"-1\" o=\"-1\" n=\"a:b (sec):Sum (I)\" t=\"inclusive\" show=\"1\">\n"
    "<MetricFormula t=\"view\" frm=\"$%d\"/>\n</Metric>\n"
    "</MetricTable>\n"
    "<MetricDBTable>\n<MetricDB i=\"2\" n=\"a:b (sec) (I)\"/>\n<MetricDB i=\"1\" n=\"a:b (sec) (E)\"/>\n"
    "</MetricDBTable>\n"
    "<TraceDBTable>\n<TraceDB i=\"0\" db-min-time=\"100\" db-max-time=\"120\" u=\"1000000000\"/>\n"
    "</TraceDBTable>\n"
    "<LoadModuleTable>\n<LoadModule i=\"0\" n=\"&lt;unknown module&gt;\"/>\n"
    "<LoadModule i=\"2\" n=\"/bin/app\"/>\n</LoadModuleTable>\n"
    "<FileTable>\n<File i=\"2147483647\" n=\"&lt;unknown file&gt;\"/>\n<File i=\"0\" n=\"./src/app.c\"/>\n"
    "<File i=\"2147483640\" n=\"&lt;unknown file&gt; [app]\"/>\n</FileTable>\n"
    "<ProcedureTable>\n<Procedure i=\"5\" n=\"main\" v=\"0x118b\"/>\n<Procedure i=\"8\" n=\"work\" "
    "v=\"0x1129\"/>\n"
    "<Procedure i=\"9\" n=\"small\" v=\"0\"/>\n<Procedure i=\"3\" n=\"&lt;no activity&gt;\" v=\"0\" "
    "f=\"1\"/>\n"
    "<Procedure i=\"4\" n=\"&lt;program root&gt;\" v=\"0\" f=\"1\"/>\n</ProcedureTable>\n"
    "<Info/>\n</SecHeader>\n"
    "<SecCallPathProfileData>\n"
    "<PF i=\"2\" n=\"4\" s=\"4\" f=\"2147483647\" l=\"0\" lm=\"0\">\n"
    "<C i=\"-2\" s=\"4\" v=\"0\" f=\"2147483647\" l=\"0\" it=\"2\">\n"
    "<PF i=\"3\" s=\"5\" n=\"5\" v=\"0x118b\" f=\"0\" l=\"10\" lm=\"2\">\n"
    "<S i=\"4\" it=\"4\" f=\"0\" l=\"11\" s=\"6\" v=\"0\"/>\n"
    "<C i=\"5\" s=\"15\" f=\"0\" l=\"12\" v=\"0x11a6\" it=\"5\">\n"
    "<PF i=\"6\" s=\"8\" n=\"8\" v=\"0x1129\" f=\"0\" l=\"1\" lm=\"2\">\n"
    "<L i=\"7\" s=\"9\" v=\"0\" f=\"0\" l=\"3\">\n"
    "<S i=\"8\" it=\"8\" f=\"0\" l=\"4\" s=\"10\" v=\"0\"/>\n"
    "</L>\n"
    "<C i=\"-9\" it=\"9\" s=\"9\" v=\"0\" f=\"0\" l=\"5\">\n"
    "<PF i=\"9\" s=\"9\" n=\"9\" v=\"0x0\" f=\"0\" l=\"30\" lm=\"2\">\n</PF>\n</C>\n"
    "</PF>\n</C>\n</PF>\n</C>\n</PF>\n"
    "<PF i=\"1\" n=\"3\" s=\"3\" f=\"2147483647\" l=\"0\" lm=\"0\">\n"
    "<S i=\"-1\" s=\"3\" v=\"0\" f=\"2147483647\" l=\"0\" it=\"1\"/>\n</PF>\n"
    "</SecCallPathProfileData>\n</SecCallPathProfile>\n</HPCToolkitExperiment>\n";

/* By context: exclusive and inclusive cost in profile 1. */
static const double costs[MINIDRAFT_CONTEXTS][2] = {
    {0, 10}, {0, 0}, {0, 10}, {1, 10}, {1, 1}, {0, 9}, {6, 9}, {6, 6}, {6, 6}, {3, 3}, {6, 6},
};

enum {
    UNLISTED = 10
};

double minidraft_cost(uint32_t context, uint32_t metric)
{
    return costs[context][metric - MINIDRAFT_EXCLUSIVE];
}

static bool is_left_out(const struct minidraft_options *options, uint32_t context)
{
    return context == UNLISTED && !options->unlisted;
}

/* Room for bytes at the end; their offset. */
static uint64_t reserve(struct lode_blob *blob, size_t size)
{
    size_t at = lode_blob_reserve(blob, size, 1);
    if (at == LODE_BLOB_FULL)
        abort();
    return at;
}

static void put_pair(struct lode_blob *blob, uint64_t first, unsigned first_size, uint64_t second,
                     unsigned second_size)
{
    uint64_t at = reserve(blob, first_size + second_size);
    for (unsigned i = 0; i < first_size; i++)
        blob->bytes[at + i] = (unsigned char)(first >> 8 * (first_size - 1 - i));
    for (unsigned i = 0; i < second_size; i++)
        blob->bytes[at + first_size + i] = (unsigned char)(second >> 8 * (second_size - 1 - i));
}

static void put_footer(struct lode_blob *blob, const struct minidraft_options *options, const char *footer)
{
    uint64_t at = reserve(blob, DRAFTS_FOOTER_SIZE);
    for (size_t i = 0; i < DRAFTS_FOOTER_SIZE; i++)
        blob->bytes[at + i] = (unsigned char)footer[options->big_footer ? i : DRAFTS_FOOTER_SIZE - 1 - i];
}

/* The header, and space for a table right after it. */
static uint64_t begin(struct lode_blob *blob, const struct minidraft_options *options, const char *magic,
                      size_t header_size, uint32_t count, size_t record_size)
{
    uint64_t table = options->unpadded ? header_size : DRAFTS_PADDED_HEADER;
    reserve(blob, table + count * record_size);
    memcpy(blob->bytes, magic, DRAFTS_MAGIC_SIZE);
    struct drafts_Header header = {.major = options->version_4 ? 4 : 1,
                                   .count = count,
                                   .num_sec = header_size == DRAFTS_ProfileHeader_SIZE ? 2 : 1,
                                   .size = count * record_size,
                                   .ptr = table};
    lode_drafts_write_Header(&header, blob->bytes);
    return table;
}

static void finish(struct minidraft *db, enum hpct_file_id id, struct lode_blob *blob)
{
    db->bytes[id] = blob->bytes;
    db->size[id] = blob->size;
}

/* ---- profile.db ---- */

static uint64_t put_tuple(struct lode_blob *blob, uint32_t profile)
{
    uint64_t at = reserve(blob, DRAFTS_IdTuple_SIZE + (size_t)(profile ? 2 : 1) * DRAFTS_Id_SIZE);
    struct drafts_IdTuple tuple = {.len = profile ? 2 : 1};
    struct drafts_Id node = {.kind = profile ? 1 : 0, .physical = profile ? 77 : 0};
    struct drafts_Id thread = {.kind = 0xc003, .physical = 0, .logical = profile - 1};
    lode_drafts_write_IdTuple(&tuple, blob->bytes + at);
    lode_drafts_write_Id(&node, blob->bytes + at + DRAFTS_IdTuple_SIZE);
    if (profile)
        lode_drafts_write_Id(&thread, blob->bytes + at + DRAFTS_IdTuple_SIZE + DRAFTS_Id_SIZE);
    return at;
}

static double factor(uint32_t profile)
{
    return profile == 0 ? 3.0 : (double)profile;
}

static unsigned id_of(const struct minidraft_options *options, uint32_t profile, unsigned metric)
{
    return profile == 0 && options->old_ids ? metric << 8 : metric;
}

static struct drafts_Profile put_profile(struct lode_blob *blob, const struct minidraft_options *options,
                                         uint32_t profile)
{
    struct drafts_Profile record = {.prof_off = blob->size};
    uint64_t starts[MINIDRAFT_CONTEXTS + 1];
    for (uint32_t context = 0; context < MINIDRAFT_CONTEXTS; context++) {
        starts[context] = record.num_vals;
        for (unsigned m = MINIDRAFT_EXCLUSIVE; m <= MINIDRAFT_INCLUSIVE && !is_left_out(options, context);
             m++) {
            if (minidraft_cost(context, m) == 0)
                continue;
            put_pair(blob, bits_of_f64(minidraft_cost(context, m) * factor(profile)), 8,
                     id_of(options, profile, m), 2);
            record.num_vals++;
        }
    }
    starts[MINIDRAFT_CONTEXTS] = record.num_vals;
    for (uint32_t context = 0; context < MINIDRAFT_CONTEXTS; context++) {
        /* The summary keeps contexts without values. */
        if (starts[context] == starts[context + 1] && (profile != 0 || context != MINIDRAFT_IDLE))
            continue;
        put_pair(blob, context, 4, starts[context], 8);
        record.num_nzctxs++;
    }
    put_pair(blob, DRAFTS_PROFILE_END, 4, record.num_vals, 8);
    return record;
}

static void make_profiles(struct minidraft *db, const struct minidraft_options *options)
{
    struct lode_blob blob = {0};
    uint64_t tuples[MINIDRAFT_PROFILES];
    db->profiles = begin(&blob, options, options->old_magic ? "HPCPROF-pmsdb___" : "HPCPROF-profdb__",
                         DRAFTS_ProfileHeader_SIZE, MINIDRAFT_PROFILES, DRAFTS_Profile_SIZE);
    for (uint32_t p = 0; p < MINIDRAFT_PROFILES; p++)
        tuples[p] = put_tuple(&blob, p);
    struct drafts_ProfileHeader header = {.idt_size = blob.size - tuples[0], .idt_ptr = tuples[0]};
    lode_drafts_write_ProfileHeader(&header, blob.bytes);
    /* Blocks in another order than profiles: the summary comes last. */
    for (uint32_t i = 1; i <= MINIDRAFT_PROFILES; i++) {
        uint32_t p = i % MINIDRAFT_PROFILES;
        struct drafts_Profile record = put_profile(&blob, options, p);
        record.idt_ptr = tuples[p];
        lode_drafts_write_Profile(&record, blob.bytes + db->profiles + p * DRAFTS_Profile_SIZE);
    }
    put_footer(&blob, options, "PROFDBft");
    finish(db, HPCT_PROFILE, &blob);
}

/* ---- cct.db ---- */

static void put_context(struct lode_blob *blob, const struct minidraft_options *options, uint32_t context,
                        struct drafts_Context *record)
{
    uint64_t starts[MINIDRAFT_INCLUSIVE + 1] = {0};
    *record = (struct drafts_Context){.ctx_id = context, .ctx_off = blob->size};
    if (is_left_out(options, context))
        return;
    for (unsigned m = MINIDRAFT_EXCLUSIVE; m <= MINIDRAFT_INCLUSIVE; m++) {
        starts[m] = record->num_vals;
        for (uint32_t p = 1; p < MINIDRAFT_PROFILES && minidraft_cost(context, m) != 0;
             p++, record->num_vals++)
            put_pair(blob, bits_of_f64(minidraft_cost(context, m) * factor(p)), 8, p, 4);
        record->num_nzmids = (uint16_t)(record->num_nzmids + (starts[m] != record->num_vals));
    }
    if (record->num_vals == 0)
        return;
    for (unsigned m = MINIDRAFT_EXCLUSIVE; m <= MINIDRAFT_INCLUSIVE; m++)
        if (minidraft_cost(context, m) != 0)
            put_pair(blob, m, 2, starts[m], 8);
    put_pair(blob, DRAFTS_CONTEXT_END, 2, record->num_vals, 8);
}

static void make_contexts(struct minidraft *db, const struct minidraft_options *options)
{
    struct lode_blob blob = {0};
    db->contexts = begin(&blob, options, options->old_magic ? "HPCPROF-cmsdb___" : "HPCPROF-cctdb___",
                         DRAFTS_Header_SIZE, MINIDRAFT_CONTEXTS, DRAFTS_Context_SIZE);
    uint64_t values = blob.size;
    for (uint32_t c = 0; c < MINIDRAFT_CONTEXTS; c++) {
        struct drafts_Context record;
        put_context(&blob, options, c, &record);
        lode_drafts_write_Context(&record, blob.bytes + db->contexts + c * DRAFTS_Context_SIZE);
    }
    if (options->zero_cct)
        memset(blob.bytes + values, 0, blob.size - values);
    put_footer(&blob, options, "CCTDBftr");
    finish(db, HPCT_CCT, &blob);
}

/* ---- trace.db ---- */

static void make_traces(struct minidraft *db, const struct minidraft_options *options)
{
    static const uint32_t contexts[MINIDRAFT_SAMPLES] = {MINIDRAFT_IDLE, 8, 3};
    struct lode_blob blob = {0};
    db->traces = begin(&blob, options, "HPCPROF-tracedb_", DRAFTS_Header_SIZE, 2, DRAFTS_Trace_SIZE);
    struct drafts_Trace line = {.prof_info_idx = 1, .line_ptr = blob.size};
    for (uint32_t i = 0; i < MINIDRAFT_SAMPLES; i++)
        put_pair(&blob, 100 + 10 * i, 8, contexts[i], 4);
    line.line_end = blob.size;
    lode_drafts_write_Trace(&line, blob.bytes + db->traces);
    /* Empty lines begin past the end in real files. */
    line =
        (struct drafts_Trace){.prof_info_idx = 2, .line_ptr = blob.size + 1000, .line_end = blob.size + 1000};
    lode_drafts_write_Trace(&line, blob.bytes + db->traces + DRAFTS_Trace_SIZE);
    if (options->trace_footer)
        put_footer(&blob, options, "TRACDBft");
    finish(db, HPCT_TRACE, &blob);
}

/* ---- public functions ---- */

static void make_document(struct minidraft *db, const struct minidraft_options *options)
{
    int in = (int)id_of(options, 0, MINIDRAFT_INCLUSIVE), ex = (int)id_of(options, 0, MINIDRAFT_EXCLUSIVE);
    char *text = NULL;
    int size = asprintf(&text, document, in, in, in, ex, ex, ex, in);
    if (size < 0)
        abort();
    db->bytes[HPCT_META] = (unsigned char *)text;
    db->size[HPCT_META] = (size_t)size;
}

void minidraft_make(struct minidraft *db, const struct minidraft_options *options)
{
    make_document(db, options);
    make_profiles(db, options);
    make_contexts(db, options);
    make_traces(db, options);
}

void minidraft_files(const struct minidraft *db, lode_memory_file files[HPCT_FILES])
{
    static const char *const names[HPCT_FILES] = {"experiment.xml", "profile.db", "cct.db", "trace.db"};
    for (unsigned i = 0; i < HPCT_FILES; i++)
        files[i] = (lode_memory_file){names[i], db->bytes[i], db->size[i]};
}

void minidraft_replace(struct minidraft *db, const char *old, const char *new)
{
    char *text = (char *)db->bytes[HPCT_META], *at = strstr(text, old), *changed = NULL;
    if (at == NULL)
        abort();
    int size = asprintf(&changed, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    if (size < 0)
        abort();
    free(text);
    db->bytes[HPCT_META] = (unsigned char *)changed;
    db->size[HPCT_META] = (size_t)size;
}

void minidraft_free(struct minidraft *db)
{
    for (unsigned i = 0; i < HPCT_FILES; i++)
        free(db->bytes[i]);
}
