/* SPDX-License-Identifier: BSD-3-Clause */
/* Which functions have which values: lines such as "work@arg1/i32;^str@libc,arg1/s". */
#include "base/compare.h"
#include "base/error.h"
#include "base/memory/array.h"
#include "format/uftrace/args/argspec.h"
#include "format/uftrace/rules.h"
#include <lode/name.h>
#include <stdlib.h>

enum {
    NAME_MAX_LENGTH = 1023, /* longer names match no pattern */
    PATTERN_BUDGET = 4096,  /* states of all patterns: bounds a lookup's cost per byte of a name */
    SAME_NAME_MAX = 64,     /* rules for one function */
    MATCHES_MAX = 512,
    MERGED_MAX = 4096, /* sets of rules that match some function */
    ENUMS_MAX = 1 << 20,
    SHOWN = 100 /* bytes of a malformed piece in a finding */
};

/* The cached values of a set of rules. */
struct merged_spec {
    const struct lode_uft_spec *spec;
    const uint32_t *rules; /* the kind, then the indices of the rules */
    uint32_t rule_count, older;
};

/* ---- reading ---- */

struct reader {
    struct lode_uft_specs *specs;
    struct lode_arena *arena;
    struct lode_report *report;
    bool is_glob, has_patterns;
    size_t budget;
};

static lode_status complain(struct reader *self, struct uft_text text, const char *what)
{
    size_t length = uft_length(text);
    return lode_report_add(self->report, UFT_ARGUMENT_SPEC, "info", LODE_NO_OFFSET, "%s: \"%.*s%s\"", what,
                           (int)(length < SHOWN ? length : SHOWN), text.at, length < SHOWN ? "" : "...");
}

static bool is_pattern(const struct reader *self, struct uft_text text)
{
    const char *special = self->is_glob ? "*?[" : ".?*+-^$|()[]{}";
    for (const char *c = text.at; self->has_patterns && c < text.end; c++)
        if (strchr(special, *c))
            return true;
    return false;
}

/* The simple name, which symbols are compared with. Several mangled names may have the same. */
static const char *keep_name(struct reader *self, struct uft_text text)
{
    char simple[NAME_MAX_LENGTH + 1];
    const char *name = uft_copy(self->arena, text);
    if (name == NULL || strncmp(name, "_Z", 2) != 0)
        return name;
    size_t length = lode_simple_name(name, simple, sizeof simple);
    return length < sizeof simple ? uft_copy(self->arena, (struct uft_text){simple, simple + length}) : name;
}

/* Sets the functions that a rule applies to. */
static lode_status read_pattern(struct reader *self, struct uft_text text,
                                struct lode_uft_function_spec *rule)
{
    if (!is_pattern(self, text)) {
        rule->name = keep_name(self, text);
        return rule->name ? LODE_OK : LODE_ERR_MEMORY;
    }
    return lode_uft_pattern_compile(&rule->pattern, self->arena, text, self->is_glob, &self->budget);
}

static bool is_table(struct uft_text module)
{
    return uft_equals(module, "plt") || uft_equals(module, "PLT");
}

/* One piece between semicolons. A rule without values is left out. */
static lode_status read_rule(struct reader *self, struct uft_text text, enum lode_uft_side side,
                             struct lode_uft_function_specs *rules)
{
    struct lode_uft_function_spec rule = {0};
    struct lode_uft_values values;
    struct uft_text module;
    const char *at = memchr(text.at, '@', uft_length(text));
    if (at == NULL || at == text.at)
        return complain(self, text, "there is no function before the arguments");
    struct uft_text pattern = {text.at, at}, actions = {at + 1, text.end};
    enum lode_uft_action action = lode_uft_actions_parse(self->specs, self->arena, actions, side,
                                                         !is_pattern(self, pattern), &values, &module);
    if (action == UFT_ACTION_BAD)
        return complain(self, text, "malformed arguments");
    if (action == UFT_ACTION_NO_MEMORY)
        return lode_fail_memory(self->report->error);
    if (values.count == 0)
        return LODE_OK;
    lode_status status = read_pattern(self, pattern, &rule);
    if (status == LODE_ERR_CORRUPT || status == LODE_ERR_LIMIT)
        return complain(self, text,
                        status == LODE_ERR_LIMIT ? "a pattern is too large" : "malformed pattern");
    rule.spec = lode_uft_values_keep(&values, self->arena);
    bool has_module = uft_length(module) > 0 && !is_table(module);
    rule.module = has_module ? uft_copy(self->arena, module) : NULL;
    if (status != LODE_OK || rule.spec == NULL || (has_module && rule.module == NULL))
        return lode_fail_memory(self->report->error);
    rules->items[rules->count++] = rule;
    return LODE_OK;
}

static uint64_t name_hash(const char *name)
{
    return uft_hash((struct uft_text){name, name + strlen(name)});
}

/* Rules are linked in reverse, so that each list rises. */
static lode_status index_rules(struct reader *self, struct lode_uft_function_specs *rules)
{
    for (uint32_t i = rules->count; i > 0; i--) {
        struct lode_uft_function_spec *rule = &rules->items[i - 1];
        if (rule->name == NULL)
            continue;
        uint32_t *first = lode_map_add(&rules->by_name, name_hash(rule->name), 0, NULL);
        LODE_TRY_ALLOC(first, self->report->error);
        rule->next = *first;
        *first = i;
    }
    for (uint32_t i = 0; i < rules->count; i++)
        if (rules->items[i].pattern)
            rules->patterns[rules->pattern_count++] = i;
    return LODE_OK;
}

static lode_status read_rules(struct reader *self, const char *line, enum lode_uft_specs_kind kind)
{
    struct lode_uft_function_specs *rules = &self->specs->rules[kind];
    bool is_result = kind == UFT_SPECS_RESULTS || kind == UFT_SPECS_AUTO_RESULTS;
    size_t room = 1;
    if (line == NULL)
        return LODE_OK;
    struct uft_text text = {line, line + strlen(line)};
    for (const char *c = line; *c; c++)
        room += *c == ';';
    rules->items = lode_arena_alloc(self->arena, room, sizeof *rules->items);
    rules->patterns = lode_arena_alloc(self->arena, room, sizeof *rules->patterns);
    if (room > UINT32_MAX / 2 || rules->items == NULL || rules->patterns == NULL)
        return lode_fail_memory(self->report->error);
    while (text.at < text.end) {
        const char *end = memchr(text.at, ';', uft_length(text));
        struct uft_text item = {text.at, end ? end : text.end};
        text.at = end ? end + 1 : text.end;
        if (uft_length(item) > 0)
            LODE_TRY(read_rule(self, item, is_result ? UFT_SIDE_RESULT : UFT_SIDE_ARGUMENTS, rules));
    }
    return index_rules(self, rules);
}

static lode_status read_enums(struct reader *self, const char *line)
{
    if (line == NULL)
        return LODE_OK;
    struct uft_text text = {line, line + strlen(line)};
    lode_status status = lode_uft_enums_parse(self->specs, self->arena, text);
    if (status == LODE_ERR_MEMORY)
        return lode_fail_memory(self->report->error);
    return status == LODE_OK ? LODE_OK : complain(self, text, "a malformed enumeration");
}

static lode_status read_strings(struct reader *self, const struct lode_uft_spec_strings *strings)
{
    const char *type = strings->pattern_type ? strings->pattern_type : "regex";
    self->is_glob = strcmp(type, "glob") == 0;
    self->has_patterns = strcmp(type, "simple") != 0;
    LODE_TRY(read_enums(self, strings->enumauto));
    LODE_TRY(read_rules(self, strings->argspec, UFT_SPECS_ARGUMENTS));
    LODE_TRY(read_rules(self, strings->retspec, UFT_SPECS_RESULTS));
    LODE_TRY(read_rules(self, strings->argauto, UFT_SPECS_AUTO_ARGUMENTS));
    return read_rules(self, strings->retauto, UFT_SPECS_AUTO_RESULTS);
}

static struct lode_uft_merged *make_merged(void)
{
    struct lode_uft_merged *merged = calloc(1, sizeof *merged);
    if (merged == NULL || pthread_mutex_init(&merged->lock, NULL) != 0) {
        free(merged);
        return NULL;
    }
    lode_arena_init(&merged->arena, SIZE_MAX);
    lode_map_init(&merged->index);
    lode_array_init(&merged->items, sizeof(struct merged_spec), MERGED_MAX);
    return merged;
}

lode_status lode_uft_specs_open(struct lode_uft_specs **out, struct lode_arena *arena,
                                const struct lode_uft_spec_strings *strings, struct lode_report *report)
{
    struct lode_uft_specs *specs = lode_arena_alloc(arena, 1, sizeof *specs);
    *out = NULL;
    LODE_TRY_ALLOC(specs, report->error);
    specs->word = strings->word;
    specs->big_endian = strings->big_endian;
    lode_array_init(&specs->enums, sizeof(struct lode_uft_enum *), ENUMS_MAX);
    lode_map_init(&specs->enum_index);
    for (unsigned i = 0; i < UFT_SPECS_KINDS; i++)
        lode_map_init(&specs->rules[i].by_name);
    specs->merged = make_merged();
    struct reader reader = {.specs = specs, .arena = arena, .report = report, .budget = PATTERN_BUDGET};
    lode_status status = specs->merged ? read_strings(&reader, strings) : lode_fail_memory(report->error);
    if (status == LODE_OK)
        *out = specs;
    else
        lode_uft_specs_close(specs);
    return status;
}

void lode_uft_specs_close(struct lode_uft_specs *specs)
{
    if (specs == NULL)
        return;
    for (unsigned i = 0; i < UFT_SPECS_KINDS; i++)
        lode_map_free(&specs->rules[i].by_name);
    lode_map_free(&specs->enum_index);
    lode_array_free(&specs->enums);
    if (specs->merged == NULL)
        return;
    pthread_mutex_destroy(&specs->merged->lock);
    lode_arena_free(&specs->merged->arena);
    lode_map_free(&specs->merged->index);
    lode_array_free(&specs->merged->items);
    free(specs->merged);
}

/* ---- finding ---- */

/* A function, and the rules that match it. */
struct lookup {
    const char *name, *module;
    uint32_t matches[1 + MATCHES_MAX]; /* the kind of rules, then their indices */
    uint32_t count;
};

static bool covers(const struct lode_uft_function_spec *rule, const struct lookup *lookup)
{
    return rule->module == NULL || strncmp(lookup->module, rule->module, strlen(rule->module)) == 0;
}

static void match_rules(const struct lode_uft_function_specs *rules, struct lookup *lookup)
{
    size_t length = strlen(lookup->name);
    const uint32_t *first = lode_map_get(&rules->by_name, name_hash(lookup->name));
    unsigned tried = 0;
    lookup->count = 0;
    for (uint32_t i = first ? *first : 0; i != 0 && tried < SAME_NAME_MAX;
         i = rules->items[i - 1].next, tried++)
        if (strcmp(rules->items[i - 1].name, lookup->name) == 0 && covers(&rules->items[i - 1], lookup))
            lookup->matches[1 + lookup->count++] = i - 1;
    for (uint32_t i = 0; i < rules->pattern_count && lookup->count < MATCHES_MAX; i++) {
        const struct lode_uft_function_spec *rule = &rules->items[rules->patterns[i]];
        if (covers(rule, lookup) && lode_uft_pattern_matches(rule->pattern, lookup->name, length))
            lookup->matches[1 + lookup->count++] = rules->patterns[i];
    }
    qsort(lookup->matches + 1, lookup->count, sizeof *lookup->matches, lode_compare_u32);
}

static const struct lode_uft_spec *merge(const struct lode_uft_function_specs *rules,
                                         const struct lookup *lookup, struct lode_arena *arena)
{
    struct lode_uft_values values = {.count = 0};
    for (uint32_t i = 0; i < lookup->count; i++) {
        const struct lode_uft_spec *spec = rules->items[lookup->matches[1 + i]].spec;
        for (uint32_t j = 0; j < spec->count; j++)
            if (!lode_uft_values_add(&values, &spec->values[j]))
                return NULL;
    }
    return lode_uft_values_keep(&values, arena);
}

static const struct lode_uft_spec *find_merged(const struct lode_uft_merged *merged,
                                               const struct lookup *lookup, uint32_t first)
{
    for (uint32_t number = first; number != 0;) {
        const struct merged_spec *item = LODE_ARRAY_AT(&merged->items, struct merged_spec, number - 1);
        size_t size = (lookup->count + 1) * sizeof *item->rules;
        if (item->rule_count == lookup->count && memcmp(item->rules, lookup->matches, size) == 0)
            return item->spec;
        number = item->older;
    }
    return NULL;
}

static const struct lode_uft_spec *add_merged(struct lode_uft_merged *merged,
                                              const struct lode_uft_function_specs *rules,
                                              const struct lookup *lookup, uint32_t *first)
{
    const struct lode_uft_spec *spec = merge(rules, lookup, &merged->arena);
    uint32_t *key = lode_arena_alloc(&merged->arena, lookup->count + 1, sizeof *key);
    struct merged_spec *item = spec && key ? lode_array_push(&merged->items) : NULL;
    if (item == NULL)
        return NULL;
    memcpy(key, lookup->matches, (lookup->count + 1) * sizeof *key);
    *item = (struct merged_spec){spec, key, lookup->count, *first};
    *first = (uint32_t)merged->items.count;
    return spec;
}

/* Combines the rules. Functions that the same rules match share the result. */
static const struct lode_uft_spec *combine(const struct lode_uft_specs *specs,
                                           const struct lode_uft_function_specs *rules,
                                           const struct lookup *lookup)
{
    struct lode_uft_merged *merged = specs->merged;
    const char *key = (const char *)lookup->matches;
    if (lookup->count < 2)
        return lookup->count ? rules->items[lookup->matches[1]].spec : NULL;
    uint64_t hash = uft_hash((struct uft_text){key, key + (lookup->count + 1) * sizeof *lookup->matches});
    const struct lode_uft_spec *spec = NULL;
    pthread_mutex_lock(&merged->lock);
    uint32_t *first = lode_map_add(&merged->index, hash, 0, NULL);
    if (first) {
        spec = find_merged(merged, lookup, *first);
        if (spec == NULL)
            spec = add_merged(merged, rules, lookup, first);
    }
    pthread_mutex_unlock(&merged->lock);
    return spec;
}

static const struct lode_uft_spec *find_in(const struct lode_uft_specs *specs, enum lode_uft_specs_kind kind,
                                           struct lookup *lookup)
{
    lookup->matches[0] = kind;
    match_rules(&specs->rules[kind], lookup);
    return combine(specs, &specs->rules[kind], lookup);
}

const struct lode_uft_spec *lode_uft_specs_choose(const struct lode_uft_specs *specs, const char *name,
                                                  const char *module, bool is_result,
                                                  const struct lode_uft_spec *debug)
{
    char simple[NAME_MAX_LENGTH + 1];
    struct lookup lookup;
    enum lode_uft_specs_kind kind = is_result ? UFT_SPECS_RESULTS : UFT_SPECS_ARGUMENTS;
    enum lode_uft_specs_kind automatic = is_result ? UFT_SPECS_AUTO_RESULTS : UFT_SPECS_AUTO_ARGUMENTS;
    if (specs->rules[kind].count == 0 && specs->rules[automatic].count == 0)
        return debug;
    size_t length = lode_simple_name(name, simple, sizeof simple);
    lookup.name = length < sizeof simple ? simple : "";
    lookup.module = lode_path_tail(module);
    const struct lode_uft_spec *asked = find_in(specs, kind, &lookup);
    if (asked || debug)
        return asked ? asked : debug;
    return find_in(specs, automatic, &lookup);
}

const struct lode_uft_spec *lode_uft_specs_find(const struct lode_uft_specs *specs, const char *name,
                                                const char *module, bool is_result)
{
    return lode_uft_specs_choose(specs, name, module, is_result, NULL);
}
