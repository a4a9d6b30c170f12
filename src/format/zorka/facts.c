/* SPDX-License-Identifier: BSD-3-Clause */
/* Metadata of a recording. */
#include "base/error.h"
#include "format/zorka/zorka.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    FACTS_MAX = 8, /* besides properties */
    VALUE_SIZE = 96
};

struct facts {
    struct zor_recording *rec;
    bool has_memory;
};

__attribute__((format(printf, 3, 4))) static void add(struct facts *facts, const char *key,
                                                      const char *format, ...)
{
    va_list arguments;
    char *value = lode_arena_alloc(&facts->rec->base.arena, VALUE_SIZE, 1);
    facts->has_memory = facts->has_memory && value;
    if (value == NULL)
        return;
    va_start(arguments, format);
    vsnprintf(value, VALUE_SIZE, format, arguments);
    va_end(arguments);
    facts->rec->base.facts[facts->rec->base.fact_count++] = (lode_fact){key, value};
}

/* The numbering of tags and codecs in the data files; files without a trace do not count. */
static void add_layout(struct facts *facts)
{
    const struct zor_recording *rec = facts->rec;
    uint32_t page = 0, real = 0;
    for (uint32_t i = 0; i < rec->store_count; i++) {
        page += rec->stores[i].has_page_layout;
        real += rec->stores[i].has_real_layout;
    }
    if (page > 0 && real > 0)
        add(facts, "layout", "zico in %u stores, page in %u", real, page);
    else if (page + real > 0)
        add(facts, "layout", "%s", page > 0 ? "page" : "zico");
}

static void add_ids(struct facts *facts)
{
    const struct zor_recording *rec = facts->rec;
    size_t known = 0, described = 0;
    for (size_t i = 0; i < rec->traces.count; i++)
        known += zor_id_is_known(LODE_ARRAY_AT(&rec->traces, struct zor_trace, i)->id);
    for (uint32_t i = 0; i < rec->store_count; i++)
        described += rec->stores[i].metas.items.count;
    add(facts, "request ids", "%zu%s", known,
        known == 0      ? ""
        : described > 0 ? ", from metadata"
                        : ", from the data");
}

/* Nanoseconds since the epoch. */
static void add_time(struct facts *facts, const char *key, uint64_t time)
{
    struct tm date;
    char day[32];
    time_t seconds = (time_t)(time / 1000000000);
    if (gmtime_r(&seconds, &date) && strftime(day, sizeof day, "%Y-%m-%d %H:%M:%S", &date) > 0)
        add(facts, key, "%s.%03u UTC", day, (unsigned)(time / 1000000 % 1000));
}

/* The first and last time of traces with time stamps. */
static void add_times(struct facts *facts)
{
    const struct zor_recording *rec = facts->rec;
    uint64_t last = 0;
    for (size_t i = 0; i < rec->traces.count; i++) {
        const struct zor_trace *trace = LODE_ARRAY_AT(&rec->traces, struct zor_trace, i);
        uint64_t end = trace->stamp > 0 ? zor_end_of(trace) : 0;
        last = end > last ? end : last;
    }
    if (rec->base.utc_offset == 0)
        return;
    add_time(facts, "first time", (uint64_t)rec->base.utc_offset);
    add_time(facts, "last time", (uint64_t)rec->base.utc_offset + last);
}

lode_status lode_zor_make_facts(struct zor_recording *rec, lode_error *error)
{
    struct facts facts = {rec, true};
    size_t properties = rec->properties.count;
    rec->base.facts = lode_arena_alloc(&rec->base.arena, FACTS_MAX + properties, sizeof *rec->base.facts);
    LODE_TRY_ALLOC(rec->base.facts, error);
    add(&facts, "stores", "%u", rec->store_count);
    add(&facts, "chunks", "%zu", rec->chunks.count);
    add(&facts, "traces", "%zu", rec->traces.count);
    add_layout(&facts);
    add_ids(&facts);
    add_times(&facts);
    if (properties > 0)
        memcpy(rec->base.facts + rec->base.fact_count, rec->properties.items, properties * sizeof(lode_fact));
    rec->base.fact_count += properties;
    return facts.has_memory ? LODE_OK : lode_fail_memory(error);
}
