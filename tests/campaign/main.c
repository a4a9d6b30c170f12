/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A campaign: mutates stores at random, reproducible by seed, and runs all commands on each.
 * Commands must not crash, hang, write output much larger than the input (unless the valid store
 * has one as well), or accept damage silently.
 *
 *     campaign CORPUS SEED FIRST COUNT SCRATCH KEEP SOURCE...
 *
 * SCRATCH is a directory in memory; KEEP gets the inputs that a command failed on. Lines of
 * standard output begin with a word: `found`, or `sum` and `most` at the end. campaign.py starts
 * it.
 */
#include "mutate.h"
#include "run.h"
#include "store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_TEXT = 16 << 10,  /* limit of text files: longer ones only cost time */
    MOST_JSON = 128 << 10, /* of spans, whose lines are long */
    MOST_SOURCES = 256,
    MOST_RATIO = 4,
    FREE_BYTES = 16 << 10, /* what an output may have besides: headers, titles, fixed tables */
    MOST_KEPT = 3,         /* inputs of the same kind */
    MOST_KINDS = 512
};

/* The most of something, and where it was. */
struct most {
    double value;
    uint64_t number;
    char command[COMMAND_SIZE];
};

struct campaign {
    const char *corpus, *keep;
    uint64_t seed;
    struct store sources[MOST_SOURCES];
    size_t source_count;
    struct {
        char text[512];
        size_t count;
    } kinds[MOST_KINDS];
    size_t kind_count;
    bool lists; /* every command, with its status; the last input stays in SCRATCH */
    size_t inputs, commands, checked, failed, crashes, hangs, oversize, silent, doubts, left;
    double seconds;
    struct most slowest, of_stores, of_text; /* seconds; output to input */
    long memory;
};

static struct campaign campaign;

static void give_up(const char *what)
{
    fprintf(stderr, "campaign: %s: %s\n", what, strerror(errno));
    exit(2);
}

static void load_sources(char **paths, int count)
{
    size_t most = strcmp(campaign.corpus, "spans") == 0 ? MOST_JSON : MOST_TEXT;
    for (int i = 0; i < count && campaign.source_count < MOST_SOURCES - 1; i++) {
        struct store *source = &campaign.sources[campaign.source_count];
        if (!store_load(source, paths[i], most))
            give_up(paths[i]);
        campaign.source_count++;
        if (strcmp(campaign.corpus, "traces") != 0)
            continue;
        struct store *plain = &campaign.sources[campaign.source_count];
        if (store_unpack(plain, source))
            campaign.source_count++;
        else
            store_free(plain);
    }
}

/* ---- inputs ---- */

/* The valid stores that an input is made of: the second may have contributed a file. */
struct origin {
    const struct store *source, *other;
};

/* The input of a number, and what is run on it. */
static struct origin make_input(struct store *input, uint64_t number, struct command *commands, size_t *count)
{
    uint64_t random = random_begin(campaign.seed, number);
    struct origin origin;
    origin.source = &campaign.sources[random_below(&random, campaign.source_count)];
    origin.other = &campaign.sources[random_below(&random, campaign.source_count)];
    store_copy(input, origin.source);
    mutate(input, origin.source, origin.other, &random);
    *count = commands_choose(commands, campaign.corpus, &random);
    return origin;
}

static void put_input(const struct store *store)
{
    tree_remove("in");
    if (!store_save(store, "in"))
        give_up("in");
}

/* Widens a command to the whole store: a changed time may move everything into the part. */
static void widen(struct command *whole, const struct command *command)
{
    static const char *const narrowing[] = {"--from", "--to", "--depth", "--min-time", "-p", "--id"};
    char text[COMMAND_SIZE] = "";
    for (int i = 1; i < command->count; i++) {
        bool is_narrowing = false;
        for (size_t k = 0; k < sizeof narrowing / sizeof *narrowing; k++)
            is_narrowing |= strcmp(command->arguments[i], narrowing[k]) == 0;
        size_t used = strlen(text);
        if (is_narrowing)
            i++;
        else
            snprintf(text + used, sizeof text - used, "%s ", command->arguments[i]);
    }
    command_parse(whole, text);
}

/* The most bytes that one command writes about the valid stores. */
static size_t sound_bytes(struct origin origin, const struct store *input, const struct command *command)
{
    struct command whole;
    struct result result, of_other;
    /* Options of commands that write have other meanings; their output is compared as it is. */
    widen(&whole, command);
    put_input(origin.source);
    run_commands(command->writes ? command : &whole, 1, &result);
    put_input(origin.other);
    run_commands(command->writes ? command : &whole, 1, &of_other);
    put_input(input);
    return result.written > of_other.written ? result.written : of_other.written;
}

/* ---- findings ---- */

static size_t *kind_of(const char *text)
{
    size_t i = 0;
    while (i < campaign.kind_count && strcmp(campaign.kinds[i].text, text) != 0)
        i++;
    if (i == campaign.kind_count && i < MOST_KINDS - 1) {
        snprintf(campaign.kinds[i].text, sizeof campaign.kinds[i].text, "%s", text);
        campaign.kind_count++;
    }
    return &campaign.kinds[i].count;
}

static void move_note(const char *folder, const char *what, size_t number)
{
    char from[64], to[4096];
    snprintf(from, sizeof from, "%s-%zu", what, number);
    snprintf(to, sizeof to, "%s/%s", folder, what);
    FILE *in = fopen(from, "rb"), *out = in ? fopen(to, "wb") : NULL;
    for (int byte = in ? fgetc(in) : EOF; out && byte != EOF; byte = fgetc(in))
        fputc(byte, out);
    if (in)
        fclose(in);
    if (out)
        fclose(out);
    unlink(from);
}

static void keep(const struct store *input, const struct command *command, uint64_t number, size_t index)
{
    char folder[4096], path[4200];
    snprintf(folder, sizeof folder, "%s/%s-%llu-%zu", campaign.keep, campaign.corpus,
             (unsigned long long)number, index);
    tree_remove(folder);
    if (mkdir(folder, 0700) != 0)
        give_up(folder);
    snprintf(path, sizeof path, "%s/in", folder);
    if (!store_save(input, path))
        give_up(path);
    snprintf(path, sizeof path, "%s/command", folder);
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        give_up(path);
    fprintf(file, "%s\n# %s, made of %s\n", command->text, campaign.corpus, input->label);
    fclose(file);
    move_note(folder, "said", index);
    move_note(folder, "checked", index);
}

static void found(const char *what, const char *signature, const struct store *input,
                  const struct command *command, uint64_t number, size_t index)
{
    char kind[512];
    snprintf(kind, sizeof kind, "%s %s %s", what, command->arguments[1], signature);
    printf("found\t%s\t%s\t%llu\t%zu\t%s\t%s\t%s\n", what, campaign.corpus, (unsigned long long)number, index,
           signature, command->text, input->label);
    if (++*kind_of(kind) <= MOST_KEPT)
        keep(input, command, number, index);
}

/* ---- judgement ---- */

static void note_most(struct most *most, double value, uint64_t number, const struct command *command)
{
    if (value <= most->value)
        return;
    most->value = value;
    most->number = number;
    memcpy(most->command, command->text, sizeof most->command);
}

static void note_size(struct origin origin, const struct store *input, const struct command *command,
                      const struct result *result, uint64_t number, size_t index)
{
    size_t bytes = store_total_bytes(input), free_bytes = bytes > FREE_BYTES / MOST_RATIO ? 0 : FREE_BYTES;
    double ratio = bytes ? (double)result->written / (double)bytes : 0;
    note_most(command->writes ? &campaign.of_stores : &campaign.of_text, ratio, number, command);
    if (result->written <= MOST_RATIO * bytes + free_bytes)
        return;
    /* Allows what the format needs for the valid store, plus half. */
    size_t sound = sound_bytes(origin, input, command);
    bool is_larger = result->written > sound + sound / 2 + FREE_BYTES;
    if (!is_larger)
        return;
    char signature[128];
    snprintf(signature, sizeof signature, "%zu bytes of %zu (%.1f times); the sound store: %zu",
             result->written, bytes, ratio, sound);
    campaign.oversize++;
    printf("found\toversize\t%s\t%llu\t%zu\t%s\t%s\t%s\n", campaign.corpus, (unsigned long long)number, index,
           signature, command->text, input->label);
    snprintf(signature, sizeof signature, "oversize %s", command->arguments[1]);
    if (++*kind_of(signature) <= MOST_KEPT)
        keep(input, command, number, index);
}

static void note_result(const struct store *input, const struct command *command, const struct result *result,
                        uint64_t number, size_t index)
{
    static const char *const names[] = {"", "crash", "hang", "silent", "doubt", "left"};
    size_t *const counts[] = {
        NULL, &campaign.crashes, &campaign.hangs, &campaign.silent, &campaign.doubts, &campaign.left};
    char signature[256];
    if (campaign.lists)
        printf("ran\t%llu\t%d\t%s\t%s\n", (unsigned long long)number, result->status, command->text,
               input->label);
    campaign.commands++;
    campaign.checked += result->checked;
    campaign.failed += result->outcome == RUN_DONE && result->status != 0;
    campaign.seconds += result->seconds;
    note_most(&campaign.slowest, result->seconds, number, command);
    if (result->outcome == RUN_DONE)
        return;
    ++*counts[result->outcome];
    run_signature(signature, sizeof signature, result, index);
    found(names[result->outcome], signature, input, command, number, index);
}

static void run_input(uint64_t number)
{
    struct command commands[MOST_COMMANDS];
    struct result results[MOST_COMMANDS];
    struct store input;
    size_t count;
    struct origin origin = make_input(&input, number, commands, &count);
    put_input(&input);
    long memory = run_commands(commands, count, results);
    campaign.memory = memory > campaign.memory ? memory : campaign.memory;
    campaign.inputs++;
    for (size_t i = 0; i < count; i++)
        note_result(&input, &commands[i], &results[i], number, i);
    for (size_t i = 0; i < count; i++)
        note_size(origin, &input, &commands[i], &results[i], number, i);
    fflush(stdout);
    store_free(&input);
}

static void print_most(const char *what, const struct most *most)
{
    printf("most\t%s\t%.3f\t%llu\t%s\n", what, most->value, (unsigned long long)most->number, most->command);
}

int __wrap_main(int argc, char **argv);
int __wrap_main(int argc, char **argv)
{
    struct command commands[MOST_COMMANDS];
    uint64_t random = 1;
    if (argc < 8 || commands_choose(commands, argv[1], &random) == 0) {
        fprintf(stderr,
                "usage: campaign database|draft|recording|traces SEED FIRST COUNT SCRATCH KEEP SOURCE...\n");
        return 2;
    }
    uint64_t first = strtoull(argv[3], NULL, 10), count = strtoull(argv[4], NULL, 10);
    campaign.corpus = argv[1];
    campaign.seed = strtoull(argv[2], NULL, 10);
    campaign.keep = argv[6];
    campaign.lists = getenv("LODE_CAMPAIGN_LIST") != NULL;
    load_sources(argv + 7, argc - 7);
    if (chdir(argv[5]) != 0)
        give_up(argv[5]);
    for (uint64_t number = first; number < first + count; number++)
        run_input(number);
    if (!campaign.lists)
        tree_remove("in");
    printf("sum\tinputs=%zu commands=%zu refused=%zu checked=%zu crash=%zu hang=%zu oversize=%zu silent=%zu "
           "doubt=%zu left=%zu "
           "seconds=%.1f memory=%ld\n",
           campaign.inputs, campaign.commands, campaign.failed, campaign.checked, campaign.crashes,
           campaign.hangs, campaign.oversize, campaign.silent, campaign.doubts, campaign.left,
           campaign.seconds, campaign.memory);
    print_most("slowest", &campaign.slowest);
    print_most("largest store", &campaign.of_stores);
    print_most("largest text", &campaign.of_text);
    for (size_t i = 0; i < campaign.source_count; i++)
        store_free(&campaign.sources[i]);
    return 0;
}
