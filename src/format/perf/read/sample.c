/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/perf/read/sample.h"

/* What is left of a sample. */
struct walk {
    const uint8_t *at;
    uint64_t left;
    bool is_big;
};

static bool take(struct walk *walk, uint64_t size, struct lode_range *out)
{
    if (size > walk->left)
        return false;
    *out = (struct lode_range){walk->at, size};
    walk->at += size;
    walk->left -= size;
    return true;
}

static bool take_u64(struct walk *walk, uint64_t *out)
{
    struct lode_range bytes;
    if (!take(walk, sizeof *out, &bytes))
        return false;
    *out = perf_u64(walk->is_big, bytes.data);
    return true;
}

static bool take_words(struct walk *walk, uint64_t count, struct lode_range *out)
{
    return count <= walk->left / 8 && take(walk, count * 8, out);
}

/* ---- fields of any size ---- */

static bool take_counters(struct walk *walk, const struct perf_attr *attr, struct perf_sample *sample)
{
    uint64_t format = attr->read_format, count;
    uint32_t words = 1u + !!(format & PERF_READ_ID) + !!(format & PERF_READ_LOST);
    struct lode_range times;
    sample->has_counters = true;
    uint64_t time_words = (uint64_t) !!(format & PERF_READ_ENABLED) + !!(format & PERF_READ_RUNNING);
    if (format & PERF_READ_GROUP) {
        if (!take_u64(walk, &count) || !take_words(walk, time_words, &times) ||
            count > walk->left / 8 / words || !take_words(walk, count * words, &sample->counters))
            return false;
        sample->counter_size = words * 8;
        return true;
    }
    /* Alone, the times are behind the value, before the id. */
    return take_u64(walk, &sample->value) && take_words(walk, time_words, &times) &&
           (!(format & PERF_READ_ID) || take_u64(walk, &sample->value_id)) &&
           (!(format & PERF_READ_LOST) || take_u64(walk, &count));
}

static bool take_chain(struct walk *walk, struct perf_sample *sample)
{
    uint64_t count;
    sample->has_chain = true;
    return take_u64(walk, &count) && take_words(walk, count, &sample->chain);
}

static bool take_raw(struct walk *walk, struct perf_sample *sample)
{
    struct lode_range size;
    return take(walk, sizeof(uint32_t), &size) && take(walk, perf_u32(walk->is_big, size.data), &sample->raw);
}

static bool take_branches(struct walk *walk, const struct perf_attr *attr, struct lode_range *out)
{
    uint64_t count, index;
    struct lode_range bytes;
    bool has_index = attr->branch_type >> PERF_BRANCH_INDEX & 1;
    bool has_counters = attr->branch_type >> PERF_BRANCH_COUNTERS & 1;
    return take_u64(walk, &count) && (!has_index || take_u64(walk, &index)) && count <= walk->left / 24 &&
           take_words(walk, count * 3, out) && (!has_counters || take_words(walk, count, &bytes));
}

/* None if the thread was in the kernel only. */
static bool take_registers(struct walk *walk, uint64_t mask, struct lode_range *out)
{
    uint64_t abi;
    if (!take_u64(walk, &abi))
        return false;
    return abi == 0 || take_words(walk, (uint64_t)__builtin_popcountll(mask), out);
}

/* Of the copy, the part that was used. */
static bool take_stack(struct walk *walk, struct lode_range *out)
{
    uint64_t size, used = 0;
    if (!take_u64(walk, &size))
        return false;
    if (size == 0)
        return true;
    if (!take(walk, size, out) || !take_u64(walk, &used) || used > size)
        return false;
    out->size = used;
    return true;
}

static bool take_aux(struct walk *walk)
{
    uint64_t size;
    struct lode_range bytes;
    return take_u64(walk, &size) && take(walk, size, &bytes);
}

/* Those behind the stack that take 8 bytes each, in their order; AUX is the last of all. */
static bool take_rest(struct walk *walk, const struct perf_attr *attr)
{
    uint64_t type = attr->sample_type;
    struct lode_range bytes;
    uint64_t words = (uint64_t) !!(type & (PERF_HAS_WEIGHT | PERF_HAS_WEIGHTS)) +
                     !!(type & PERF_HAS_DATA_SRC) + !!(type & PERF_HAS_TRANSACTION);
    uint64_t later = (uint64_t) !!(type & PERF_HAS_PHYS_ADDR) + !!(type & PERF_HAS_CGROUP) +
                     !!(type & PERF_HAS_DATA_PAGE) + !!(type & PERF_HAS_CODE_PAGE);
    return take_words(walk, words, &bytes) &&
           (!(type & PERF_HAS_REGS_INTR) || take_registers(walk, attr->regs_intr, &bytes)) &&
           take_words(walk, later, &bytes) && (!(type & PERF_HAS_AUX) || take_aux(walk));
}

static bool take_variable(struct walk *walk, const struct perf_attr *attr, struct perf_sample *sample)
{
    uint64_t type = attr->sample_type;
    bool is_whole =
        (!(type & PERF_HAS_READ) || take_counters(walk, attr, sample)) &&
        (!(type & PERF_HAS_CHAIN) || take_chain(walk, sample)) &&
        (!(type & PERF_HAS_RAW) || take_raw(walk, sample)) &&
        (!(type & PERF_HAS_BRANCHES) || take_branches(walk, attr, &sample->branches)) &&
        (!(type & PERF_HAS_REGS_USER) || take_registers(walk, attr->regs_user, &sample->registers)) &&
        (!(type & PERF_HAS_STACK_USER) || take_stack(walk, &sample->stack)) && take_rest(walk, attr);
    sample->has_stack = sample->registers.size > 0 && sample->stack.size > 0;
    return is_whole;
}

/* Field by field: the compiler clears the whole with an instruction that takes longer to begin. */
static void clear(struct perf_sample *sample, const struct perf_event *event)
{
    static const struct lode_range none = {0};
    sample->ip = sample->time = 0;
    sample->period = event->attr.period;
    sample->pid = sample->tid = -1;
    sample->cpu = UINT32_MAX;
    sample->has_ip = sample->has_time = sample->has_chain = sample->has_counters = sample->has_stack = false;
    sample->chain = sample->counters = sample->raw = sample->branches = sample->registers = sample->stack =
        none;
    sample->counter_size = 0;
    sample->value = sample->value_id = sample->rest = 0;
}

bool lode_perf_has_chain_only(const struct perf_event *event)
{
    enum {
        CHECKED = PERF_HAS_READ | PERF_HAS_CHAIN | PERF_HAS_RAW | PERF_HAS_BRANCHES | PERF_HAS_REGS_USER |
                  PERF_HAS_STACK_USER | PERF_HAS_WEIGHT | PERF_HAS_WEIGHTS | PERF_HAS_DATA_SRC |
                  PERF_HAS_TRANSACTION | PERF_HAS_REGS_INTR | PERF_HAS_PHYS_ADDR | PERF_HAS_CGROUP |
                  PERF_HAS_DATA_PAGE | PERF_HAS_CODE_PAGE | PERF_HAS_AUX
    };
    return (event->attr.sample_type & CHECKED) == PERF_HAS_CHAIN;
}

bool lode_perf_sample_read(struct perf_sample *sample, const struct perf_event *event, bool is_big,
                           const uint8_t *record, uint32_t size)
{
    const struct perf_layout *layout = &event->layout;
    const uint8_t *body = record + PERF_RECORD_HEADER;
    struct walk walk = {body + layout->fixed, 0, is_big};
    clear(sample, event);
    if (size - PERF_RECORD_HEADER < layout->fixed)
        return false;
    walk.left = size - PERF_RECORD_HEADER - layout->fixed;
    if ((sample->has_ip = layout->ip != PERF_NO_FIELD))
        sample->ip = perf_u64(is_big, body + layout->ip);
    if (layout->tid != PERF_NO_FIELD) {
        sample->pid = (int32_t)perf_u32(is_big, body + layout->tid);
        sample->tid = (int32_t)perf_u32(is_big, body + layout->tid + 4);
    }
    if ((sample->has_time = layout->time != PERF_NO_FIELD))
        sample->time = perf_u64(is_big, body + layout->time);
    if (layout->cpu != PERF_NO_FIELD)
        sample->cpu = perf_u32(is_big, body + layout->cpu);
    if (layout->period != PERF_NO_FIELD)
        sample->period = perf_u64(is_big, body + layout->period);
    bool is_whole = lode_perf_has_chain_only(event) ? take_chain(&walk, sample)
                                                    : take_variable(&walk, &event->attr, sample);
    if (!is_whole)
        return false;
    sample->rest = walk.left;
    return true;
}

bool lode_perf_counters_read(struct perf_sample *sample, const struct perf_attr *attr, bool is_big,
                             struct lode_range bytes)
{
    struct walk walk = {bytes.data, bytes.size, is_big};
    *sample = (struct perf_sample){0};
    return take_counters(&walk, attr, sample);
}
