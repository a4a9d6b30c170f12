/* SPDX-License-Identifier: BSD-3-Clause */
#include "runs/clean.h"

#include <lode/private/utf8.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

struct clean_record {
    run_record record;
    unsigned char identity[RUN_IDENTITY_SIZE];
    run_label *labels;
    run_total *totals;
    run_cost *costs;
    char **texts;
    size_t text_count;
    int is_out_of_memory;
};

/* ---- text ---- */

char *clean_text(const char *text)
{
    static const char unknown[] = "\xef\xbf\xbd"; /* U+FFFD, as the output has it */
    size_t length = strnlen(text, CATALOGUE_TEXT_MAX), used = 0;
    uint32_t character;
    /* Not inside a character. */
    while (length > 0 && text[length] && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    char *clean = malloc(3 * length + 1);
    for (size_t i = 0; clean && i < length;) {
        size_t size = lode_utf8_decode(text + i, length - i, &character);
        const char *from = size ? text + i : unknown;
        size_t taken = size ? size : sizeof unknown - 1;
        memcpy(clean + used, from, taken);
        used += taken;
        i += size ? size : 1;
    }
    if (clean)
        clean[used] = '\0';
    return clean;
}

static const char *keep(clean_record *clean, const char *text)
{
    char *kept = clean_text(text);
    if (!kept)
        clean->is_out_of_memory = 1;
    else
        clean->texts[clean->text_count++] = kept;
    return kept ? kept : "";
}

/* ---- costs ---- */

static int by_name(const void *left, const void *right)
{
    const run_cost *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order ? order : a->metric < b->metric ? -1 : a->metric > b->metric;
}

/* Names that are equal as far as they are stored are one function, as in a file. */
static size_t join_costs(run_cost *costs, size_t count)
{
    size_t kept = 0;
    if (count)
        qsort(costs, count, sizeof *costs, by_name);
    for (size_t i = 0; i < count; i++) {
        run_cost *last = kept ? &costs[kept - 1] : NULL;
        if (last && by_name(last, &costs[i]) == 0) {
            last->exclusive += costs[i].exclusive;
            last->inclusive += costs[i].inclusive;
        } else {
            costs[kept++] = costs[i];
        }
    }
    return kept;
}

static void take_labels(clean_record *clean, const run_record *run)
{
    size_t count = 0;
    for (size_t i = 0; i < run->label_count && i < CATALOGUE_LABELS_MAX; i++)
        clean->labels[count++] =
            (run_label){keep(clean, run->labels[i].name), keep(clean, run->labels[i].value)};
    clean->record.labels = clean->labels;
    clean->record.label_count = count;
}

static void take_costs(clean_record *clean, const run_record *run)
{
    for (size_t i = 0; i < run->total_count; i++)
        clean->totals[i] = (run_total){keep(clean, run->totals[i].metric), run->totals[i].value};
    for (size_t i = 0; i < run->cost_count; i++) {
        clean->costs[i] = run->costs[i];
        clean->costs[i].name = keep(clean, run->costs[i].name);
        clean->costs[i].module = keep(clean, run->costs[i].module);
        clean->costs[i].file = keep(clean, run->costs[i].file);
    }
    clean->record.totals = clean->totals;
    clean->record.costs = clean->costs;
    if (!clean->is_out_of_memory)
        clean->record.cost_count = join_costs(clean->costs, run->cost_count);
}

clean_record *clean_make(const run_record *run)
{
    clean_record *clean = calloc(1, sizeof *clean);
    if (!clean)
        return NULL;
    clean->record = *run;
    clean->labels = calloc(CATALOGUE_LABELS_MAX, sizeof *clean->labels);
    clean->totals = calloc(run->total_count + 1, sizeof *clean->totals);
    clean->costs = calloc(run->cost_count + 1, sizeof *clean->costs);
    clean->texts =
        calloc(2 + 2 * CATALOGUE_LABELS_MAX + run->total_count + 3 * run->cost_count, sizeof *clean->texts);
    if (clean->labels && clean->totals && clean->costs && clean->texts) {
        clean->record.path = keep(clean, run->path);
        clean->record.format = keep(clean, run->format);
        take_labels(clean, run);
        take_costs(clean, run);
    } else {
        clean->is_out_of_memory = 1;
    }
    if (!clean->is_out_of_memory)
        return clean;
    clean_free(clean);
    return NULL;
}

run_record *clean_get(clean_record *clean)
{
    return &clean->record;
}

void clean_free(clean_record *clean)
{
    for (size_t i = 0; i < clean->text_count; i++)
        free(clean->texts[i]);
    free(clean->texts);
    free(clean->labels);
    free(clean->totals);
    free(clean->costs);
    free(clean);
}

/* ---- identities ---- */

/* FNV-1a of 128 bits, offset basis and prime as published. */
__extension__ typedef unsigned __int128 wide;

typedef struct digest {
    wide state;
} digest;

static void digest_put(digest *d, const void *bytes, size_t size)
{
    const wide prime = ((wide)1 << 88) + 0x13b;
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        d->state = (d->state ^ at[i]) * prime;
}

/* The NUL separates them. */
static void digest_text(digest *d, const char *text)
{
    digest_put(d, text, strlen(text) + 1);
}

static void digest_number(digest *d, uint64_t number)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(number >> 8 * i);
    digest_put(d, bytes, sizeof bytes);
}

void catalogue_identity(const run_record *run, run_sameness sameness,
                        unsigned char identity[RUN_IDENTITY_SIZE])
{
    char host[256] = "";
    digest d = {((wide)0x6c62272e07bb0142 << 64) + 0x62b821756295c58d};
    if (sameness == RUN_NEVER_SAME && getrandom(identity, RUN_IDENTITY_SIZE, 0) == RUN_IDENTITY_SIZE)
        return;
    /* Paths of nodes repeat. A copy is the same wherever it is made. */
    if (sameness != RUN_OF_SAME_ADD && gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    digest_text(&d, host);
    digest_text(&d, run->path);
    digest_number(&d, run->modified);
    digest_number(&d, run->bytes);
    if (sameness != RUN_OF_SAME_STORE) {
        digest_number(&d, run->begun);
        digest_number(&d, run->added);
    }
    for (size_t i = 0; i < RUN_IDENTITY_SIZE; i++)
        identity[i] = (unsigned char)(d.state >> 8 * i);
}
