/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules: regular expressions with replacements, built in and given. */
#include "analysis/compare/name_rules.h"

#include "base/error.h"
#include "base/getter.h"
#include "base/memory/arena.h"
#include "base/memory/array.h"
#include "base/text/label.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
    GIVEN_MAX = 64,      /* rules in a text */
    TEXT_MAX = 64 << 10, /* bytes of a text */
    STEPS_MAX = 100000,  /* of a regular expression, per name */
    HEAP_MAX = 1024,     /* KiB, likewise */
    GROUPS = 10
};

struct name_rule {
    lode_name_rule shown;
    const char *needs; /* NULL: not known */
    pcre2_code *code;
};

struct lode_name_rules {
    struct lode_array items; /* struct name_rule */
    struct lode_arena arena; /* of texts that were given */
    pcre2_match_context *limits;
};

static const struct builtin {
    lode_name_rule rule;
    const char *needs; /* in every name that it changes */
} builtin[] = {
#define RULE(id, subject, needs, pattern, replacement, description)                                          \
    {{id, LODE_SUBJECT_##subject, pattern, replacement, description, 1}, needs},
#include "analysis/compare/name_rules.def"
#undef RULE
};

enum {
    BUILTIN_COUNT = sizeof builtin / sizeof *builtin
};

/* ---- applying ---- */

/* Text that is being written, of LODE_NORMAL_MAX bytes. */
struct text {
    char *bytes;
    size_t length;
    bool is_full;
};

static void put(struct text *text, const char *bytes, size_t count)
{
    if (text->is_full || count >= LODE_NORMAL_MAX - text->length) {
        text->is_full = true;
        return;
    }
    memcpy(text->bytes + text->length, bytes, count);
    text->length += count;
}

/* A match in a subject. */
struct match {
    const char *subject;
    const size_t *bounds; /* of groups, two each */
    size_t groups;        /* that were set */
};

static void put_group(struct text *text, const struct match *match, size_t group)
{
    if (group < match->groups && match->bounds[2 * group] != PCRE2_UNSET)
        put(text, match->subject + match->bounds[2 * group],
            match->bounds[2 * group + 1] - match->bounds[2 * group]);
}

static void put_replacement(struct text *text, struct text *slots, const char *replacement,
                            const struct match *match, const char *module)
{
    static const char slot = LODE_SLOT, end = '\n';
    for (const char *c = replacement; *c; c++) {
        bool is_group = isdigit((unsigned char)c[1]);
        if (*c == '$' && is_group) {
            put_group(text, match, (size_t)(*++c - '0'));
        } else if (*c == '#' && is_group) {
            put(text, &slot, 1);
            put_group(slots, match, (size_t)(*++c - '0'));
            put(slots, &end, 1);
        } else if (*c == '$' && c[1] == 'm') {
            const char *name = module && module[0] ? module : "unknown module";
            put(text, name, strlen(name));
            c++;
        } else {
            c += *c == '\\' && c[1];
            put(text, c, 1);
        }
    }
}

/* Replaces every match; `count` is how many there were. False: too many steps. */
static bool replace_all(const lode_name_rules *rules, const struct name_rule *rule, const char *module,
                        struct lode_normal_name *name, pcre2_match_data *data, struct text *out,
                        struct text *slots, size_t *count)
{
    size_t at = 0, copied = 0;
    const size_t *bounds = pcre2_get_ovector_pointer(data);
    *count = 0;
    while (at <= name->length) {
        int found = pcre2_match(rule->code, (PCRE2_SPTR)name->text, name->length, at, 0, data, rules->limits);
        if (found == PCRE2_ERROR_NOMATCH)
            break;
        if (found < 0)
            return false;
        if (bounds[1] <= bounds[0] || bounds[0] < at) {
            at = bounds[1] > at ? bounds[1] + 1 : at + 1;
            continue;
        }
        struct match match = {name->text, bounds, (size_t)found};
        put(out, name->text + copied, bounds[0] - copied);
        put_replacement(out, slots, rule->shown.replacement, &match, module);
        at = copied = bounds[1];
        ++*count;
    }
    put(out, name->text + copied, name->length - copied);
    return true;
}

static void note_change(struct lode_normal_name *name, uint32_t rule)
{
    if (name->changed_count < name->changed_capacity)
        name->changed[name->changed_count] = rule;
    name->changed_count++;
}

static lode_status run_rule(const lode_name_rules *rules, uint32_t number, const char *module,
                            struct lode_normal_name *name, pcre2_match_data *data, lode_error *error)
{
    const struct name_rule *rule = LODE_ARRAY_AT(&rules->items, struct name_rule, number);
    struct text out = {name->other, 0, false}, slots = {name->slots, name->slots_length, false};
    size_t count;
    name->text[name->length] = '\0';
    if (rule->needs && strstr(name->text, rule->needs) == NULL)
        return LODE_OK;
    if (!replace_all(rules, rule, module, name, data, &out, &slots, &count)) {
        if (rule->shown.is_builtin)
            return LODE_OK;
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET,
                         "the rule of %s takes too many steps for a name", rule->shown.id);
    }
    bool is_same = out.length == name->length && memcmp(out.bytes, name->text, out.length) == 0;
    if (count == 0 || out.is_full || slots.is_full || is_same)
        return LODE_OK;
    memcpy(name->text, out.bytes, out.length);
    name->length = out.length;
    name->slots_length = slots.length;
    note_change(name, number);
    return LODE_OK;
}

lode_status lode_name_rules_run(const lode_name_rules *rules, lode_name_subject subject, const char *module,
                                struct lode_normal_name *name, lode_error *error)
{
    pcre2_match_data *data = pcre2_match_data_create(GROUPS, NULL);
    lode_status status = data ? LODE_OK : lode_fail_memory(error);
    name->changed_count = name->slots_length = 0;
    for (uint32_t i = 0; i < rules->items.count && status == LODE_OK; i++)
        if (LODE_ARRAY_AT(&rules->items, struct name_rule, i)->shown.subject == subject)
            status = run_rule(rules, i, module, name, data, error);
    pcre2_match_data_free(data);
    name->text[name->length] = '\0';
    name->slots[name->slots_length] = '\0';
    return status;
}

lode_status lode_name_rules_apply(const lode_name_rules *rules, lode_name_subject subject, const char *name,
                                  const char *module, char *buffer, size_t capacity, size_t *length,
                                  uint32_t *changed, size_t changed_capacity, size_t *changed_count,
                                  lode_error *error)
{
    struct lode_label label = {buffer, capacity, 0};
    struct lode_normal_name *work = calloc(1, sizeof *work);
    LODE_TRY_ALLOC(work, error);
    struct lode_label input = {work->text, sizeof work->text, 0};
    if (strnlen(name, LODE_NORMAL_MAX) < LODE_NORMAL_MAX)
        lode_label_text(&input, name);
    work->length = lode_label_end(&input);
    work->changed = changed;
    work->changed_capacity = changed ? changed_capacity : 0;
    lode_status status = LODE_OK;
    if (work->length > 0 && work->length < LODE_NORMAL_MAX) {
        status = lode_name_rules_run(rules, subject, module, work, error);
        for (char *slot = work->text; (slot = strchr(slot, LODE_SLOT));)
            *slot = '#';
        lode_label_bytes(&label, work->text, work->length);
    } else {
        lode_label_text(&label, name);
    }
    size_t whole = lode_label_end(&label);
    if (length)
        *length = whole;
    if (changed_count)
        *changed_count = work->changed_count;
    free(work);
    return status;
}

/* ---- opening ---- */

static lode_status add_rule(lode_name_rules *rules, const lode_name_rule *shown, const char *needs,
                            lode_error *error)
{
    int code;
    size_t offset;
    pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)shown->pattern, strlen(shown->pattern),
                                         PCRE2_DOTALL | PCRE2_NEVER_BACKSLASH_C, &code, &offset, NULL);
    if (compiled == NULL) {
        char words[128] = "";
        pcre2_get_error_message(code, (PCRE2_UCHAR *)words, sizeof words);
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "%s: not a regular expression, at character %zu: %s", shown->id, offset + 1, words);
    }
    struct name_rule *rule = lode_array_push(&rules->items);
    if (rule == NULL) {
        pcre2_code_free(compiled);
        return lode_fail_memory(error);
    }
    *rule = (struct name_rule){*shown, needs, compiled};
    return LODE_OK;
}

/* Part of a line, as a string. */
static const char *copy_part(lode_name_rules *rules, const char *begin, size_t length)
{
    char *copy = lode_arena_alloc(&rules->arena, length + 1, 1);
    if (copy)
        memcpy(copy, begin, length);
    return copy;
}

struct line {
    const char *at, *end;
    size_t number;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_spaces(struct line *line)
{
    while (line->at < line->end && is_space(*line->at))
        line->at++;
}

/* The part up to the delimiter; NULL if there is none. An escaped delimiter stands for itself. */
static char *take_part(lode_name_rules *rules, struct line *line, char delimiter)
{
    char *part = lode_arena_alloc(&rules->arena, (size_t)(line->end - line->at) + 1, 1);
    size_t length = 0;
    for (; part && line->at < line->end; line->at++) {
        if (*line->at == delimiter) {
            line->at++;
            return part;
        }
        bool is_escaped = *line->at == '\\' && line->at + 1 < line->end;
        if (is_escaped && line->at[1] != delimiter)
            part[length++] = *line->at;
        line->at += is_escaped;
        part[length++] = *line->at;
    }
    return NULL;
}

static lode_status fail_line(const struct line *line, const char *what, lode_error *error)
{
    return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "rules, line %zu: %s", line->number,
                     what);
}

static bool take_word(struct line *line, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(line->end - line->at) <= length || strncmp(line->at, word, length) != 0 ||
        !is_space(line->at[length]))
        return false;
    line->at += length;
    skip_spaces(line);
    return true;
}

static bool take_subject(struct line *line, lode_name_subject *subject)
{
    static const char *const words[] = {
        [LODE_SUBJECT_NAME] = "name", [LODE_SUBJECT_MODULE] = "module", [LODE_SUBJECT_FILE] = "file"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (take_word(line, words[i])) {
            *subject = (lode_name_subject)i;
            return true;
        }
    return false;
}

static lode_status read_off(struct line *line, bool *is_off, lode_error *error)
{
    size_t length = (size_t)(line->end - line->at);
    for (size_t i = 0; i < BUILTIN_COUNT; i++)
        if (strlen(builtin[i].rule.id) == length && strncmp(builtin[i].rule.id, line->at, length) == 0) {
            is_off[i] = true;
            return LODE_OK;
        }
    return fail_line(line, "no built-in rule has this id", error);
}

static lode_status read_rule(lode_name_rules *rules, struct line *line, lode_error *error)
{
    lode_name_rule rule = {.is_builtin = 0};
    char id[32];
    if (!take_subject(line, &rule.subject))
        return fail_line(line, "expected name, module, file or off", error);
    char delimiter = line->at < line->end ? *line->at++ : '\0';
    if (delimiter == '\0' || delimiter == '\\' || isalnum((unsigned char)delimiter))
        return fail_line(line, "expected /PATTERN/REPLACEMENT/", error);
    rule.pattern = take_part(rules, line, delimiter);
    rule.replacement = rule.pattern ? take_part(rules, line, delimiter) : NULL;
    if (rule.replacement == NULL)
        return fail_line(line, "expected /PATTERN/REPLACEMENT/", error);
    skip_spaces(line);
    struct lode_label label = {id, sizeof id, 0};
    lode_label_format(&label, "line %zu", line->number);
    lode_label_end(&label);
    rule.id = copy_part(rules, id, strlen(id));
    rule.description = copy_part(rules, line->at, (size_t)(line->end - line->at));
    LODE_TRY_ALLOC(rule.id && rule.description, error);
    if (rule.pattern[0] == '\0')
        return fail_line(line, "the pattern is empty", error);
    return add_rule(rules, &rule, NULL, error);
}

/* Reads lines that leave out built-in rules if `rules` is NULL, else the others. */
static lode_status read_text(lode_name_rules *rules, const char *text, size_t size, bool *is_off,
                             lode_error *error)
{
    size_t number = 0, given = 0;
    for (const char *at = text, *end = text + size; at < end; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        struct line line = {at, newline ? newline : end, number + 1};
        at = newline ? newline + 1 : end;
        while (line.end > line.at && is_space(line.end[-1]))
            line.end--;
        skip_spaces(&line);
        if (line.at == line.end || *line.at == '#')
            continue;
        if (memchr(line.at, '\0', (size_t)(line.end - line.at)))
            return fail_line(&line, "a NUL character", error);
        bool off = take_word(&line, "off");
        if (off && rules == NULL)
            LODE_TRY(read_off(&line, is_off, error));
        if (off || rules == NULL)
            continue;
        if (given++ == GIVEN_MAX)
            return fail_line(&line, "too many rules", error);
        LODE_TRY(read_rule(rules, &line, error));
    }
    return LODE_OK;
}

static lode_status open_rules(lode_name_rules *rules, const char *text, size_t size, lode_error *error)
{
    bool is_off[BUILTIN_COUNT] = {false};
    rules->limits = pcre2_match_context_create(NULL);
    LODE_TRY_ALLOC(rules->limits, error);
    pcre2_set_match_limit(rules->limits, STEPS_MAX);
    pcre2_set_heap_limit(rules->limits, HEAP_MAX);
    if (size > TEXT_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "rules: more than %d bytes", TEXT_MAX);
    if (text)
        LODE_TRY(read_text(NULL, text, size, is_off, error));
    for (size_t i = 0; i < BUILTIN_COUNT; i++)
        if (!is_off[i])
            LODE_TRY(add_rule(rules, &builtin[i].rule, builtin[i].needs, error));
    return text ? read_text(rules, text, size, is_off, error) : LODE_OK;
}

lode_status lode_name_rules_open(lode_name_rules **out, const char *text, size_t size, lode_error *error)
{
    lode_name_rules *rules = calloc(1, sizeof *rules);
    *out = NULL;
    LODE_TRY_ALLOC(rules, error);
    lode_array_init(&rules->items, sizeof(struct name_rule), BUILTIN_COUNT + GIVEN_MAX);
    lode_arena_init(&rules->arena, (size_t)8 * TEXT_MAX);
    lode_status status = open_rules(rules, text, size, error);
    if (status == LODE_OK)
        *out = rules;
    else
        lode_name_rules_close(rules);
    return status;
}

void lode_name_rules_close(lode_name_rules *rules)
{
    if (rules == NULL)
        return;
    for (size_t i = 0; i < rules->items.count; i++)
        pcre2_code_free(LODE_ARRAY_AT(&rules->items, struct name_rule, i)->code);
    lode_array_free(&rules->items);
    lode_arena_free(&rules->arena);
    pcre2_match_context_free(rules->limits);
    free(rules);
}

LODE_GETTER(size_t, lode_name_rules_count, lode_name_rules, items.count);

const lode_name_rule *lode_name_rules_at(const lode_name_rules *rules, size_t index)
{
    return index < rules->items.count ? &LODE_ARRAY_AT(&rules->items, struct name_rule, index)->shown : NULL;
}
