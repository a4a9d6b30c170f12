/* SPDX-License-Identifier: BSD-3-Clause */
/* file-io: files are read and written. */
#include "analysis/diagnose/profiles/facts.h"

#define IO_MIN 0.10

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    struct path path;
    double share = lode_time_of_threads(d, SET(FILE), EVERYWHERE) /
                   ((double)d->profiles->thread_count * d->run.run_time);
    if (share - lode_share_error(d, share) <= IO_MIN)
        return LODE_OK;
    LODE_TRY(lode_diagnose_path(d, d->profiles->cost, SET(FILE), &path, error));
    struct draft draft = {.statement = {.id = "file-io", .confidence = LODE_LIKELY, .context = path.holder}};
    const char *entry = lode_name_of(d, path.entry), *holder = lode_name_of(d, path.holder);
    const char *words[] = {"tree", "--callers", entry, NULL};
    lode_set_gain(d, &draft, share);
    draft.statement.function = holder;
    draft.statement.text = lode_say(d, "File I/O takes %.0f%% of the run time, %s below %s.", 100 * share,
                                    lode_mostly(&path), holder);
    lode_set_command(lode_add_evidence(&draft,
                                       lode_say(d, "%s > %s: %.0f%% of it", holder, entry, 100 * path.share),
                                       path.share, "share"),
                     words);
    return lode_add_statement(d, &draft, error);
}

const struct rule lode_rule_file_io = {
    "file-io", "file I/O takes more than 10% of the run time",
    1u << NEED_METRIC | 1u << NEED_SAMPLES | 1u << NEED_ONE_RUN | 1u << NEED_CONSISTENT, run};
