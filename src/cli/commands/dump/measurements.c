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
    OUT_FIELDS(d->out, "format", "hpcrun");
    out_break(d->out);
    out_array(d->out, "profiles");
    d->has_begun = 1;
}

static void begin_file(raw_dump *d, const char *file)
{
    begin_document(d);
    if (d->is_in_file)
        return;
    out_break(d->out);
    out_object(d->out, NULL);
    OUT_FIELDS(d->out, "file", file);
    d->is_in_file = 1;
    d->has_trace = 0;
}

static void end_node(raw_dump *d)
{
    if (d->is_in_node)
        out_object_end(d->out);
    d->is_in_node = 0;
}

static void end_member(raw_dump *d)
{
    end_node(d);
    if (d->member == MEMBER_VALUES)
        out_object_end(d->out);
    else if (d->member != MEMBER_NONE)
        out_array_end(d->out);
    d->member = MEMBER_NONE;
}

/* ---- tables ---- */

static void write_modules(out *o, const lode_raw_profile *profile)
{
    out_array(o, "modules");
    for (uint32_t i = 0; i < profile->module_count; i++) {
        OUT_OBJECT(o, NULL, "id", i + 1, "path", profile->modules[i].path, "flags",
                   profile->modules[i].flags);
    }
    out_array_end(o);
}

static void write_metrics(out *o, const lode_raw_profile *profile)
{
    out_array(o, "metrics");
    for (uint32_t i = 0; i < profile->metric_count; i++) {
        const lode_raw_metric *metric = &profile->metrics[i];
        OUT_OBJECT(o, NULL, "name", metric->name, "description", metric->description, "formula",
                   metric->formula[0] ? metric->formula : NULL, "format", metric->format, "period",
                   metric->period, "type", metric->type, "visibility", metric->visibility, "is_integer",
                   metric->is_integer, "is_relation", metric->is_relation, "shows_percent",
                   metric->shows_percent);
    }
    out_array_end(o);
}

static void write_ids(out *o, const lode_raw_profile *profile)
{
    out_array(o, "id_kinds");
    for (uint32_t i = 0; i < profile->id_kind_count; i++) {
        OUT_OBJECT(o, NULL, "kind", profile->id_kinds[i].kind, "name", profile->id_kinds[i].name);
    }
    out_array_end(o);
    out_array(o, "ids");
    for (uint32_t i = 0; i < profile->id_count; i++) {
        const lode_raw_id *id = &profile->ids[i];
        OUT_OBJECT(o, NULL, "kind", id->kind, "meaning", id->meaning, "physical", out_digits(id->physical),
                   "logical", out_digits(id->logical));
    }
    out_array_end(o);
}

static int on_profile(void *user, const lode_raw_profile *profile)
{
    raw_dump *d = user;
    begin_file(d, profile->file);
    if (!(d->only & DUMP_META))
        return !goes_on(d);
    out_object(d->out, "attributes");
    for (uint32_t i = 0; i < profile->attribute_count; i++)
        OUT_FIELDS(d->out, profile->attributes[i].name, profile->attributes[i].value);
    out_object_end(d->out);
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
        out_array(d->out, "nodes");
    d->member = MEMBER_NODES;
    for (size_t i = 0; i < count; i++) {
        OUT_OBJECT(d->out, NULL, "id", nodes[i].id, "parent", nodes[i].parent, "module", nodes[i].module,
                   "offset", out_digits(nodes[i].offset), "flags", nodes[i].flags);
    }
    return !goes_on(d);
}

static void write_value(raw_dump *d, const lode_raw_value *value)
{
    char key[16];
    if (!d->is_in_node || d->node != value->node) {
        end_node(d);
        out_number_key_object(d->out, value->node);
        d->node = value->node;
        d->is_in_node = 1;
    }
    snprintf(key, sizeof key, "%u", (unsigned)value->metric);
    OUT_FIELDS(d->out, key, value->is_integer ? out_u64(value->bits) : out_real(value->number));
}

static int on_values(void *user, const lode_raw_value *values, size_t count)
{
    raw_dump *d = user;
    if (d->member != MEMBER_VALUES) {
        end_member(d);
        out_object(d->out, "values");
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
    out_object(d->out, "trace");
    OUT_FIELDS(d->out, "file", trace->file, "flags", trace->flags);
    d->is_in_trace = d->has_trace = 1;
    return !goes_on(d);
}

static int on_samples(void *user, const lode_raw_sample *samples, size_t count)
{
    raw_dump *d = user;
    if (d->member != MEMBER_SAMPLES)
        out_array(d->out, "samples");
    d->member = MEMBER_SAMPLES;
    for (size_t i = 0; i < count; i++) {
        OUT_ARRAY(d->out, NULL, out_digits(samples[i].time), samples[i].node);
    }
    return !goes_on(d);
}

static int on_end(void *user)
{
    raw_dump *d = user;
    end_member(d);
    if (d->is_in_trace)
        out_object_end(d->out);
    else if ((d->only & DUMP_TRACES) && !d->has_trace)
        OUT_FIELDS(d->out, "trace", out_none());
    out_object_end(d->out);
    d->is_in_file = d->is_in_trace = 0;
    return !goes_on(d);
}

/* ---- the document ---- */

static void end_document(raw_dump *d, const lode_measurements *m)
{
    begin_document(d);
    out_array_end(d->out);
    out_break(d->out);
    out_array(d->out, "skipped");
    for (uint32_t i = 0; i < lode_measurements_skip_count(m); i++) {
        const lode_measured_skip *skip = lode_measurements_skip(m, i);
        OUT_OBJECT(d->out, NULL, "file", skip->file, "text", skip->text);
    }
    out_array_end(d->out);
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
