/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/finding.h"

#include "base/comm/pack.h"
#include "base/comm/tree.h"
#include "base/error.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FINDING_TEXT_MAX = 400,
    READ_MOST = 100 /* findings of a rule that a reader buffers */
};

struct listed_finding {
    unsigned rule;
    uint64_t offset;
    char *text; /* and after its NUL, the file */
};

static const char *file_of(const struct listed_finding *kept)
{
    return kept->text + strlen(kept->text) + 1;
}

const char *lode_severity_name(lode_severity severity)
{
    static const char *const names[] = {"note", "warning", "error"};
    return (unsigned)severity < 3 ? names[severity] : "unknown";
}

const char *lode_check_level_name(lode_check_level level)
{
    static const char *const names[] = {"quick", "structure", "full"};
    return (unsigned)level < 3 ? names[level] : "unknown";
}

void lode_report_strict(struct lode_report *report, const lode_rule *rules, lode_error *error)
{
    *report = (struct lode_report){.rules = rules, .error = error};
}

lode_status lode_report_open(struct lode_report *report, const lode_rule *rules, size_t rule_count,
                             uint64_t limit, lode_finding_fn on_finding, void *user, lode_error *error)
{
    *report = (struct lode_report){.rules = rules,
                                   .rule_count = rule_count,
                                   .limit = limit ? limit : UINT64_MAX,
                                   .error = error,
                                   .on_finding = on_finding,
                                   .user = user};
    report->seen = calloc(rule_count, sizeof *report->seen);
    return report->seen ? LODE_OK : lode_fail_memory(error);
}

lode_status lode_report_begin(struct lode_report *report, const lode_rule *rules, size_t rule_count,
                              bool strict, lode_finding_fn on_finding, void *user, lode_error *error)
{
    if (!strict)
        return lode_report_open(report, rules, rule_count, 0, on_finding, user, error);
    lode_report_strict(report, rules, error);
    return LODE_OK;
}

lode_status lode_report_again(struct lode_report *report, const lode_rule *rules, size_t rule_count,
                              bool strict, lode_finding_fn on_finding, void *user, lode_error *error)
{
    uint64_t *seen = report->seen;
    if (strict || seen == NULL || report->kept || report->rule_count != rule_count) {
        lode_report_close(report);
        return lode_report_begin(report, rules, rule_count, strict, on_finding, user, error);
    }
    *report = (struct lode_report){.rules = rules,
                                   .rule_count = rule_count,
                                   .seen = memset(seen, 0, rule_count * sizeof *seen),
                                   .limit = UINT64_MAX,
                                   .error = error,
                                   .on_finding = on_finding,
                                   .user = user};
    return LODE_OK;
}

lode_status lode_report_keep(struct lode_report *report, const struct lode_report *model, lode_error *error)
{
    lode_status status =
        lode_report_open(report, model->rules, model->rule_count, model->limit, NULL, NULL, error);
    if (status != LODE_OK)
        return status;
    report->kept = malloc(sizeof *report->kept);
    LODE_TRY_ALLOC(report->kept, error);
    lode_array_init(report->kept, sizeof(struct listed_finding), SIZE_MAX);
    return LODE_OK;
}

lode_status lode_report_read(struct lode_report *report, const lode_rule *rules, size_t rule_count,
                             lode_error *error)
{
    const struct lode_report model = {.rules = rules, .rule_count = rule_count, .limit = READ_MOST};
    LODE_TRY(lode_report_keep(report, &model, error));
    report->stops = true;
    return LODE_OK;
}

int lode_report_each(const struct lode_report *report, lode_finding_fn on_finding, void *user)
{
    int result = 0;
    for (size_t i = 0; report->kept && i < report->kept->count && result == 0; i++) {
        const struct listed_finding *kept = LODE_ARRAY_AT(report->kept, struct listed_finding, i);
        const lode_rule *rule = &report->rules[kept->rule];
        result = on_finding(
            user, &(lode_finding){rule->id, rule->severity, file_of(kept), kept->offset, kept->text});
    }
    return result;
}

static void forget_kept(struct lode_report *report)
{
    for (size_t i = 0; report->kept && i < report->kept->count; i++)
        free(LODE_ARRAY_AT(report->kept, struct listed_finding, i)->text);
    if (report->kept)
        report->kept->count = 0;
}

void lode_report_close(struct lode_report *report)
{
    forget_kept(report);
    if (report->kept)
        lode_array_free(report->kept);
    free(report->kept);
    free(report->seen);
    *report = (struct lode_report){0};
}

static void count_finding(struct lode_report *report, lode_severity severity, uint64_t count)
{
    report->result.errors += severity == LODE_ERROR ? count : 0;
    report->result.warnings += severity == LODE_WARNING ? count : 0;
    report->result.notes += severity == LODE_NOTE ? count : 0;
}

static lode_status keep_finding(struct lode_report *report, unsigned rule, const lode_finding *finding)
{
    size_t text_size = strlen(finding->text) + 1, file_size = strlen(finding->file) + 1;
    char *text = malloc(text_size + file_size);
    struct listed_finding *kept = text ? lode_array_push(report->kept) : NULL;
    if (kept == NULL) {
        free(text);
        return lode_fail_memory(report->error);
    }
    memcpy(text, finding->text, text_size);
    memcpy(text + text_size, finding->file, file_size);
    *kept = (struct listed_finding){rule, finding->offset, text};
    return LODE_OK;
}

static lode_status pass_on(struct lode_report *report, unsigned rule, const char *file, uint64_t offset,
                           const char *text)
{
    const lode_rule *known = &report->rules[rule];
    count_finding(report, known->severity, 1);
    if (report->seen[rule]++ >= report->limit) {
        report->result.suppressed++;
        return LODE_OK;
    }
    lode_finding finding = {known->id, known->severity, file ? file : "", offset, text};
    if (report->kept)
        return keep_finding(report, rule, &finding);
    if (report->on_finding && report->on_finding(report->user, &finding) != 0)
        return lode_fail(report->error, LODE_ERR_CANCELLED, NULL, LODE_NO_OFFSET,
                         "cancelled by the callback");
    return LODE_OK;
}

lode_status lode_report_add(struct lode_report *report, unsigned rule, const char *file, uint64_t offset,
                            const char *format, ...)
{
    bool is_error = report->rules[rule].severity == LODE_ERROR;
    bool strict = report->seen == NULL || (report->stops && is_error);
    if (strict && !is_error)
        return LODE_OK;
    /* A damaged file can have millions: do not format what is only counted. */
    if (!strict && (report->seen[rule] >= report->limit || (!report->kept && !report->on_finding)))
        return pass_on(report, rule, file, offset, "");
    char text[FINDING_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (strict)
        return lode_fail(report->error, LODE_ERR_CORRUPT, file, offset, "%s (%s)", text,
                         report->rules[rule].id);
    return pass_on(report, rule, file, offset, text);
}

/* Counts findings that were not passed on: they exceed the limit. */
static void count_rest(struct lode_report *to, unsigned rule, uint64_t count)
{
    count_finding(to, to->rules[rule].severity, count);
    to->seen[rule] += count;
    to->result.suppressed += count;
}

/* What a result counts besides findings. */
enum {
    EXTENTS = 6
};

static void list_extents(lode_check_result *result, uint64_t *list[EXTENTS])
{
    list[0] = &result->contexts;
    list[1] = &result->profiles;
    list[2] = &result->values;
    list[3] = &result->samples;
    list[4] = &result->tracks;
    list[5] = &result->events;
}

lode_status lode_report_flush(struct lode_report *from, struct lode_report *to)
{
    lode_status status = LODE_OK;
    uint64_t *added[EXTENTS], *sums[EXTENTS];
    for (size_t i = 0; i < from->kept->count && status == LODE_OK; i++) {
        const struct listed_finding *kept = LODE_ARRAY_AT(from->kept, struct listed_finding, i);
        status = pass_on(to, kept->rule, file_of(kept), kept->offset, kept->text);
        from->seen[kept->rule]--;
    }
    forget_kept(from);
    for (unsigned rule = 0; rule < from->rule_count; rule++) {
        count_rest(to, rule, from->seen[rule]);
        from->seen[rule] = 0;
    }
    list_extents(&from->result, added);
    list_extents(&to->result, sums);
    for (size_t i = 0; i < EXTENTS; i++)
        *sums[i] += *added[i];
    from->result = (lode_check_result){0};
    return status;
}

/* ---- ranks ---- */

static bool pack_report(void *user, struct lode_blob *blob)
{
    const struct lode_report *report = user;
    lode_check_result result = report->result;
    uint64_t *extents[EXTENTS];
    list_extents(&result, extents);
    bool done = pack_number(blob, report->kept->count);
    for (size_t i = 0; i < report->kept->count && done; i++) {
        const struct listed_finding *kept = LODE_ARRAY_AT(report->kept, struct listed_finding, i);
        done = pack_number(blob, kept->rule) && pack_number(blob, kept->offset) &&
               pack_string(blob, kept->text) && pack_string(blob, file_of(kept));
    }
    for (size_t i = 0; i < EXTENTS && done; i++)
        done = pack_number(blob, *extents[i]);
    return done && pack_bytes(blob, report->seen, report->rule_count * sizeof *report->seen);
}

/* Like flushing the report that was packed. */
static lode_status take_report(void *user, unsigned level, const unsigned char *bytes, lode_error *error)
{
    struct lode_report *report = user;
    uint64_t count = unpack_number(&bytes), *extents[EXTENTS];
    uint64_t *passed = calloc(report->rule_count, sizeof *passed);
    lode_status status = passed ? LODE_OK : lode_fail_memory(error);
    (void)level;
    for (uint64_t i = 0; i < count && status == LODE_OK; i++) {
        unsigned rule = (unsigned)unpack_number(&bytes);
        uint64_t offset = unpack_number(&bytes);
        const char *text = unpack_string(&bytes), *file = unpack_string(&bytes);
        status = pass_on(report, rule, file, offset, text);
        passed[rule]++;
    }
    list_extents(&report->result, extents);
    for (size_t i = 0; i < EXTENTS && status == LODE_OK; i++)
        *extents[i] += unpack_number(&bytes);
    for (unsigned rule = 0; rule < report->rule_count && status == LODE_OK; rule++)
        count_rest(report, rule, unpack_number(&bytes) - passed[rule]);
    free(passed);
    return status;
}

lode_status lode_report_gather(struct lode_report *from, struct lode_report *to, struct lode_comm *comm)
{
    const struct lode_comm_reduction reduction = {take_report, pack_report, from};
    from->error = to->error;
    LODE_TRY(lode_comm_reduce(comm, &reduction, to->error));
    if (comm->place.rank == 0)
        LODE_TRY(lode_report_flush(from, to));
    LODE_TRY(lode_comm_broadcast(comm, to->seen, to->rule_count * sizeof *to->seen, to->error));
    return lode_comm_broadcast(comm, &to->result, sizeof to->result, to->error);
}

uint64_t lode_report_seen(const struct lode_report *report, unsigned rule)
{
    return report->seen ? report->seen[rule] : 0;
}
