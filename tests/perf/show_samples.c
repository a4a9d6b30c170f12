/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show_samples RECORDING [LODE-SYMBOLS FROM=TO]: the samples of a recording of perf as the reader
 * sees them, in the order of the file, one block each: name, process and thread, processor, time,
 * period and event; then the frames from the innermost one on, each with its address, module and
 * offset in that module. With lode-symbols, user stacks are unwound by the binaries of this
 * machine; those whose paths begin with FROM are below TO.
 */
#include "format/format.h"
#include "format/perf/source/path.h"
#include "format/perf/source/source.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static const struct perf_replay *shown;

static void show_frame(const struct perf_step *frame)
{
    const struct perf_mapping *mapping = lode_perf_maps_find(&shown->maps, frame->root, frame->word);
    const struct perf_module *module = perf_module_at(shown, mapping ? mapping->module : 0);
    const char *name = lode_strings_at(&shown->store->strings, module->name);
    printf("\t%" PRIx64 "\t", frame->word);
    if (module->kind == PERF_MODULE_JIT)
        printf("/tmp/perf-%d.map", module->pid);
    else
        printf("%s", name);
    if (mapping == NULL || (module->kind == PERF_MODULE_SYMBOL))
        printf("\t-\n");
    else
        printf("\t%#" PRIx64 "\n",
               module->kind == PERF_MODULE_KERNEL ? frame->word : frame->word - mapping->shift);
}

static void show(void *user, const struct perf_seen *seen)
{
    const struct perf_sample *sample = seen->sample;
    const struct perf_event *event = perf_event_at(shown->store, seen->event);
    const char *name = lode_strings_at(&shown->store->strings, seen->moment->name);
    char buffer[PERF_EVENT_NAME], unknown[16];
    (void)user;
    snprintf(unknown, sizeof unknown, ":%d", sample->tid);
    printf("%s\t%d/%d\t", name ? name : unknown, sample->pid, sample->tid);
    if (event->attr.sample_type & PERF_HAS_CPU)
        printf("%d\t", (int)sample->cpu);
    else
        printf("-\t");
    if (sample->has_time)
        printf("%" PRIu64 ".%09" PRIu64 "\t", sample->time / 1000000000, sample->time % 1000000000);
    else
        printf("-\t");
    printf("%" PRIu64 "\t%s\n", seen->period, lode_perf_event_name(event, buffer));
    for (uint32_t i = seen->path->count; i-- > 0;)
        if (seen->path->steps[i].word < PERF_CHAIN_MARKS)
            show_frame(&seen->path->steps[i]);
}

/* Of a binary without a build id, the one that is here counts. */
static void accept_binaries(struct perf_replay *replay)
{
    for (uint32_t i = 0; i < replay->modules.items.count; i++) {
        struct perf_module *module = LODE_ARRAY_AT(&replay->modules.items, struct perf_module, i);
        struct stat about;
        if (module->id.size == 0 && stat(lode_strings_at(&replay->store->strings, module->name), &about) == 0)
            module->inode = about.st_ino;
    }
}

static lode_status show_all(struct perf_replay *replay, struct perf_unwinder *unwinder, lode_error *error)
{
    struct perf_worker worker;
    lode_status status = lode_perf_worker_open(&worker, replay, 0, -1, error);
    worker.show = show;
    worker.unwinder = unwinder;
    for (uint64_t i = 0; i < replay->store->pieces.count && status == LODE_OK; i++)
        status = lode_perf_collect(&worker, i, error);
    lode_perf_worker_close(&worker);
    return status;
}

static lode_status show_unwound(struct perf_replay *replay, char **arguments, lode_error *error)
{
    struct perf_unwinder unwinder;
    struct perf_archive none;
    const char *replacement = arguments[3];
    struct hpcrun_asking asking = {
        .binaries = {.program = arguments[2], .replacements = &replacement, .replacement_count = 1}};
    lode_perf_archive_init(&none);
    lode_perf_unwinder_open(&unwinder, replay, &asking, INT64_MAX, -1, &none);
    accept_binaries(replay);
    lode_status status = show_all(replay, &unwinder, error);
    lode_perf_unwinder_close(&unwinder);
    return status;
}

int main(int count, char **arguments)
{
    struct lode_report report;
    struct lode_folder folder;
    struct perf_store store;
    struct perf_replay replay;
    lode_error error = {0};
    if ((count != 2 && count != 4) ||
        lode_report_open(&report, lode_perf_rules, PERF_RULE_COUNT, 1, NULL, NULL, &error) != LODE_OK ||
        lode_store_folder(&folder, arguments[1], &error) != LODE_OK)
        return EXIT_FAILURE;
    lode_perf_init(&store, &report);
    lode_perf_replay_init(&replay, &store);
    shown = &replay;
    lode_status status = lode_perf_read(&store, &replay, &folder);
    if (status == LODE_OK)
        status = count == 4 ? show_unwound(&replay, arguments, &error) : show_all(&replay, NULL, &error);
    lode_perf_replay_free(&replay);
    lode_perf_free(&store);
    lode_folder_close(&folder);
    lode_report_close(&report);
    return status == LODE_OK || status == LODE_END ? EXIT_SUCCESS : EXIT_FAILURE;
}
