/* SPDX-License-Identifier: BSD-3-Clause */
/* Metadata of a recording. */
#include "model/recording/facts.h"
#include "format/zorka/zorka.h"
#include <string.h>

enum {
    FACTS_MAX = 8 /* besides properties */
};

/* The numbering of tags and codecs in the data files; files without a trace do not count. */
static void add_layout(struct lode_facts *facts, const struct zor_recording *rec)
{
    uint32_t page = 0, real = 0;
    for (uint32_t i = 0; i < rec->store_count; i++) {
        page += rec->stores[i].has_page_layout;
        real += rec->stores[i].has_real_layout;
    }
    if (page > 0 && real > 0)
        lode_facts_add(facts, "layout", "zico in %u stores, page in %u", real, page);
    else if (page + real > 0)
        lode_facts_add(facts, "layout", "%s", page > 0 ? "page" : "zico");
}

static void add_ids(struct lode_facts *facts, const struct zor_recording *rec)
{
    size_t known = 0, described = 0;
    for (uint32_t i = 0; i < rec->base.track_count; i++)
        known += rec->base.tracks[i].id[0] != '\0';
    for (uint32_t i = 0; i < rec->store_count; i++)
        described += rec->stores[i].metas.items.count;
    lode_facts_add(facts, "request ids", "%zu%s", known,
                   known == 0      ? ""
                   : described > 0 ? ", from metadata"
                                   : ", from the data");
}

/* The first and last time of traces with time stamps. */
static void add_times(struct lode_facts *facts, const struct zor_recording *rec)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < rec->base.track_count; i++) {
        const struct zor_trace *trace = zor_trace_at(rec, i);
        uint64_t end = trace->stamp > 0 ? zor_end_of(rec, trace) : 0;
        last = end > last ? end : last;
    }
    if (rec->base.utc_offset == 0)
        return;
    lode_facts_add_time(facts, "first time", (uint64_t)rec->base.utc_offset);
    lode_facts_add_time(facts, "last time", (uint64_t)rec->base.utc_offset + last);
}

lode_status lode_zor_make_facts(struct zor_recording *rec, lode_error *error)
{
    struct lode_facts facts;
    size_t properties = rec->properties.count;
    LODE_TRY(lode_facts_begin(&facts, &rec->base, FACTS_MAX + properties, error));
    lode_facts_add(&facts, "stores", "%u", rec->store_count);
    lode_facts_add(&facts, "chunks", "%zu", rec->chunks.count);
    lode_facts_add(&facts, "traces", "%zu", rec->traces.count);
    add_layout(&facts, rec);
    add_ids(&facts, rec);
    add_times(&facts, rec);
    if (properties > 0)
        memcpy(rec->base.facts + rec->base.fact_count, rec->properties.items, properties * sizeof(lode_fact));
    rec->base.fact_count += properties;
    return lode_facts_end(&facts, error);
}
