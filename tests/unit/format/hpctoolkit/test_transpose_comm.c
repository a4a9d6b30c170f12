/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cct.db and the summary do not depend on the number of ranks. A single writer makes a database;
 * then communicators make it again from its profiles, each rank with its own. All four files must
 * be byte-identical.
 *
 * Ranks are threads, where cmocka cannot fail a test: they return what went wrong.
 */
#include "format/hpctoolkit/write/write.h"
#include "model/database/block_builder.h"
#include "transform/writer.h"
#include "writing.h"
#include <fcntl.h>
#include <math.h>

enum {
    METRICS = 3,
    VALUE_IDS = 2 * METRICS,
    MAX_MEMBERS = 16,
    UNLISTED = 3
};

/* ---- chance ---- */

static uint64_t chance(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static bool happens(uint64_t *state, unsigned percent)
{
    return chance(state) % 100 < percent;
}

/* Sums of these depend on the order in which they are added. */
static double some_value(uint64_t *state)
{
    return ldexp((double)(chance(state) % 1000000 + 1), (int)(chance(state) % 60) - 30);
}

/* ---- what is written ---- */

struct content {
    const char *name;
    uint32_t profiles, contexts;
    unsigned contexts_percent; /* of the contexts, those that a profile has values in */
    unsigned values_percent;   /* of the values at such a context, those that are there */
    uint32_t only;             /* profiles from this one on are empty */
};

static const struct content contents[] = {
    {"sparse", 40, 300, 20, 50, 40},
    {"dense", 23, 150, 100, 100, 23},
    {"one value in a group", 60, 200, 60, 10, 60},
    {"more members than contexts", 9, 2, 80, 80, 9},
    {"all values in a few profiles", 31, 220, 70, 70, 3},
    {"profiles without values", 12, 50, 0, 0, 12},
    {"no profiles", 0, 40, 0, 0, 0},
};

/* What every rank describes. */
static lode_status describe_metrics(struct lode_description *about, lode_error *error)
{
    static const char *const names[METRICS] = {"time (sec)", "calls", "bytes"};
    unsigned kind;
    uint32_t scopes[2], metric;
    uint16_t id;
    LODE_TRY(lode_description_add_id_kind(about, "NODE", &kind, error));
    LODE_TRY(lode_description_add_id_kind(about, "THREAD", &kind, error));
    LODE_TRY(lode_description_add_scope(about, "point", LODE_SCOPE_POINT, 0, &scopes[0], error));
    LODE_TRY(lode_description_add_scope(about, "execution", LODE_SCOPE_EXECUTION, 0, &scopes[1], error));
    for (unsigned m = 0; m < METRICS; m++) {
        LODE_TRY(lode_description_add_metric(about, names[m], &metric, error));
        for (unsigned s = 0; s < 2; s++) {
            LODE_TRY(lode_description_add_metric_scope(about, metric, scopes[s], &id, error));
            LODE_TRY(lode_description_add_statistic(about, metric, scopes[s], "$$", LODE_COMBINE_SUM, error));
            LODE_TRY(lode_description_add_statistic(about, metric, scopes[s], "$$", LODE_COMBINE_MIN, error));
            LODE_TRY(lode_description_add_statistic(about, metric, scopes[s], "1", LODE_COMBINE_SUM, error));
            LODE_TRY(
                lode_description_add_statistic(about, metric, scopes[s], "($$^2)", LODE_COMBINE_SUM, error));
        }
    }
    return LODE_OK;
}

/* What rank 0 describes. */
static lode_status describe_contexts(struct lode_description *about, const struct content *content,
                                     lode_error *error)
{
    lode_writer_context entry = LODE_WRITER_CONTEXT_INIT, line = LODE_WRITER_CONTEXT_INIT;
    uint32_t file, handle;
    LODE_TRY(lode_description_add_file(about, "/src/a.c", 0, NULL, &file, error));
    entry.entry = LODE_ENTRY_MAIN_THREAD;
    entry.entry_name = lode_entry_name(LODE_ENTRY_MAIN_THREAD);
    LODE_TRY(lode_description_add_context(about, &entry, &line.parent, error));
    line.lexical = LODE_LEXICAL_LINE;
    line.relation = LODE_RELATION_LEXICAL;
    line.file = file;
    for (uint32_t i = 1; i < content->contexts; i++) {
        line.line = i;
        LODE_TRY(lode_description_add_context(about, &line, &handle, error));
    }
    for (unsigned i = 0; i < UNLISTED; i++)
        LODE_TRY(lode_description_add_unlisted(about, &handle, error));
    return LODE_OK;
}

static lode_id id_of_profile(uint32_t profile)
{
    return (lode_id){.kind = 1, .logical = profile, .physical = profile};
}

static lode_status append_profile(lode_writer *writer, lode_profile_builder *builder,
                                  const struct content *content, uint32_t profile, lode_error *error)
{
    uint64_t state = profile + 1;
    const lode_id id = id_of_profile(profile);
    LODE_TRY(lode_profile_builder_begin(builder, &id, 1, error));
    for (uint32_t c = 0; c <= content->contexts + UNLISTED && profile < content->only; c++) {
        uint32_t context = c == 0 ? LODE_NONE : c - 1;
        if (!happens(&state, content->contexts_percent))
            continue;
        for (uint16_t v = 0; v < (uint16_t)VALUE_IDS; v++)
            if (happens(&state, content->values_percent))
                LODE_TRY(lode_profile_builder_value(builder, context, v, some_value(&state), error));
    }
    LODE_TRY(lode_profile_builder_end(builder, error));
    return lode_writer_append(writer, builder, error);
}

/* ---- alone ---- */

static lode_status write_profiles(lode_writer *writer, const struct content *content, lode_error *error)
{
    lode_profile_builder *builder = NULL;
    LODE_TRY(describe_metrics(&writer->about, error));
    LODE_TRY(describe_contexts(&writer->about, content, error));
    LODE_TRY(lode_writer_seal(writer, error));
    lode_status status = lode_profile_builder_create(&builder, writer, error);
    for (uint32_t profile = 0; profile < content->profiles && status == LODE_OK; profile++)
        status = append_profile(writer, builder, content, profile, error);
    lode_profile_builder_free(builder);
    return status == LODE_OK ? lode_writer_finish(writer, error) : status;
}

static lode_writer_options options_of(unsigned threads, uint64_t memory)
{
    lode_writer_options options = LODE_WRITER_OPTIONS_INIT;
    options.title = "made";
    options.force = 1;
    options.threads = threads;
    options.memory = memory;
    return options;
}

static void write_alone(struct place *place, const struct content *content, const char *path,
                        unsigned threads, uint64_t memory)
{
    lode_writer_options options = options_of(threads, memory);
    lode_writer *writer = NULL;
    DONE(place, lode_writer_open(&writer, path, &options, &place->error));
    DONE(place, write_profiles(writer, content, &place->error));
    lode_writer_close(writer);
}

static unsigned char *read_whole(const char *folder, const char *name, size_t *size)
{
    char *path = name_in(folder, name);
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && fstat(fd, &status) == 0);
    unsigned char *bytes = malloc((size_t)status.st_size + 1);
    assert_non_null(bytes);
    assert_int_equal(read(fd, bytes, (size_t)status.st_size), status.st_size);
    close(fd);
    free(path);
    *size = (size_t)status.st_size;
    return bytes;
}

/* profile.db of a database, and where its blocks are. */
struct reference {
    unsigned char *bytes;
    size_t size;
    struct wire_Profile *records;
    uint64_t end; /* of the last block */
};

static void open_reference(struct reference *reference, const char *folder, uint32_t profiles)
{
    struct wire_Section section;
    struct wire_ProfileInfos infos;
    struct wire_Profile summary;
    reference->bytes = read_whole(folder, "profile.db", &reference->size);
    lode_wire_read_Section(&section, reference->bytes + WIRE_FileHeader_SIZE, WIRE_Section_SIZE);
    lode_wire_read_ProfileInfos(&infos, reference->bytes + section.p, WIRE_ProfileInfos_SIZE);
    assert_int_equal(infos.nProfiles, profiles + 1);
    reference->records = calloc(profiles + 1, sizeof *reference->records);
    assert_non_null(reference->records);
    const unsigned char *at = reference->bytes + infos.pProfiles;
    lode_wire_read_Profile(&summary, at, WIRE_Profile_SIZE);
    reference->end = summary.pValues;
    for (uint32_t i = 0; i < profiles; i++)
        lode_wire_read_Profile(&reference->records[i], at + (i + 1) * (size_t)infos.szProfile,
                               WIRE_Profile_SIZE);
}

/* ---- as a communicator ---- */

struct job {
    const struct content *content;
    const struct reference *reference;
    const char *path;
    uint64_t memory;
    unsigned threads;   /* of rank 0; others have one more, or two */
    bool one_has_all;   /* profiles are all the last rank's */
    uint32_t full_disk; /* the rank that cannot write cct.db; none if there is no such */
    uint32_t cancels;   /* the rank that stops at its first window */
    struct written_traffic traffic[MAX_MEMBERS];
};

static void cut_share(const struct job *job, struct lode_sink *sink)
{
    uint64_t profiles = job->content->profiles;
    uint32_t rank = sink->options.comm->place.rank, size = sink->options.comm->place.size;
    uint64_t first = profiles * rank / size, end = profiles * (rank + 1) / size;
    if (job->one_has_all) {
        first = 0;
        end = rank + 1 < size ? 0 : profiles;
    }
    sink->placed = true;
    sink->first = (uint32_t)first;
    sink->count = (uint32_t)(end - first);
}

/* Puts this rank's blocks into profile.db. */
static lode_status put_blocks(struct lode_sink *sink, const struct job *job, lode_error *error)
{
    const unsigned char *bytes = job->reference->bytes;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < sink->count; i++) {
            const struct wire_Profile *wire = &job->reference->records[sink->first + i];
            lode_block block = block_of_profile(bytes + wire->pCtxIndices, wire->nCtxs, bytes + wire->pValues,
                                                wire->nValues);
            LODE_TRY(pass == 0 ? sink->ops->measure(sink, i, &block, 0, error)
                               : sink->ops->write_values(sink, i, &block, error));
        }
        if (pass == 0)
            LODE_TRY(sink->ops->place(sink, error));
    }
    return LODE_OK;
}

static lode_status describe_profiles(struct lode_description *about, const struct content *content,
                                     lode_error *error)
{
    lode_id *ids = lode_arena_alloc(&about->arena, content->profiles + 1, sizeof *ids);
    about->profiles = lode_arena_alloc(&about->arena, content->profiles + 1, sizeof *about->profiles);
    if (ids == NULL || about->profiles == NULL)
        return lode_fail_memory(error);
    for (uint32_t i = 0; i < content->profiles; i++) {
        ids[i] = id_of_profile(i);
        about->profiles[i] = (struct lode_id_tuple){&ids[i], 1};
    }
    about->profile_count = content->profiles;
    return LODE_OK;
}

static lode_status break_cct(struct lode_sink *sink, lode_error *error)
{
    struct lode_output_file *file = &((struct hpct_sink *)sink)->files[HPCT_CCT];
    close(file->fd);
    file->fd = open("/dev/full", O_RDWR | O_CLOEXEC);
    return file->fd >= 0 ? LODE_OK : lode_fail_errno(error, "/dev/full", "cannot open");
}

static lode_status write_share(struct lode_sink *sink, struct lode_description *about, struct job *job,
                               lode_error *error)
{
    uint32_t rank = sink->options.comm->place.rank;
    about->title = "made";
    LODE_TRY(describe_metrics(about, error));
    LODE_TRY(describe_profiles(about, job->content, error));
    if (rank == 0)
        LODE_TRY(describe_contexts(about, job->content, error));
    LODE_TRY(lode_description_seal(about, error));
    cut_share(job, sink);
    LODE_TRY(lode_sink_seal(sink, about, error));
    LODE_TRY(put_blocks(sink, job, error));
    if (rank == job->full_disk)
        LODE_TRY(break_cct(sink, error));
    LODE_TRY(lode_sink_finish(sink, error));
    job->traffic[rank] = ((struct hpct_sink *)sink)->traffic;
    return LODE_OK;
}

static int stop(void *user, const char *phase, uint64_t done, uint64_t total)
{
    (void)user;
    (void)phase;
    (void)done;
    (void)total;
    return 1;
}

static lode_status work(void *context, struct lode_comm *comm, lode_error *error)
{
    struct job *job = context;
    uint32_t rank = comm->place.rank;
    /* Ranks need not have the same. */
    struct lode_sink_options options = {.comm = comm,
                                        .force = true,
                                        .threads = job->threads + rank % 3,
                                        .memory = job->memory << rank % 2,
                                        .on_progress = rank == job->cancels ? stop : NULL};
    struct lode_description about;
    struct lode_sink *sink = NULL;
    LODE_TRY(lode_sink_open(&sink, &lode_hpct_sink, job->path, &options, error));
    lode_description_init(&about);
    lode_status status = write_share(sink, &about, job, error);
    lode_comm_raise(comm, status, error);
    lode_sink_close(sink);
    lode_description_free(&about);
    return status;
}

static struct job job_of(const struct content *content, const struct reference *reference, const char *path)
{
    return (struct job){.content = content,
                        .reference = reference,
                        .path = path,
                        .threads = 1,
                        .full_disk = LODE_NONE,
                        .cancels = LODE_NONE};
}

static void assert_same_files(const char *left, const char *right)
{
    static const char *const names[] = {"meta.db", "profile.db", "cct.db"};
    for (unsigned i = 0; i < 3; i++) {
        size_t sizes[2];
        unsigned char *a = read_whole(left, names[i], &sizes[0]), *b = read_whole(right, names[i], &sizes[1]);
        if (sizes[0] != sizes[1] || memcmp(a, b, sizes[0]) != 0)
            fail_msg("%s: %zu bytes, not the same as %zu", names[i], sizes[1], sizes[0]);
        free(a);
        free(b);
    }
}

/* ---- tests ---- */

/* A database made alone, and room for others. */
struct scene {
    struct place place;
    const struct content *content;
    struct reference reference;
    char *comm_path;
};

static void enter_scene(struct scene *scene, const struct content *content)
{
    *scene = (struct scene){.content = content};
    enter_place(&scene->place);
    write_alone(&scene->place, content, scene->place.target, 1, 0);
    open_reference(&scene->reference, scene->place.target, content->profiles);
    scene->comm_path = name_in(scene->place.folder, "comm");
}

static void leave_scene(struct scene *scene)
{
    free(scene->reference.bytes);
    free(scene->reference.records);
    free(scene->comm_path);
    leave_place(&scene->place);
}

static const uint64_t memories[] = {1, 4000, 60000, 0};

static void byte_identical_with_any_memory_and_threads(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof contents / sizeof *contents; c++) {
        struct scene scene;
        enter_scene(&scene, &contents[c]);
        for (size_t m = 0; m < sizeof memories / sizeof *memories; m++) {
            write_alone(&scene.place, &contents[c], scene.comm_path, (m + c) % 2 ? 3 : 1, memories[m]);
            assert_same_files(scene.place.target, scene.comm_path);
        }
        leave_scene(&scene);
    }
}

static void run_job(struct scene *scene, struct job *job, uint32_t ranks)
{
    lode_status status = lode_comm_run(ranks, work, job, &scene->place.error);
    if (status != LODE_OK)
        fail_msg("%s, %u members: %s", job->content->name, ranks, scene->place.error.text);
    assert_same_files(scene->place.target, scene->comm_path);
}

static void byte_identical_with_any_comm(void **state)
{
    static const uint32_t ranks[] = {1, 2, 3, 5, 16};
    (void)state;
    for (size_t c = 0; c < sizeof contents / sizeof *contents; c++) {
        struct scene scene;
        enter_scene(&scene, &contents[c]);
        for (size_t n = 0; n < sizeof ranks / sizeof *ranks; n++)
            for (size_t m = 0; m < sizeof memories / sizeof *memories; m++) {
                struct job job = job_of(&contents[c], &scene.reference, scene.comm_path);
                job.memory = memories[m];
                job.one_has_all = (n + m) % 2 == 1;
                job.threads = n % 2 ? 2 : 1;
                run_job(&scene, &job, ranks[n]);
            }
        leave_scene(&scene);
    }
}

/* Everything is sent once, and a rank holds no more than its part of the memory for it. */
static void what_is_sent_is_bounded(void **state)
{
    enum {
        MEMBERS = 4,
        MEMORY = 8000
    };
    struct scene scene;
    (void)state;
    enter_scene(&scene, &contents[1]);
    for (unsigned skewed = 0; skewed < 2; skewed++) {
        struct job job = job_of(scene.content, &scene.reference, scene.comm_path);
        struct written_traffic sum = {0};
        job.memory = MEMORY;
        job.one_has_all = skewed == 1;
        run_job(&scene, &job, MEMBERS);
        for (unsigned i = 0; i < MEMBERS; i++) {
            const struct written_traffic *traffic = &job.traffic[i];
            assert_int_equal(traffic->rounds, job.traffic[0].rounds);
            assert_int_equal(traffic->exchanges, job.traffic[0].exchanges);
            assert_true(traffic->sent_bytes <= traffic->exchanges * (MEMORY / 3));
            sum.sent_bytes += traffic->sent_bytes;
            sum.received_bytes += traffic->received_bytes;
        }
        assert_true(job.traffic[0].rounds > 1);
        assert_true(job.traffic[0].exchanges >= job.traffic[0].rounds);
        assert_true(!skewed || job.traffic[0].exchanges > job.traffic[0].rounds);
        assert_int_equal(sum.sent_bytes, sum.received_bytes);
        /* Of each value, 10 bytes go over once, unless it is its owner's already. */
        assert_true(sum.sent_bytes > scene.reference.end / 2);
        assert_true(sum.sent_bytes < scene.reference.end * 2);
    }
    leave_scene(&scene);
}

static void one_round_if_memory_allows(void **state)
{
    struct scene scene;
    (void)state;
    enter_scene(&scene, &contents[0]);
    struct job job = job_of(scene.content, &scene.reference, scene.comm_path);
    job.memory = 100u << 20;
    run_job(&scene, &job, 5);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(job.traffic[i].rounds, 1);
        assert_int_equal(job.traffic[i].exchanges, 1);
        /* All have something to do. */
        assert_true(job.traffic[i].received_bytes > 0);
    }
    leave_scene(&scene);
}

static void nothing_is_sent_by_one(void **state)
{
    struct scene scene;
    (void)state;
    enter_scene(&scene, &contents[0]);
    struct job job = job_of(scene.content, &scene.reference, scene.comm_path);
    run_job(&scene, &job, 1);
    assert_int_equal(job.traffic[0].exchanges, 0);
    assert_int_equal(job.traffic[0].sent_bytes, 0);
    leave_scene(&scene);
}

static void a_rank_that_cannot_write_ends_the_job(void **state)
{
    struct scene scene;
    (void)state;
    enter_scene(&scene, &contents[0]);
    for (uint32_t rank = 0; rank < 3; rank++) {
        struct job job = job_of(scene.content, &scene.reference, scene.comm_path);
        job.memory = 4000;
        job.full_disk = rank;
        assert_int_equal(lode_comm_run(3, work, &job, &scene.place.error), LODE_ERR_IO);
        assert_non_null(strstr(scene.place.error.text, "cannot write"));
        assert_int_equal(count_entries(scene.comm_path), -1);
    }
    assert_int_equal(count_entries(scene.place.folder), 1);
    leave_scene(&scene);
}

static void a_rank_that_is_cancelled_ends_the_job(void **state)
{
    struct scene scene;
    (void)state;
    enter_scene(&scene, &contents[0]);
    for (uint32_t rank = 0; rank < 3; rank++) {
        struct job job = job_of(scene.content, &scene.reference, scene.comm_path);
        job.memory = 4000;
        job.cancels = rank;
        assert_int_equal(lode_comm_run(3, work, &job, &scene.place.error), LODE_ERR_CANCELLED);
        assert_non_null(strstr(scene.place.error.text, "transposing"));
    }
    assert_int_equal(count_entries(scene.place.folder), 1);
    leave_scene(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(byte_identical_with_any_memory_and_threads),
        cmocka_unit_test(byte_identical_with_any_comm),
        cmocka_unit_test(what_is_sent_is_bounded),
        cmocka_unit_test(one_round_if_memory_allows),
        cmocka_unit_test(nothing_is_sent_by_one),
        cmocka_unit_test(a_rank_that_cannot_write_ends_the_job),
        cmocka_unit_test(a_rank_that_is_cancelled_ends_the_job),
    };
    return cmocka_run_group_tests_name("transpose over a communicator", tests, NULL, NULL);
}
