/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/perf/source/chains.h"

#include "format/perf/source/path.h"
#include "format/perf/source/unwind.h"
#include <string.h>

enum {
    BRANCH_SIZE = 24 /* from, to, flags */
};

static struct perf_sample with_words(const struct perf_worker *worker, const struct perf_sample *sample,
                                     uint64_t count)
{
    struct perf_sample out = *sample;
    out.has_chain = true;
    out.chain = (struct lode_range){(const uint8_t *)worker->words, count * sizeof *worker->words};
    return out;
}

/* ---- user stacks ---- */

/* Adds the frames of the user stack to the chain, which has those of the kernel. */
static bool unwind(struct perf_worker *worker, const struct perf_event *event,
                   const struct perf_sample *sample, uint32_t root, struct perf_sample *out)
{
    uint32_t count = lode_perf_unwind(worker->unwinder, event, sample, root);
    uint64_t before = sample->chain.size / sizeof(uint64_t), user = PERF_CHAIN_USER;
    if (count == 0 || before + count + 1 > PERF_WORDS_MOST)
        return false;
    if (before > 0)
        memcpy(worker->words, sample->chain.data, before * sizeof user);
    worker->words[before] = user;
    memcpy(worker->words + before + 1, worker->unwinder->frames, count * sizeof user);
    *out = with_words(worker, sample, before + 1 + count);
    return true;
}

/* Who only checks does not unwind: lost is what nobody could unwind. */
static bool is_lost(const struct perf_worker *worker, const struct perf_event *event,
                    const struct perf_sample *sample)
{
    return !worker->only_checks || !lode_perf_can_unwind(worker->store) ||
           !lode_perf_has_registers(event, sample);
}

/* ---- branch stacks ---- */

/* The place of the mark of user frames, if an address follows it. */
static bool find_user(const struct perf_worker *worker, const struct lode_range *chain, uint64_t *place)
{
    uint64_t count = chain->size / sizeof(uint64_t);
    for (uint64_t i = 0; i + 1 < count; i++)
        if (perf_u64(worker->store->is_big, chain->data + i * sizeof(uint64_t)) == PERF_CHAIN_USER) {
            *place = i;
            return true;
        }
    return false;
}

/*
 * Below the address of the sample are the calls, the innermost first. A word of a chain is a return
 * address; branches have the address of the call, which ends one byte later at the earliest.
 */
static bool use_calls(struct perf_worker *worker, const struct perf_sample *sample, struct perf_sample *out)
{
    uint64_t calls = sample->branches.size / BRANCH_SIZE, mark;
    bool is_big = worker->store->is_big;
    bool is_swapped = is_big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    if (calls == 0 || !find_user(worker, &sample->chain, &mark) || mark + 2 + calls > PERF_WORDS_MOST)
        return false;
    memcpy(worker->words, sample->chain.data, (mark + 2) * sizeof *worker->words);
    for (uint64_t i = 0; i < calls; i++) {
        uint64_t after = perf_u64(is_big, sample->branches.data + i * BRANCH_SIZE) + 1;
        worker->words[mark + 2 + i] = is_swapped ? __builtin_bswap64(after) : after;
    }
    *out = with_words(worker, sample, mark + 2 + calls);
    return true;
}

bool lode_perf_complete(struct perf_worker *worker, const struct perf_event *event,
                        const struct perf_sample *sample, const struct perf_moment *moment,
                        struct perf_sample *out)
{
    if (sample->branches.size > 0 && perf_branches_are_calls(event) && use_calls(worker, sample, out))
        return true;
    if (!sample->has_stack)
        return false;
    if (worker->unwinder && unwind(worker, event, sample, moment->root, out))
        return true;
    worker->counts.stacks += is_lost(worker, event, sample);
    return false;
}
