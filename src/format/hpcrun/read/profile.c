/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles: the frame of the file, and the sections whose records have no fixed size. */
#include "base/io/bytes.h"
#include "base/text/utf8.h"
#include "format/hpcrun/read/read.h"
#include <inttypes.h>

static const char *const section_names[HPCRUN_SECTIONS] = {
    "the header",       "the load map",     "the calling context tree",
    "the metric table", "the kinds of ids", "the values"};

static const char *const attribute_names[HPCRUN_ATTRIBUTES] = {
    "program-name", "program-path", "env-path",       "job-id",         "mpi-rank",      "thread-id",
    "host-id",      "process-id",   "trace-min-time", "trace-max-time", "trace-disorder"};

const char *lode_hpcrun_attribute_name(enum hpcrun_attribute attribute)
{
    return attribute_names[attribute];
}

void lode_hpcrun_init(struct hpcrun_profile *profile)
{
    *profile = (struct hpcrun_profile){0};
    lode_array_init(&profile->modules, sizeof(struct hpcrun_module), UINT16_MAX);
    lode_array_init(&profile->metrics, sizeof(struct hpcrun_metric), UINT16_MAX + 1);
    lode_array_init(&profile->id_kinds, sizeof(struct hpcrun_id_kind), UINT16_MAX);
    lode_array_init(&profile->ids, sizeof(struct hpcrun_Id), UINT16_MAX);
    lode_map_init(&profile->node_of);
}

void lode_hpcrun_free(struct hpcrun_profile *profile)
{
    lode_array_free(&profile->modules);
    lode_array_free(&profile->metrics);
    lode_array_free(&profile->id_kinds);
    lode_array_free(&profile->ids);
    lode_map_free(&profile->node_of);
}

/* ---- a section, from its first byte to its last ---- */

struct cursor {
    struct hpcrun_profile *profile;
    enum hpcrun_section section;
    struct lode_range rest;
    bool is_cut; /* something was longer than the rest */
};

static struct cursor begin(struct hpcrun_profile *profile, enum hpcrun_section section)
{
    return (struct cursor){.profile = profile, .section = section, .rest = profile->sections[section]};
}

/* NULL if there are fewer bytes. */
static const uint8_t *take(struct cursor *cursor, uint64_t size)
{
    struct lode_range part;
    if (cursor->is_cut || !lode_range_part(cursor->rest, 0, size, &part)) {
        cursor->is_cut = true;
        return NULL;
    }
    cursor->rest = (struct lode_range){part.data + size, cursor->rest.size - size};
    return part.data;
}

static uint32_t take_u32(struct cursor *cursor)
{
    const uint8_t *at = take(cursor, sizeof(uint32_t));
    return at ? get_u32be(at) : 0;
}

static uint16_t take_u16(struct cursor *cursor)
{
    const uint8_t *at = take(cursor, sizeof(uint16_t));
    return at ? get_u16be(at) : 0;
}

/* A string, which stays empty after a finding. */
static lode_status take_string(struct cursor *cursor, struct lode_range *out)
{
    uint32_t length = take_u32(cursor);
    const uint8_t *at = take(cursor, length);
    *out = (struct lode_range){at, at ? length : 0};
    if (at == NULL || length == 0)
        return LODE_OK;
    if (length > HPCRUN_STRING_MOST || memchr(at, '\0', length)) {
        out->size = 0;
        return hpcrun_finding(cursor->profile, HPCRUN_RULE_STRING, at, "a string of %" PRIu32 " bytes %s",
                              length, length > HPCRUN_STRING_MOST ? "is too long" : "holds a NUL");
    }
    if (lode_utf8_valid_prefix((const char *)at, length) < length)
        return hpcrun_finding(cursor->profile, HPCRUN_RULE_UTF8, at, "a name is not UTF-8");
    return LODE_OK;
}

/* LODE_END if the section did not hold what it should. */
static lode_status end(const struct cursor *cursor)
{
    const uint8_t *at = cursor->rest.data;
    if (!cursor->is_cut && cursor->rest.size == 0)
        return LODE_OK;
    if (cursor->is_cut)
        LODE_TRY(hpcrun_finding(cursor->profile, HPCRUN_RULE_SECTION_END, at, "%s ends within a record",
                                section_names[cursor->section]));
    else
        LODE_TRY(hpcrun_finding(cursor->profile, HPCRUN_RULE_SECTION_END, at,
                                "%s has %" PRIu64 " bytes after its last record",
                                section_names[cursor->section], cursor->rest.size));
    return LODE_END;
}

/* ---- the frame ---- */

static lode_status no_footer(struct hpcrun_profile *profile, const char *text)
{
    LODE_TRY(
        lode_report_add(profile->report, HPCRUN_RULE_FOOTER, profile->file, profile->bytes.size, "%s", text));
    return LODE_END;
}

static lode_status read_footer(struct hpcrun_profile *profile, struct hpcrun_Footer *footer)
{
    struct lode_range part;
    uint64_t size = profile->bytes.size;
    if (size < HPCRUN_Footer_SIZE ||
        !lode_range_part(profile->bytes, size - HPCRUN_Footer_SIZE, HPCRUN_Footer_SIZE, &part))
        return no_footer(profile, "the file is shorter than a footer");
    lode_hpcrun_read_Footer(footer, part.data);
    if (footer->magic != HPCRUN_FOOTER_MAGIC)
        return no_footer(profile, "the file does not end with HPCRUNsm");
    if (footer->footer_start == size - HPCRUN_Footer_SIZE)
        return LODE_OK;
    LODE_TRY(hpcrun_finding(profile, HPCRUN_RULE_SECTION, part.data + HPCRUN_Footer_footer_start,
                            "the footer says that it begins at 0x%" PRIx64, footer->footer_start));
    return LODE_END;
}

static lode_status place_section(struct hpcrun_profile *profile, enum hpcrun_section section, uint64_t start,
                                 uint64_t past, uint64_t before)
{
    const uint8_t *at = profile->bytes.data + profile->bytes.size - HPCRUN_Footer_SIZE +
                        (size_t)section * 2 * sizeof(uint64_t);
    if (start < before || past < start || past > profile->bytes.size - HPCRUN_Footer_SIZE) {
        LODE_TRY(hpcrun_finding(profile, HPCRUN_RULE_SECTION, at,
                                "%s is from 0x%" PRIx64 " to 0x%" PRIx64 "; it must begin after 0x%" PRIx64,
                                section_names[section], start, past, before));
        return LODE_END;
    }
    profile->sections[section] = (struct lode_range){profile->bytes.data + start, past - start};
    return start % HPCRUN_ALIGNMENT == 0
               ? LODE_OK
               : hpcrun_finding(profile, HPCRUN_RULE_ALIGNMENT, at, "%s begins at 0x%" PRIx64,
                                section_names[section], start);
}

static lode_status check_gap(struct hpcrun_profile *profile, const uint8_t *from, const uint8_t *to)
{
    while (from < to && *from == 0)
        from++;
    return from == to
               ? LODE_OK
               : hpcrun_finding(profile, HPCRUN_RULE_GAP, from, "a byte between two sections is not zero");
}

static lode_status check_gaps(struct hpcrun_profile *profile)
{
    const uint8_t *footer = profile->bytes.data + profile->bytes.size - HPCRUN_Footer_SIZE;
    const uint8_t *past = profile->bytes.data;
    for (unsigned i = 0; i < HPCRUN_SECTIONS; i++) {
        LODE_TRY(check_gap(profile, past, profile->sections[i].data));
        past = profile->sections[i].data + profile->sections[i].size;
    }
    return check_gap(profile, past, footer);
}

static lode_status read_frame(struct hpcrun_profile *profile)
{
    struct hpcrun_Footer f;
    LODE_TRY(read_footer(profile, &f));
    const uint64_t bounds[HPCRUN_SECTIONS][2] = {
        [HPCRUN_HEADER] = {f.header_start, f.header_end},
        [HPCRUN_LOAD_MAP] = {f.load_map_start, f.load_map_end},
        [HPCRUN_CCT] = {f.cct_start, f.cct_end},
        [HPCRUN_METRICS] = {f.metrics_start, f.metrics_end},
        [HPCRUN_ID_KINDS] = {f.id_kinds_start, f.id_kinds_end},
        [HPCRUN_VALUES] = {f.values_start, f.values_end},
    };
    uint64_t before = 0;
    for (unsigned i = 0; i < HPCRUN_SECTIONS; i++) {
        LODE_TRY(place_section(profile, (enum hpcrun_section)i, bounds[i][0], bounds[i][1], before));
        before = bounds[i][1];
    }
    struct lode_range header = profile->sections[HPCRUN_HEADER];
    if (header.size >= HPCRUN_BEGIN_SIZE && memcmp(header.data, HPCRUN_PROFILE_BEGIN, HPCRUN_BEGIN_SIZE) == 0)
        return LODE_OK;
    LODE_TRY(hpcrun_finding(profile, HPCRUN_RULE_HEADER, header.data, "the header does not begin with %s",
                            HPCRUN_PROFILE_BEGIN));
    return LODE_END;
}

/* ---- the header ---- */

/* Decimal digits; false if they are anything else. */
static bool parse_number(struct lode_range text, uint64_t *out)
{
    *out = 0;
    for (uint64_t i = 0; i < text.size; i++) {
        unsigned digit = (unsigned)text.data[i] - '0';
        if (digit > 9 || !checked_mul(*out, 10, out) || !checked_add(*out, digit, out))
            return false;
    }
    return text.size > 0;
}

static lode_status take_attribute(struct cursor *cursor)
{
    struct hpcrun_profile *profile = cursor->profile;
    struct lode_range name, value;
    const uint8_t *at = cursor->rest.data;
    LODE_TRY(take_string(cursor, &name));
    LODE_TRY(take_string(cursor, &value));
    if (cursor->is_cut)
        return LODE_OK;
    for (unsigned i = 0; i < HPCRUN_ATTRIBUTES; i++) {
        if (name.size != strlen(attribute_names[i]) || memcmp(name.data, attribute_names[i], name.size) != 0)
            continue;
        if (profile->attributes[i].data)
            return hpcrun_finding(profile, HPCRUN_RULE_ATTRIBUTE, at, "%s is there twice",
                                  attribute_names[i]);
        profile->attributes[i] = value;
        return LODE_OK;
    }
    return hpcrun_finding(profile, HPCRUN_RULE_ATTRIBUTE, at, "an attribute is not known");
}

/* Attributes that are needed as numbers. */
static lode_status read_numbers(struct hpcrun_profile *profile)
{
    const struct {
        enum hpcrun_attribute attribute;
        uint64_t *out;
    } numbers[] = {{HPCRUN_TRACE_MIN_TIME, &profile->trace_min},
                   {HPCRUN_TRACE_MAX_TIME, &profile->trace_max},
                   {HPCRUN_TRACE_DISORDER, &profile->disorder}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct lode_range text = profile->attributes[numbers[i].attribute];
        if (text.data == NULL || parse_number(text, numbers[i].out))
            continue;
        *numbers[i].out = 0;
        LODE_TRY(hpcrun_finding(profile, HPCRUN_RULE_ATTRIBUTE, text.data, "%s is not a number",
                                attribute_names[numbers[i].attribute]));
    }
    return LODE_OK;
}

static lode_status read_header(struct hpcrun_profile *profile)
{
    struct cursor cursor = begin(profile, HPCRUN_HEADER);
    take(&cursor, HPCRUN_BEGIN_SIZE);
    for (uint32_t count = take_u32(&cursor); count > 0 && !cursor.is_cut; count--)
        LODE_TRY(take_attribute(&cursor));
    LODE_TRY(end(&cursor));
    for (unsigned i = 0; i < HPCRUN_ATTRIBUTES; i++)
        if (profile->attributes[i].data == NULL)
            LODE_TRY(hpcrun_finding(profile, HPCRUN_RULE_ATTRIBUTE, profile->sections[HPCRUN_HEADER].data,
                                    "there is no %s", attribute_names[i]));
    return read_numbers(profile);
}

/* ---- load modules, metrics, kinds of ids ---- */

static lode_status take_module(struct cursor *cursor)
{
    struct hpcrun_profile *profile = cursor->profile;
    const uint8_t *at = cursor->rest.data;
    uint16_t id = take_u16(cursor);
    struct hpcrun_module module = {0};
    LODE_TRY(take_string(cursor, &module.path));
    const uint8_t *flags = take(cursor, sizeof(uint64_t));
    if (flags == NULL)
        return LODE_OK;
    module.flags = get_u64be(flags);
    if (id != profile->modules.count + 1) {
        LODE_TRY(hpcrun_finding(profile, HPCRUN_RULE_MODULE_ID, at, "load module %zu has the id %u",
                                profile->modules.count + 1, id));
        return LODE_END;
    }
    struct hpcrun_module *slot = lode_array_push(&profile->modules);
    LODE_TRY_ALLOC(slot, profile->report->error);
    *slot = module;
    return LODE_OK;
}

static lode_status read_load_map(struct hpcrun_profile *profile)
{
    struct cursor cursor = begin(profile, HPCRUN_LOAD_MAP);
    for (uint32_t count = take_u32(&cursor); count > 0 && !cursor.is_cut; count--)
        LODE_TRY(take_module(&cursor));
    return end(&cursor);
}

static bool is_known_layout(const struct hpcrun_MetricFlags *flags)
{
    return (flags->type == 1 || flags->type == 2) &&
           (flags->format == HPCRUN_FORMAT_INTEGER || flags->format == HPCRUN_FORMAT_REAL) &&
           flags->relation <= 1 && flags->show <= HPCRUN_SHOW_MOST && flags->zero == 0;
}

/* Tables have at most some hundred metrics: a search for each is cheap. */
static bool has_metric(const struct hpcrun_profile *profile, struct lode_range name)
{
    for (size_t i = 0; i < profile->metrics.count; i++) {
        struct lode_range other = LODE_ARRAY_AT(&profile->metrics, struct hpcrun_metric, i)->name;
        if (other.size == name.size && memcmp(other.data, name.data, name.size) == 0)
            return true;
    }
    return false;
}

static lode_status check_metric(struct hpcrun_profile *profile, const struct hpcrun_metric *metric,
                                const uint8_t *at)
{
    if (!is_known_layout(&metric->flags)) {
        LODE_TRY(hpcrun_finding(profile, HPCRUN_RULE_METRIC_FLAGS, at, "the flags of metric %zu are unknown",
                                profile->metrics.count));
        return LODE_END;
    }
    if (metric->name.size == 0)
        return hpcrun_finding(profile, HPCRUN_RULE_METRIC_NAME, at, "metric %zu has no name",
                              profile->metrics.count);
    return has_metric(profile, metric->name)
               ? hpcrun_finding(profile, HPCRUN_RULE_METRIC_NAME, at, "metric %zu has the name of another",
                                profile->metrics.count)
               : LODE_OK;
}

static lode_status take_metric(struct cursor *cursor)
{
    struct hpcrun_profile *profile = cursor->profile;
    const uint8_t *at = cursor->rest.data;
    struct hpcrun_metric metric = {0};
    LODE_TRY(take_string(cursor, &metric.name));
    LODE_TRY(take_string(cursor, &metric.description));
    const uint8_t *flags = take(cursor, HPCRUN_MetricFlags_SIZE);
    if (flags)
        lode_hpcrun_read_MetricFlags(&metric.flags, flags);
    LODE_TRY(take_string(cursor, &metric.formula));
    LODE_TRY(take_string(cursor, &metric.format));
    if (take(cursor, HPCRUN_MetricEnd_SIZE) == NULL)
        return LODE_OK;
    LODE_TRY(check_metric(profile, &metric, at));
    struct hpcrun_metric *slot = lode_array_push(&profile->metrics);
    LODE_TRY_ALLOC(slot, profile->report->error);
    *slot = metric;
    return LODE_OK;
}

static lode_status read_metrics(struct hpcrun_profile *profile)
{
    struct cursor cursor = begin(profile, HPCRUN_METRICS);
    uint32_t count = take_u32(&cursor);
    if (count > HPCRUN_METRICS_MOST) {
        LODE_TRY(hpcrun_finding(profile, HPCRUN_RULE_SECTION_END, profile->sections[HPCRUN_METRICS].data,
                                "there are %" PRIu32 " metrics; at most %d are read", count,
                                HPCRUN_METRICS_MOST));
        return LODE_END;
    }
    for (; count > 0 && !cursor.is_cut; count--)
        LODE_TRY(take_metric(&cursor));
    return end(&cursor);
}

static bool has_id_kind(const struct hpcrun_profile *profile, unsigned kind)
{
    for (size_t i = 0; i < profile->id_kinds.count; i++)
        if (LODE_ARRAY_AT(&profile->id_kinds, struct hpcrun_id_kind, i)->kind == kind)
            return true;
    return false;
}

static lode_status read_id_kinds(struct hpcrun_profile *profile)
{
    struct cursor cursor = begin(profile, HPCRUN_ID_KINDS);
    for (uint16_t count = take_u16(&cursor); count > 0; count--) {
        struct hpcrun_id_kind kind = {take_u16(&cursor), {0}};
        LODE_TRY(take_string(&cursor, &kind.name));
        if (cursor.is_cut)
            break;
        if (has_id_kind(profile, kind.kind)) {
            LODE_TRY(hpcrun_finding(profile, HPCRUN_RULE_ID_KIND, kind.name.data,
                                    "the kind of id %u is named twice", kind.kind));
            continue;
        }
        if (profile->id_kinds.count >= HPCRUN_ID_KINDS_MOST)
            continue;
        struct hpcrun_id_kind *slot = lode_array_push(&profile->id_kinds);
        LODE_TRY_ALLOC(slot, profile->report->error);
        *slot = kind;
    }
    return end(&cursor);
}

static lode_status read_id(struct hpcrun_profile *profile, const uint8_t *at)
{
    struct hpcrun_Id *id = lode_array_push(&profile->ids);
    LODE_TRY_ALLOC(id, profile->report->error);
    lode_hpcrun_read_Id(id, at);
    unsigned kind = id->kind & HPCRUN_ID_KIND;
    return has_id_kind(profile, kind) ? LODE_OK
                                      : hpcrun_finding(profile, HPCRUN_RULE_ID_KIND, at,
                                                       "an id is of kind %u, which has no name", kind);
}

/* The id tuple, and where values and their index are. */
static lode_status frame_values(struct hpcrun_profile *profile)
{
    struct cursor cursor = begin(profile, HPCRUN_VALUES);
    struct hpcrun_Counts counts = {0};
    uint16_t ids = take_u16(&cursor);
    if (ids == 0 && !cursor.is_cut)
        LODE_TRY(hpcrun_finding(profile, HPCRUN_RULE_ID_TUPLE, cursor.rest.data, "there is no id tuple"));
    const uint8_t *at = take(&cursor, (uint64_t)ids * HPCRUN_Id_SIZE);
    for (uint16_t i = 0; i < ids && at; i++)
        LODE_TRY(read_id(profile, at + (size_t)i * HPCRUN_Id_SIZE));
    at = take(&cursor, HPCRUN_Counts_SIZE);
    if (at)
        lode_hpcrun_read_Counts(&counts, at);
    uint64_t entries = (uint64_t)counts.nodes + 1, size = 0;
    cursor.is_cut |= !checked_mul(counts.values, HPCRUN_Value_SIZE, &size);
    at = take(&cursor, size);
    profile->values = (struct lode_range){at, size};
    at = take(&cursor, entries * HPCRUN_Index_SIZE);
    profile->index = (struct lode_range){at, entries * HPCRUN_Index_SIZE};
    profile->value_count = counts.values;
    profile->valued = counts.nodes;
    return end(&cursor);
}

lode_status lode_hpcrun_read(struct hpcrun_profile *profile, const char *file, struct lode_range bytes,
                             lode_check_level level, struct lode_report *report)
{
    profile->file = file;
    profile->bytes = bytes;
    profile->level = level;
    profile->report = report;
    LODE_TRY(read_frame(profile));
    if (level < LODE_CHECK_STRUCTURE)
        return LODE_END;
    LODE_TRY(check_gaps(profile));
    LODE_TRY(read_header(profile));
    LODE_TRY(read_load_map(profile));
    LODE_TRY(read_metrics(profile));
    LODE_TRY(read_id_kinds(profile));
    LODE_TRY(frame_values(profile));
    LODE_TRY(lode_hpcrun_read_tree(profile));
    return lode_hpcrun_read_values(profile);
}
