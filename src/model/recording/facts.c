/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recording/facts.h"

#include "base/error.h"
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

enum {
    VALUE_SIZE = 96
};

lode_status lode_facts_begin(struct lode_facts *facts, lode_recording *recording, size_t most,
                             lode_error *error)
{
    *facts = (struct lode_facts){recording, true};
    recording->facts = lode_arena_alloc(&recording->arena, most, sizeof *recording->facts);
    return recording->facts ? LODE_OK : lode_fail_memory(error);
}

void lode_facts_add(struct lode_facts *facts, const char *key, const char *format, ...)
{
    va_list arguments;
    lode_recording *recording = facts->recording;
    char *value = lode_arena_alloc(&recording->arena, VALUE_SIZE, 1);
    facts->has_memory = facts->has_memory && value;
    if (value == NULL)
        return;
    va_start(arguments, format);
    vsnprintf(value, VALUE_SIZE, format, arguments);
    va_end(arguments);
    recording->facts[recording->fact_count++] = (lode_fact){key, value};
}

void lode_facts_add_time(struct lode_facts *facts, const char *key, uint64_t time)
{
    struct tm date;
    char day[32];
    time_t seconds = (time_t)(time / 1000000000);
    if (gmtime_r(&seconds, &date) && strftime(day, sizeof day, "%Y-%m-%d %H:%M:%S", &date) > 0)
        lode_facts_add(facts, key, "%s.%03u UTC", day, (unsigned)(time / 1000000 % 1000));
}

lode_status lode_facts_end(const struct lode_facts *facts, lode_error *error)
{
    return facts->has_memory ? LODE_OK : lode_fail_memory(error);
}
