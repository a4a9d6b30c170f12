/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Activities that are no work of the program, by their share of the run time.
 * file-io: files are read and written. loading: code is loaded, and symbols are looked up.
 */
#include "analysis/diagnose/profiles/facts.h"

#define SHARE_MIN 0.10

static lode_status judge(struct lode_diagnosis *d, const char *id, const char *title, uint32_t set,
                         lode_error *error)
{
    struct path path;
    double share = lode_diagnose_time_of_threads(d, set, EVERYWHERE) /
                   ((double)d->profiles->thread_count * d->run.run_time);
    if (share - lode_diagnose_share_error(d, share) <= SHARE_MIN)
        return LODE_OK;
    LODE_TRY(lode_diagnose_path(d, d->profiles->cost, set, &path, error));
    struct draft draft = {.statement = {.id = id, .confidence = LODE_LIKELY, .context = path.holder}};
    const char *entry = lode_diagnose_name_of(d, path.entry), *holder = lode_diagnose_name_of(d, path.holder);
    lode_diagnose_set_gain(d, &draft, share);
    draft.statement.function = holder;
    lode_diagnose_set_text(d, &draft, "%s takes %.0f%% of the run time, %s below %s.", title, 100 * share,
                           lode_diagnose_mostly(&path), holder);
    lode_diagnose_show(d, &draft, path.share, "share", "%s > %s: %.0f%% of it", holder, entry,
                       100 * path.share);
    LODE_SET_COMMAND(&draft, "tree", "--callers", entry);
    return lode_diagnose_add_statement(d, &draft, error);
}

static lode_status run_file_io(struct lode_diagnosis *d, lode_error *error)
{
    return judge(d, "file-io", "File I/O", SET(FILE), error);
}

static lode_status run_loading(struct lode_diagnosis *d, lode_error *error)
{
    return judge(d, "loading", "Loading of code", SET(LOADER), error);
}

#define NEEDS (1u << NEED_METRIC | 1u << NEED_SAMPLES | 1u << NEED_ONE_RUN | 1u << NEED_CONSISTENT)

const struct lode_diagnose_rule lode_diagnose_profile_rule_file_io = {
    "file-io", "file I/O takes more than 10% of the run time", NEEDS, run_file_io};
const struct lode_diagnose_rule lode_diagnose_profile_rule_loading = {
    "loading", "loading code and looking up symbols takes more than 10% of the run time", NEEDS, run_loading};
