/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asking on several ranks: structure files, then binaries, are shared out, so that each is read
 * once. A rank records its answers and findings; rank 0 replays them in the order of the files, as
 * if it had read all. What a rank could not read, rank 0 reads then.
 */
#include "base/comm/pack.h"
#include "format/hpcrun/source/answers.h"
#include "format/hpcrun/source/expand.h"
#include <stdlib.h>
#include <string.h>

/* A structure file, or a question whose binary is read. */
struct unit {
    struct hpcrun_structure_file file;
    uint32_t question; /* LODE_NO_NUMBER: of a file */
    uint32_t rank;
    uint64_t size;
};

enum record {
    RECORD_END,    /* of a unit that was read */
    RECORD_FAILED, /* the end of one that was not */
    RECORD_ANSWER,
    RECORD_FINDING
};

/* ---- recording, on any rank ---- */

struct recording {
    struct lode_blob blob;
    struct hpcrun_scopes *scopes;
    bool is_full; /* out of memory */
};

static lode_status record_answer(void *user, uint32_t question, const struct hpcrun_answer *answer,
                                 lode_error *error)
{
    struct recording *self = user;
    const struct hpcrun_question *asked =
        LODE_ARRAY_AT(&self->scopes->questions, struct hpcrun_question, question);
    bool done = pack_number(&self->blob, RECORD_ANSWER) &&
                lode_hpcrun_answer_pack(&self->blob, asked, question, answer);
    LODE_TRY_ALLOC(done, error);
    return LODE_OK;
}

static unsigned rule_of(const char *id)
{
    unsigned rule = 0;
    while (rule + 1 < HPCRUN_RULE_COUNT && strcmp(lode_hpcrun_rules[rule].id, id) != 0)
        rule++;
    return rule;
}

static int record_finding(void *user, const lode_finding *finding)
{
    struct recording *self = user;
    bool done = pack_number(&self->blob, RECORD_FINDING) &&
                pack_number(&self->blob, rule_of(finding->rule)) && pack_string(&self->blob, finding->file) &&
                pack_number(&self->blob, finding->offset) && pack_string(&self->blob, finding->text);
    self->is_full |= !done;
    return !done;
}

static lode_status ask_unit(struct hpcrun_scopes *scopes, const struct hpcrun_asking *asking,
                            const struct unit *unit, lode_error *error)
{
    return unit->question == LODE_NO_NUMBER ? lode_hpcrun_ask_structure(scopes, asking, &unit->file, error)
                                            : lode_hpcrun_ask_binary(scopes, asking, unit->question, error);
}

/* A unit that failed leaves no records: only that it failed. */
static lode_status record_unit(struct recording *self, struct hpcrun_asking *asking, const struct unit *unit,
                               lode_error *error)
{
    size_t begin = self->blob.size;
    lode_error ignored;
    lode_status status = ask_unit(self->scopes, asking, unit, &ignored);
    if (status != LODE_OK)
        self->blob.size = begin;
    bool done = !self->is_full && pack_number(&self->blob, status == LODE_OK ? RECORD_END : RECORD_FAILED);
    LODE_TRY_ALLOC(done, error);
    return LODE_OK;
}

static lode_status record_units(struct recording *self, struct hpcrun_asking *asking,
                                const struct lode_array *units, uint32_t rank, lode_error *error)
{
    struct lode_report report;
    LODE_TRY(lode_report_open(&report, lode_hpcrun_rules, HPCRUN_RULE_COUNT, 0, record_finding, self, error));
    asking->report = &report;
    lode_status status = LODE_OK;
    for (size_t i = 0; i < units->count && status == LODE_OK; i++) {
        const struct unit *unit = LODE_ARRAY_AT(units, struct unit, i);
        if (unit->rank == rank)
            status = record_unit(self, asking, unit, error);
    }
    lode_report_close(&report);
    asking->report = NULL;
    return status;
}

/* ---- messages ---- */

/* Questions without an answer, and who reads what. */
static bool pack_task(struct lode_blob *blob, const struct hpcrun_scopes *scopes,
                      const struct lode_array *units)
{
    bool done = pack_number(blob, units->count) && pack_number(blob, scopes->questions.count);
    for (size_t i = 0; i < scopes->questions.count && units->count > 0 && done; i++) {
        const struct hpcrun_question *asked = LODE_ARRAY_AT(&scopes->questions, struct hpcrun_question, i);
        uint32_t count = asked->is_complete ? 0 : asked->count;
        done = pack_string(blob, asked->path) && pack_number(blob, asked->directory != NULL) &&
               pack_string(blob, asked->directory ? asked->directory : "") &&
               pack_number(blob, asked->is_complete) && pack_number(blob, count) &&
               pack_bytes(blob, asked->offsets, count * sizeof *asked->offsets) &&
               pack_bytes(blob, asked->inferred, count * sizeof *asked->inferred);
    }
    for (size_t i = 0; i < units->count && done; i++) {
        const struct unit *unit = LODE_ARRAY_AT(units, struct unit, i);
        done = pack_number(blob, unit->rank) && pack_number(blob, unit->question) &&
               pack_number(blob, unit->file.directory != NULL) &&
               pack_string(blob, unit->file.directory ? unit->file.directory : "") &&
               pack_string(blob, unit->file.name ? unit->file.name : "");
    }
    return done;
}

static bool unpack_question(const unsigned char **at, struct hpcrun_scopes *scopes)
{
    const char *path = unpack_string(at);
    bool has_directory = unpack_number(at) != 0;
    const char *directory = unpack_string(at);
    bool is_complete = unpack_number(at) != 0;
    uint32_t count = (uint32_t)unpack_number(at);
    uint64_t *offsets = calloc((size_t)count + 1, sizeof *offsets);
    bool *inferred = calloc((size_t)count + 1, sizeof *inferred);
    bool done = offsets && inferred;
    if (done) {
        unpack_bytes(at, offsets, count * sizeof *offsets);
        unpack_bytes(at, inferred, count * sizeof *inferred);
        done =
            lode_hpcrun_scopes_ask(scopes, path, has_directory ? directory : NULL, offsets, inferred, count);
    }
    if (done)
        LODE_ARRAY_AT(&scopes->questions, struct hpcrun_question, scopes->questions.count - 1)->is_complete =
            is_complete;
    free(offsets);
    free(inferred);
    return done;
}

/* Texts stay in the message. */
static bool unpack_task(const unsigned char *at, struct hpcrun_scopes *scopes, struct lode_array *units)
{
    uint64_t count = unpack_number(&at), questions = unpack_number(&at);
    bool done = true;
    for (uint64_t i = 0; i < questions && count > 0 && done; i++)
        done = unpack_question(&at, scopes);
    for (uint64_t i = 0; i < count && done; i++) {
        struct unit *unit = lode_array_push(units);
        if (unit == NULL)
            return false;
        *unit = (struct unit){.rank = (uint32_t)unpack_number(&at)};
        unit->question = (uint32_t)unpack_number(&at);
        bool has_directory = unpack_number(&at) != 0;
        unit->file.directory = unpack_string(&at);
        unit->file.name = unpack_string(&at);
        if (!has_directory)
            unit->file.directory = NULL;
    }
    return done;
}

/* ---- rank 0 ---- */

static lode_status replay_finding(const unsigned char **at, const struct hpcrun_asking *asking)
{
    unsigned rule = (unsigned)unpack_number(at);
    const char *file = unpack_string(at);
    uint64_t offset = unpack_number(at);
    return lode_report_add(asking->report, rule, file, offset, "%s", unpack_string(at));
}

static lode_status replay_unit(struct hpcrun_scopes *scopes, const struct hpcrun_asking *asking,
                               const struct unit *unit, const unsigned char **at, lode_error *error)
{
    for (;;) {
        uint64_t kind = unpack_number(at);
        if (kind == RECORD_END)
            return LODE_OK;
        if (kind == RECORD_FAILED) {
            lode_status status = ask_unit(scopes, asking, unit, error);
            bool may_miss = unit->question != LODE_NO_NUMBER || unit->file.directory;
            return status == LODE_ABSENT && may_miss ? LODE_OK : status;
        }
        LODE_TRY(kind == RECORD_FINDING ? replay_finding(at, asking)
                                        : lode_hpcrun_answer_replay(at, scopes, error));
    }
}

/* `sizes` are those of the messages of ranks, which stand one after the other. */
static lode_status replay(struct hpcrun_expanding *self, const struct lode_array *units,
                          const unsigned char *bytes, const uint64_t *sizes)
{
    uint32_t ranks = self->source->comm->place.size;
    const unsigned char **at = calloc(ranks, sizeof *at);
    LODE_TRY_ALLOC(at, self->error);
    for (uint32_t i = 0; i < ranks; i++) {
        at[i] = bytes;
        bytes += sizes[i];
    }
    lode_status status = LODE_OK;
    for (size_t i = 0; i < units->count && status == LODE_OK; i++) {
        const struct unit *unit = LODE_ARRAY_AT(units, struct unit, i);
        status = replay_unit(&self->scopes, &self->asking, unit, &at[unit->rank], self->error);
    }
    free(at);
    return status;
}

static int by_size(const void *left, const void *right)
{
    const struct unit *a = *(struct unit *const *)left, *b = *(struct unit *const *)right;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return (a > b) - (a < b);
}

/* The largest first, each to the rank that has least. */
static lode_status share_out(struct lode_array *units, uint32_t ranks, lode_error *error)
{
    struct unit **sorted = calloc(units->count + 1, sizeof(struct unit *));
    uint64_t *sums = calloc(ranks, sizeof *sums);
    for (size_t i = 0; i < units->count && sorted; i++)
        sorted[i] = LODE_ARRAY_AT(units, struct unit, i);
    if (sorted && units->count > 1)
        qsort(sorted, units->count, sizeof(struct unit *), by_size);
    for (size_t i = 0; i < units->count && sorted && sums; i++) {
        uint32_t least = 0;
        for (uint32_t k = 1; k < ranks; k++)
            least = sums[k] < sums[least] ? k : least;
        sorted[i]->rank = least;
        sums[least] += sorted[i]->size + 1;
    }
    bool done = sorted && sums;
    free(sorted);
    free(sums);
    LODE_TRY_ALLOC(done, error);
    return LODE_OK;
}

/* ---- a round, on all ranks ---- */

static lode_status spread_task(struct lode_comm *comm, struct lode_blob *task, lode_error *error)
{
    uint64_t size = task->size;
    LODE_TRY(lode_comm_broadcast(comm, &size, sizeof size, error));
    if (comm->place.rank > 0)
        LODE_TRY_ALLOC(lode_blob_extend(task, size) != LODE_BLOB_FULL, error);
    LODE_TRY_ALLOC(task->bytes, error); /* a message is never empty */
    return lode_comm_broadcast(comm, task->bytes, size, error);
}

/* Records what this rank reads; `scopes` gets questions from the message. */
static lode_status do_task(struct hpcrun_expanding *self, const struct lode_blob *task, struct recording *out)
{
    struct hpcrun_scopes scopes;
    struct lode_array units;
    lode_hpcrun_scopes_init(&scopes);
    lode_array_init(&units, sizeof(struct unit), UINT32_MAX - 1);
    scopes.on_answer = record_answer;
    scopes.user = out;
    out->scopes = &scopes;
    struct hpcrun_asking asking = self->asking;
    lode_status status = unpack_task(task->bytes, &scopes, &units) ? LODE_OK : lode_fail_memory(self->error);
    if (status == LODE_OK)
        status = record_units(out, &asking, &units, self->source->comm->place.rank, self->error);
    lode_array_free(&units);
    lode_hpcrun_scopes_free(&scopes);
    return status;
}

/* Rank 0 has `units` and gets answers; NULL elsewhere. */
static lode_status round_of(struct hpcrun_expanding *self, struct lode_array *units)
{
    struct lode_comm *comm = self->source->comm;
    struct lode_blob task = {0};
    struct recording recording = {0};
    uint64_t *sizes = calloc(comm->place.size, sizeof *sizes), total;
    void *all = NULL;
    lode_status status = sizes ? LODE_OK : lode_fail_memory(self->error);
    if (status == LODE_OK && units) {
        status = share_out(units, comm->place.size, self->error);
        if (status == LODE_OK && !pack_task(&task, &self->scopes, units))
            status = lode_fail_memory(self->error);
    }
    if (status == LODE_OK)
        status = spread_task(comm, &task, self->error);
    if (status == LODE_OK)
        status = do_task(self, &task, &recording);
    if (status == LODE_OK)
        status = lode_comm_gather(comm, recording.blob.bytes, recording.blob.size, false, &all, &total, sizes,
                                  self->error);
    lode_blob_free(&recording.blob);
    lode_blob_free(&task);
    if (status == LODE_OK && units)
        status = replay(self, units, all, sizes);
    free(all);
    free(sizes);
    return status;
}

/* ---- all rounds ---- */

static lode_status list_files(const struct hpcrun_asking *asking, struct lode_arena *arena,
                              struct lode_array *units, lode_error *error)
{
    struct lode_array files;
    lode_array_init(&files, sizeof(struct hpcrun_structure_file), UINT32_MAX - 1);
    lode_status status = lode_hpcrun_list_structures(asking, arena, &files, error);
    for (size_t i = 0; i < files.count && status == LODE_OK; i++) {
        const struct hpcrun_structure_file *file = LODE_ARRAY_AT(&files, struct hpcrun_structure_file, i);
        struct unit *unit = lode_array_push(units);
        if (unit)
            *unit = (struct unit){.file = *file, .question = LODE_NO_NUMBER, .size = file->size};
        else
            status = lode_fail_memory(error);
    }
    lode_array_free(&files);
    return status;
}

static lode_status list_binaries(const struct hpcrun_scopes *scopes, const struct hpcrun_asking *asking,
                                 struct lode_array *units, lode_error *error)
{
    units->count = 0;
    for (uint32_t i = 0; i < scopes->questions.count; i++) {
        uint64_t size = lode_hpcrun_binary_size(scopes, asking, i);
        if (size == 0)
            continue;
        struct unit *unit = lode_array_push(units);
        LODE_TRY_ALLOC(unit, error);
        *unit = (struct unit){.question = i, .size = size};
    }
    return LODE_OK;
}

static lode_status ask_rounds(struct hpcrun_expanding *self, struct lode_arena *arena,
                              struct lode_array *units)
{
    LODE_TRY(list_files(&self->asking, arena, units, self->error));
    LODE_TRY(round_of(self, units));
    LODE_TRY(list_binaries(&self->scopes, &self->asking, units, self->error));
    return round_of(self, units);
}

lode_status lode_hpcrun_ask_shared(struct hpcrun_expanding *self)
{
    struct lode_arena arena;
    struct lode_array units;
    LODE_TRY(lode_hpcrun_ask_logical(&self->scopes, &self->asking, self->error));
    LODE_TRY(lode_hpcrun_ask_kernels(&self->scopes, &self->asking, self->error));
    lode_arena_init(&arena, SIZE_MAX);
    lode_array_init(&units, sizeof(struct unit), UINT32_MAX - 1);
    lode_status status = ask_rounds(self, &arena, &units);
    lode_array_free(&units);
    lode_arena_free(&arena);
    return status;
}

lode_status lode_hpcrun_ask_share(struct hpcrun_expanding *self)
{
    LODE_TRY(round_of(self, NULL));
    return round_of(self, NULL);
}
