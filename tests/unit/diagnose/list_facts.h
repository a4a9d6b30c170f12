/* SPDX-License-Identifier: BSD-3-Clause */
/* All that a diagnosis of calls knows, as text, so that two of them can be compared. */
#ifndef LODE_TESTS_LIST_FACTS_H
#define LODE_TESTS_LIST_FACTS_H

#include "analysis/diagnose/calls/facts.h"
#include <stdio.h>

static inline void put(FILE *out, const uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fprintf(out, " %llu", (unsigned long long)numbers[i]);
    fputc('\n', out);
}
#define PUT(out, ...)                                                                                        \
    put(out, (const uint64_t[]){__VA_ARGS__}, sizeof(const uint64_t[]){__VA_ARGS__} / sizeof(uint64_t))

static inline void list_course(FILE *out, const struct call_track *track)
{
    for (size_t i = 0; i < track->collective_count; i++)
        PUT(out, track->collectives[i].enter, track->collectives[i].leave, track->collectives[i].function);
    for (size_t i = 0; i < track->wait_count; i++)
        PUT(out, track->waits[i].from, track->waits[i].to, track->waits[i].holder, track->waits[i].entry,
            track->waits[i].why);
    for (size_t i = 0; i < track->span_count; i++)
        PUT(out, track->spans[i].from, track->spans[i].to, track->spans[i].function, track->spans[i].depth);
    for (size_t i = 0; i < CALL_BUSY; i++)
        PUT(out, track->busy[i].function, track->busy[i].time);
}

static inline void list_tracks(FILE *out, const struct call_facts *facts)
{
    for (size_t i = 0; i < facts->track_count; i++) {
        const struct call_track *track = &facts->tracks[i];
        fprintf(out, "track");
        PUT(out, track->track, track->begin, track->end, track->calls, track->running, track->useful,
            track->blocked, track->preempted, track->mutual, track->stolen, track->yielded, track->joining,
            track->barriers, track->holding, track->parallel, track->region, track->unended, track->entry,
            track->alone.function, track->alone.time, track->collective_count, track->wait_count,
            track->wait_min, track->span_count, track->are_all, track->is_parent, track->is_left_out);
        put(out, track->time, ACTIVITIES);
        list_course(out, track);
    }
}

static inline void list_functions(FILE *out, const struct call_facts *facts)
{
    for (uint32_t f = 0; f < facts->function_count; f++) {
        const struct call_function *known = &facts->functions[f];
        const struct lode_sketch *sketch = facts->sketches[f];
        if (!known->is_known)
            continue;
        fprintf(out, "function %u", f);
        PUT(out, known->calls, known->outer, known->own, known->held, known->total, known->most, known->spent,
            known->argued, known->repeated, known->repeated_time, known->activity, known->effect, known->role,
            known->spins);
        if (sketch)
            put(out, sketch->counts, sketch->count);
        for (size_t i = 0; facts->growths[f] && i < CALL_STEPS; i++) {
            const struct call_step *step = &facts->growths[f]->steps[i];
            PUT(out, step->calls, step->numbers, step->callees, step->running);
        }
    }
}

static inline void list_pairs(FILE *out, const struct call_facts *facts)
{
    for (size_t i = 0; i < facts->pair_count; i++) {
        const struct call_pair *pair = &facts->pairs[i];
        fprintf(out, "pair");
        PUT(out, pair->holder, pair->entry, pair->calls, pair->running, pair->blocked, pair->waiting,
            pair->long_calls, pair->longest, pair->from, pair->to, pair->track, pair->bytes, pair->sized,
            pair->locked, pair->unsure, pair->beat.count, pair->beat.slept, pair->beat.worked,
            pair->beat.slept2, pair->beat.worked2, pair->beat.both);
    }
    for (size_t i = 0; i < facts->edge_count; i++)
        PUT(out, facts->edges[i].caller, facts->edges[i].callee, facts->edges[i].calls,
            facts->edges[i].running);
    PUT(out, facts->begin, facts->end, facts->findings, facts->cost, facts->has_sched, facts->slot_count);
}

static inline void list_facts(FILE *out, const struct call_facts *facts)
{
    list_tracks(out, facts);
    list_functions(out, facts);
    list_pairs(out, facts);
}

static inline void list_statements(FILE *out, const lode_diagnosis *d)
{
    const lode_quality_note *note;
    const lode_statement *statement;
    for (size_t i = 0; (note = lode_diagnosis_note(d, i)) != NULL; i++)
        fprintf(out, "%s %d %a %s\n", note->id, (int)note->level, note->value, note->text);
    for (size_t i = 0; (statement = lode_diagnosis_statement(d, i)) != NULL; i++) {
        fprintf(out, "%s %d %a %a %a %s\n", statement->id, (int)statement->confidence, statement->gain,
                statement->low, statement->high, statement->text);
        for (size_t k = 0; k < statement->evidence_count; k++)
            fprintf(out, "%s %a\n", statement->evidence[k].text, statement->evidence[k].value);
    }
}

#endif
