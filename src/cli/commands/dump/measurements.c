/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/dump/dump.h"
#include "interrupt.h"
#include "output/report.h"
#include "stores/damage.h"
#include "stores/stores.h"

#include <lode/private/raw.h>
#include <stdio.h>

/* The member of a profile that parts are added to. */
enum member {
    MEMBER_NONE,
    MEMBER_NODES,
    MEMBER_VALUES,
    MEMBER_SAMPLES
};

/* What is open in the document. */
typedef struct raw_dump {
    out *out;
    unsigned only;
    int has_begun;   /* the document */
    int is_in_file;  /* an object of the list of profiles */
    int is_in_trace; /* its member */
    int has_trace;
    enum member member;
    int is_in_node; /* values of one are open */
    uint32_t node;
} raw_dump;

static int goes_on(const raw_dump *d)
{
    return !out_has_failed(d->out) && !interrupt_is_due();
}

/* Nothing is written before a file could be read. */
static void begin_document(raw_dump *d)
{
    if (d->has_begun)
        return;
    out_begin(d->out, SCHEMA_DUMP_MEASUREMENTS, NULL);
    json_text(d->out, "format", "hpcrun");
    json_line(d->out);
    json_array(d->out, "profiles");
    d->has_begun = 1;
}

static void begin_file(raw_dump *d, const char *file)
{
    begin_document(d);
    if (d->is_in_file)
        return;
    json_line(d->out);
    json_object(d->out, NULL);
    json_text(d->out, "file", file);
    d->is_in_file = 1;
    d->has_trace = 0;
}

static void end_node(raw_dump *d)
{
    if (d->is_in_node)
        json_object_end(d->out);
    d->is_in_node = 0;
}

static void end_member(raw_dump *d)
{
    end_node(d);
    if (d->member == MEMBER_VALUES)
        json_object_end(d->out);
    else if (d->member != MEMBER_NONE)
        json_array_end(d->out);
    d->member = MEMBER_NONE;
}

/* ---- tables ---- */

static void write_modules(out *o, const lode_raw_profile *profile)
{
    json_array(o, "modules");
    for (uint32_t i = 0; i < profile->module_count; i++) {
        json_object(o, NULL);
        json_u64(o, "id", i + 1);
        json_text(o, "path", profile->modules[i].path);
        json_u64(o, "flags", profile->modules[i].flags);
        json_object_end(o);
    }
    json_array_end(o);
}

static void write_metrics(out *o, const lode_raw_profile *profile)
{
    json_array(o, "metrics");
    for (uint32_t i = 0; i < profile->metric_count; i++) {
        const lode_raw_metric *metric = &profile->metrics[i];
        json_object(o, NULL);
        json_text(o, "name", metric->name);
        json_text(o, "description", metric->description);
        json_text(o, "formula", metric->formula[0] ? metric->formula : NULL);
        json_text(o, "format", metric->format);
        json_u64(o, "period", metric->period);
        json_u64(o, "type", metric->type);
        json_u64(o, "visibility", metric->visibility);
        json_bool(o, "is_integer", metric->is_integer);
        json_bool(o, "is_relation", metric->is_relation);
        json_bool(o, "shows_percent", metric->shows_percent);
        json_object_end(o);
    }
    json_array_end(o);
}

static void write_ids(out *o, const lode_raw_profile *profile)
{
    json_array(o, "id_kinds");
    for (uint32_t i = 0; i < profile->id_kind_count; i++) {
        json_object(o, NULL);
        json_u64(o, "kind", profile->id_kinds[i].kind);
        json_text(o, "name", profile->id_kinds[i].name);
        json_object_end(o);
    }
    json_array_end(o);
    json_array(o, "ids");
    for (uint32_t i = 0; i < profile->id_count; i++) {
        const lode_raw_id *id = &profile->ids[i];
        json_object(o, NULL);
        json_u64(o, "kind", id->kind);
        json_u64(o, "meaning", id->meaning);
        json_digits(o, "physical", id->physical);
        json_digits(o, "logical", id->logical);
        json_object_end(o);
    }
    json_array_end(o);
}

static int on_profile(void *user, const lode_raw_profile *profile)
{
    raw_dump *d = user;
    begin_file(d, profile->file);
    if (!(d->only & DUMP_META))
        return !goes_on(d);
    json_object(d->out, "attributes");
    for (uint32_t i = 0; i < profile->attribute_count; i++)
        json_text(d->out, profile->attributes[i].name, profile->attributes[i].value);
    json_object_end(d->out);
    write_modules(d->out, profile);
    write_metrics(d->out, profile);
    write_ids(d->out, profile);
    return !goes_on(d);
}

/* ---- records ---- */

static int on_nodes(void *user, const lode_raw_node *nodes, size_t count)
{
    raw_dump *d = user;
    if (d->member != MEMBER_NODES)
        json_array(d->out, "nodes");
    d->member = MEMBER_NODES;
    for (size_t i = 0; i < count; i++) {
        json_object(d->out, NULL);
        json_u64(d->out, "id", nodes[i].id);
        json_u64(d->out, "parent", nodes[i].parent);
        json_u64(d->out, "module", nodes[i].module);
        json_digits(d->out, "offset", nodes[i].offset);
        json_u64(d->out, "flags", nodes[i].flags);
        json_object_end(d->out);
    }
    return !goes_on(d);
}

static void write_value(raw_dump *d, const lode_raw_value *value)
{
    char key[16];
    if (!d->is_in_node || d->node != value->node) {
        end_node(d);
        json_number_key_object(d->out, value->node);
        d->node = value->node;
        d->is_in_node = 1;
    }
    snprintf(key, sizeof key, "%u", (unsigned)value->metric);
    if (value->is_integer)
        json_u64(d->out, key, value->bits);
    else
        json_real(d->out, key, value->number);
}

static int on_values(void *user, const lode_raw_value *values, size_t count)
{
    raw_dump *d = user;
    if (d->member != MEMBER_VALUES) {
        end_member(d);
        json_object(d->out, "values");
    }
    d->member = MEMBER_VALUES;
    for (size_t i = 0; i < count; i++)
        write_value(d, &values[i]);
    return !goes_on(d);
}

static int on_trace(void *user, const lode_raw_trace *trace)
{
    raw_dump *d = user;
    end_member(d);
    begin_file(d, NULL);
    if (!(d->only & DUMP_TRACES))
        return !goes_on(d);
    json_object(d->out, "trace");
    json_text(d->out, "file", trace->file);
    json_u64(d->out, "flags", trace->flags);
    d->is_in_trace = d->has_trace = 1;
    return !goes_on(d);
}

static int on_samples(void *user, const lode_raw_sample *samples, size_t count)
{
    raw_dump *d = user;
    if (d->member != MEMBER_SAMPLES)
        json_array(d->out, "samples");
    d->member = MEMBER_SAMPLES;
    for (size_t i = 0; i < count; i++) {
        json_array(d->out, NULL);
        json_digits(d->out, NULL, samples[i].time);
        json_u64(d->out, NULL, samples[i].node);
        json_array_end(d->out);
    }
    return !goes_on(d);
}

static int on_end(void *user)
{
    raw_dump *d = user;
    end_member(d);
    if (d->is_in_trace)
        json_object_end(d->out);
    else if ((d->only & DUMP_TRACES) && !d->has_trace)
        json_null(d->out, "trace");
    json_object_end(d->out);
    d->is_in_file = d->is_in_trace = 0;
    return !goes_on(d);
}

/* ---- the document ---- */

static void end_document(raw_dump *d, const lode_measurements *m)
{
    begin_document(d);
    json_array_end(d->out);
    json_line(d->out);
    json_array(d->out, "skipped");
    for (uint32_t i = 0; i < lode_measurements_skip_count(m); i++) {
        const lode_measured_skip *skip = lode_measurements_skip(m, i);
        json_object(d->out, NULL);
        json_text(d->out, "file", skip->file);
        json_text(d->out, "text", skip->text);
        json_object_end(d->out);
    }
    json_array_end(d->out);
    out_end(d->out);
}

int dump_measurements(out *o, const char *path, unsigned only)
{
    raw_dump d = {.out = o, .only = only};
    lode_raw_visitor visitor = LODE_RAW_VISITOR_INIT;
    lode_measurements *m;
    lode_error error = {0};
    visitor.on_profile = on_profile;
    visitor.on_nodes = only & DUMP_CONTEXTS ? on_nodes : NULL;
    visitor.on_values = only & DUMP_PROFILES ? on_values : NULL;
    visitor.on_trace = on_trace;
    visitor.on_samples = only & DUMP_TRACES ? on_samples : NULL;
    visitor.on_end = on_end;
    visitor.user = &d;
    damage_check(&(damage_request){.path = path, .most_bytes = DAMAGE_READ_BYTES});
    lode_status status = lode_raw_visit(&m, path, &visitor, &error);
    if (status == LODE_ERR_CANCELLED)
        return EXIT_TROUBLE; /* what ended it is said elsewhere */
    if (status != LODE_OK)
        return d.has_begun ? report_error(path, &error) : store_unopened(path, &error);
    int has_profiles = lode_measurements_profile_count(m) > 0;
    if (has_profiles)
        end_document(&d, m);
    lode_measurements_close(m);
    report_look(path);
    return has_profiles ? EXIT_DONE : report("%s: there is no profile and no trace in it", path);
}
