/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/shared/rewrite.h"

#include "alloc.h"
#include "interrupt.h"
#include "output/report.h"
#include "stores/damage.h"
#include "stores/rec_session.h"

#include <stdlib.h>
#include <string.h>

/* Recordings to be merged. The first has the slice, and gets findings and progress of all. */
typedef struct merger {
    rec_session *sessions;
    const lode_recording **recordings;
    size_t count;
    out *out;
    int is_refused; /* an error was met, and said, with --strict */
} merger;

static int is_rule_of_check(const char *rule)
{
    for (size_t i = 0; i < lode_rule_count(); i++)
        if (strcmp(lode_rule_at(i)->id, rule) == 0)
            return 1;
    return 0;
}

/* What a check would say too is counted; what only this work brings up is said. */
static int on_finding(void *user, const lode_finding *finding)
{
    merger *m = user;
    if (finding->severity == LODE_ERROR && m->sessions[0].shared->strict) {
        progress_clear(&m->sessions[0].progress);
        report("%s: %s (%s)", finding->file[0] ? finding->file : m->sessions[0].path, finding->text,
               finding->rule);
        m->is_refused = 1;
        return 1;
    }
    if (is_rule_of_check(finding->rule))
        return rec_on_finding(&m->sessions[0], finding);
    progress_clear(&m->sessions[0].progress);
    out_say(m->out, "%s %s: %s%s%s", lode_severity_name(finding->severity), finding->rule, finding->file,
            finding->file[0] ? ": " : "", finding->text);
    return out_is_lost(m->out);
}

static int on_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    merger *m = user;
    return rec_on_progress(&m->sessions[0], phase, done, total);
}

static int rewrite(merger *m, const rewrite_request *request)
{
    rec_session *s = &m->sessions[0];
    lode_error error = {0};
    lode_rewrite_options settings = LODE_REWRITE_OPTIONS_INIT;
    settings.force = request->force;
    settings.threads = rec_threads(s);
    settings.on_finding = on_finding;
    settings.on_progress = on_progress;
    settings.user = m;
    settings.to = request->format;
    interrupt_hold();
    lode_status status = lode_rewrite(m->recordings, m->count, request->target, &s->slice, &settings, &error);
    progress_clear(&s->progress);
    if (m->is_refused)
        return EXIT_TROUBLE;
    if (status != LODE_OK)
        return report_unwritten(request->target, &error);
    damage_copied(request->target);
    return EXIT_DONE;
}

static int open_recording(merger *m, const invocation *call, size_t index)
{
    rec_session *s = &m->sessions[index];
    const char *path = call->operands[index];
    int status = index == 0 ? rec_open_slice(s, path, call->shared) : rec_open(s, path, call->shared);
    m->count++;
    s->shows_notes = 1;
    if (status == EXIT_DONE)
        status = damage_refuse(&(damage_request){path, NULL, DAMAGE_WRITE_BYTES, call->shared->threads});
    m->recordings[index] = s->recording;
    return status;
}

int rewrite_recordings(const invocation *call, const rewrite_request *request)
{
    merger m = {.out = call->out};
    int status = EXIT_DONE;
    if (call->operand_count > 1 && (call->shared->tasks || call->shared->ids))
        return report("--%s needs a single recording (see 'lode help %s')",
                      call->shared->tasks ? "task" : "id", call->command->name);
    m.sessions = alloc_array(call->operand_count, sizeof *m.sessions);
    m.recordings = alloc_array(call->operand_count, sizeof *m.recordings);
    for (size_t i = 0; i < call->operand_count && status == EXIT_DONE; i++)
        status = open_recording(&m, call, i);
    if (status == EXIT_DONE)
        status = rewrite(&m, request);
    for (size_t i = 0; i < m.count; i++)
        rec_close(&m.sessions[i]);
    free(m.sessions);
    free(m.recordings);
    return status;
}
