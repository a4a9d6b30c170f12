/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides what functions do by the rules of kinds.def: their activities, and so their kinds. */
#include "analysis/kinds/activity.h"
#include "base/memory/hash.h"
#include <lode/name.h>
#include <lode/unstable/kind.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

enum section {
    SECTION_WORD,
    SECTION_MODULE,
    SECTION_MIXED,
    SECTION_INSIDE,
    SECTION_SYMBOL,
    SECTION_ANYWHERE
};

struct kind_rule {
    enum section section;
    lode_activity activity;
    lode_effect effect;
    const char *words;
    const char *libraries; /* INSIDE: patterns of modules */
};

static const struct kind_rule rules[] = {
#define RULE(section, activity, effect, words, library)                                                      \
    {SECTION_##section, LODE_ACTIVITY_##activity, LODE_EFFECT_##effect, words, library},
#define WORD(activity, effect, word)             RULE(WORD, activity, effect, word, NULL)
#define MODULE(activity, word)                   RULE(MODULE, activity, NONE, word, NULL)
#define MIXED(activity, word)                    RULE(MIXED, activity, NONE, word, NULL)
#define INSIDE(library, activity, effect, words) RULE(INSIDE, activity, effect, words, library)
#define SYMBOL(activity, effect, words)          RULE(SYMBOL, activity, effect, words, NULL)
#define ANYWHERE(activity, effect, words)        RULE(ANYWHERE, activity, effect, words, NULL)
#include "analysis/kinds/kinds.def"
#undef RULE
#undef WORD
#undef MODULE
#undef MIXED
#undef INSIDE
#undef SYMBOL
#undef ANYWHERE
};

#define RULE_COUNT (sizeof rules / sizeof *rules)

/* Goes back to the last "*" only, so that time is at most the product of both lengths. */
static bool match_all(struct lode_text pattern, struct lode_text text)
{
    size_t i = 0, at = 0, from = 0, star = SIZE_MAX;
    while (i < text.length) {
        bool is_end = at == pattern.length;
        if (!is_end && pattern.bytes[at] == '*') {
            star = at++;
            from = i;
        } else if (!is_end && (pattern.bytes[at] == '?' || pattern.bytes[at] == text.bytes[i])) {
            at++;
            i++;
        } else if (star != SIZE_MAX) {
            at = star + 1;
            i = ++from;
        } else {
            return false;
        }
    }
    while (at < pattern.length && pattern.bytes[at] == '*')
        at++;
    return at == pattern.length;
}

/* The same; most patterns begin with another letter than the text. */
static inline bool matches(struct lode_text pattern, struct lode_text text)
{
    char first = pattern.length ? pattern.bytes[0] : '*';
    bool can_match = first == '*' || first == '?' || (text.length && first == text.bytes[0]);
    return can_match && match_all(pattern, text);
}

static struct lode_text text_of(const char *string)
{
    return (struct lode_text){string, strnlen(string, LODE_NAME_COMPARED)};
}

bool lode_activity_matches(const char *pattern, struct lode_text text)
{
    return matches((struct lode_text){pattern, strlen(pattern)}, text);
}

/* ---- the words of rules ---- */

enum {
    WORDS_MAX = 8192,
    PATTERNS_MAX = 1024,
    SLOTS = 16384 /* a power of two, at least twice as many */
};

/* A word of a rule. */
struct word {
    struct lode_text text;
    uint16_t rule;
};

/* Made once of the rules, and never changed then. */
static struct {
    struct word words[WORDS_MAX];
    uint16_t slots[SLOTS]; /* names and scopes: index of the word + 1 */
    /* Indices of others, in the order of the rules. */
    uint16_t patterns[PATTERNS_MAX], whole[PATTERNS_MAX], modules[PATTERNS_MAX];
    size_t word_count, pattern_count, whole_count, module_count;
} index_of;
static pthread_once_t index_once = PTHREAD_ONCE_INIT;

static size_t slot_of(struct lode_text text)
{
    return (size_t)lode_hash_fixed(text.bytes, text.length) & (SLOTS - 1);
}

/* The word of a name or scope; NULL: none. */
static const struct word *find_word(struct lode_text text)
{
    for (size_t slot = slot_of(text); index_of.slots[slot]; slot = (slot + 1) & (SLOTS - 1)) {
        const struct word *word = &index_of.words[index_of.slots[slot] - 1];
        if (word->text.length == text.length && memcmp(word->text.bytes, text.bytes, text.length) == 0)
            return word;
    }
    return NULL;
}

/* Whether this is no pattern, or one that ends with "::*" and has no other "*". */
static bool is_name_or_scope(struct lode_text word)
{
    const char *mark = memchr(word.bytes, '*', word.length);
    if (memchr(word.bytes, '?', word.length))
        return false;
    if (mark && mark > word.bytes && mark[-1] == '(') /* "sync.(*Mutex).Lock" of Go */
        mark = memchr(mark + 1, '*', word.length - (size_t)(mark + 1 - word.bytes));
    return mark == NULL || (mark == word.bytes + word.length - 1 && word.length > 3 && mark[-1] == ':');
}

static void add_slot(struct lode_text text, uint16_t number)
{
    size_t slot = slot_of(text);
    while (index_of.slots[slot])
        slot = (slot + 1) & (SLOTS - 1);
    index_of.slots[slot] = (uint16_t)(number + 1);
}

static void add_pattern(uint16_t *list, size_t *count, uint16_t number)
{
    if (*count < PATTERNS_MAX)
        list[(*count)++] = number;
}

/* A test looks for every word, so that nothing is lost for lack of space. */
static void add_word(struct lode_text text, uint16_t rule)
{
    if (index_of.word_count == WORDS_MAX)
        return;
    uint16_t number = (uint16_t)index_of.word_count++;
    index_of.words[number] = (struct word){text, rule};
    if (rules[rule].section == SECTION_WORD)
        add_pattern(index_of.whole, &index_of.whole_count, number);
    else if (rules[rule].section < SECTION_INSIDE)
        add_pattern(index_of.modules, &index_of.module_count, number);
    else if (is_name_or_scope(text))
        add_slot(text, number);
    else
        add_pattern(index_of.patterns, &index_of.pattern_count, number);
}

/* The next of words that blanks separate; empty: there is none. */
static struct lode_text next_word(const char **at)
{
    const char *begin = *at + strspn(*at, " ");
    struct lode_text word = {begin, strcspn(begin, " ")};
    *at = begin + word.length;
    return word;
}

static void make_index(void)
{
    for (size_t i = 0; i < RULE_COUNT; i++) {
        const char *at = rules[i].words;
        if (rules[i].section < SECTION_INSIDE)
            add_word(text_of(at), (uint16_t)i);
        else
            for (struct lode_text word; (word = next_word(&at)).length;)
                add_word(word, (uint16_t)i);
    }
}

/* ---- looking for rules ---- */

/* What decides about a function: a rule, and the word of it. */
struct found {
    const struct kind_rule *rule;
    struct lode_text word;
};

/* Where a function is. */
struct place {
    bool in_library;       /* of the system, or in the kernel */
    struct lode_text file; /* the last component of the path of its module */
};

static bool applies(const struct kind_rule *rule, const struct place *place)
{
    if (rule->section != SECTION_INSIDE)
        return rule->section == SECTION_ANYWHERE || place->in_library;
    const char *at = rule->libraries;
    for (struct lode_text library; (library = next_word(&at)).length;)
        if (matches(library, place->file))
            return true;
    return false;
}

static struct found found_word(const struct word *word, const struct place *place)
{
    if (word == NULL || !applies(&rules[word->rule], place))
        return (struct found){0};
    return (struct found){&rules[word->rule], word->text};
}

/* A function of C++ or Rust: by its name, then by its scopes from the inside to the outside. */
static struct found find_scoped(struct lode_text name, const struct place *place)
{
    char scope[LODE_NAME_COMPARED + 1];
    struct found found = found_word(find_word(name), place);
    for (size_t i = name.length; found.rule == NULL && i > 2; i--) {
        if (name.bytes[i - 1] != ':' || name.bytes[i - 2] != ':')
            continue;
        memcpy(scope, name.bytes, i);
        scope[i] = '*';
        found = found_word(find_word((struct lode_text){scope, i + 1}), place);
    }
    return found;
}

/* A function of C: as in the file, then without what is put around it. */
static struct found find_name(struct lode_text name, struct lode_text plain, const struct place *place)
{
    char buffer[LODE_NAME_COMPARED];
    struct found found = found_word(find_word(name), place);
    if (found.rule == NULL)
        found = found_word(find_word(plain), place);
    struct lode_text stem = lode_name_stem(plain);
    if (found.rule == NULL && stem.length < plain.length)
        found = found_word(find_word(stem), place);
    if (found.rule == NULL)
        found = found_word(find_word(lode_mpi_name(name, buffer, sizeof buffer)), place);
    return found;
}

static struct found find_pattern(struct lode_text name, struct lode_text other, const struct place *place)
{
    const struct kind_rule *rule = NULL;
    bool is_here = false;
    for (size_t i = 0; i < index_of.pattern_count; i++) {
        const struct word *word = &index_of.words[index_of.patterns[i]];
        if (rule != &rules[word->rule]) {
            rule = &rules[word->rule];
            is_here = applies(rule, place);
        }
        if (is_here &&
            (matches(word->text, other) || (rule->section == SECTION_ANYWHERE && matches(word->text, name))))
            return (struct found){rule, word->text};
    }
    return (struct found){0};
}

static struct found find_symbol(const struct lode_symbol *symbol, const struct place *place)
{
    char buffer[LODE_NAME_COMPARED];
    struct lode_text plain = lode_plain_name(symbol->name);
    struct lode_text scoped = lode_scoped_name(symbol->name, buffer, sizeof buffer);
    struct found found = scoped.length ? find_scoped(scoped, place) : find_name(symbol->name, plain, place);
    return found.rule ? found : find_pattern(symbol->name, scoped.length ? scoped : plain, place);
}

static struct found find_whole(struct lode_text name)
{
    for (size_t i = 0; i < index_of.whole_count; i++) {
        const struct word *word = &index_of.words[index_of.whole[i]];
        if (matches(word->text, name))
            return (struct found){&rules[word->rule], word->text};
    }
    return (struct found){0};
}

/* A rule for a module: its path, or the last component of it. */
static struct found find_module(const char *path)
{
    struct lode_text whole = text_of(path), last = text_of(lode_path_tail(path));
    for (size_t i = 0; i < index_of.module_count; i++) {
        const struct word *word = &index_of.words[index_of.modules[i]];
        if (matches(word->text, word->text.bytes[0] == '/' ? whole : last))
            return (struct found){&rules[word->rule], word->text};
    }
    return (struct found){0};
}

/* ---- decisions ---- */

static struct lode_decision decision_of(struct found found, enum lode_decided decided)
{
    return (struct lode_decision){found.rule->activity, found.rule->effect, decided, found.word, 0};
}

/*
 * By its name, and in a module whose functions are all of one activity or have one of their own
 * unless a name says more.
 */
static struct lode_decision decide_symbol(const char *module, const char *name, struct found of_module,
                                          bool is_stub)
{
    struct lode_symbol symbol = lode_symbol_of(name);
    struct place place = {of_module.rule || is_stub || symbol.is_stub || symbol.is_kernel,
                          text_of(module ? lode_path_tail(module) : "")};
    struct found found = find_symbol(&symbol, &place);
    lode_activity other = symbol.is_kernel ? LODE_ACTIVITY_KERNEL : LODE_ACTIVITY_OWN;
    if (found.rule == NULL)
        return of_module.rule ? decision_of(of_module, LODE_DECIDED_MODULE)
                              : (struct lode_decision){.activity = other};
    struct lode_decision decision = decision_of(found, LODE_DECIDED_NAME);
    if (of_module.rule == NULL || found.rule->activity == of_module.rule->activity)
        return decision;
    if (of_module.rule->section == SECTION_MODULE)
        return decision_of(of_module, LODE_DECIDED_MODULE);
    if (decision.activity == LODE_ACTIVITY_LIB)
        decision.activity = of_module.rule->activity;
    return decision;
}

struct lode_decision lode_decide_names(const char *module, const char *name, bool is_stub)
{
    struct lode_text whole = text_of(name ? name : "");
    (void)pthread_once(&index_once, make_index);
    struct found word = whole.length ? find_whole(whole) : (struct found){0};
    if (word.rule)
        return decision_of(word, LODE_DECIDED_NAME);
    struct found found = module ? find_module(module) : (struct found){0};
    if (whole.length)
        return decide_symbol(module, name, found, is_stub);
    return found.rule ? decision_of(found, LODE_DECIDED_MODULE) : (struct lode_decision){0};
}

lode_kind lode_kind_of(const char *module, const char *name)
{
    return lode_activity_kind((int)lode_decide_names(module, name, false).activity);
}

lode_kind lode_kind_by_rules(const lode_kind_rules *users, const lode_context *context,
                             const lode_function *function)
{
    if (context)
        return lode_activity_kind((int)lode_activity_of_context(users, context));
    return function ? lode_activity_kind((int)lode_decide_call(users, function).activity) : LODE_KIND_OWN;
}

lode_kind lode_kind_of_function(const lode_function *function)
{
    return lode_kind_by_rules(NULL, NULL, function);
}

lode_kind lode_kind_of_context(const lode_context *context)
{
    return lode_kind_by_rules(NULL, context, NULL);
}

static const struct {
    const char *name, *title;
} kinds[LODE_KIND_COUNT] = {
    [LODE_KIND_OWN] = {"own", "own code"},
    [LODE_KIND_MPI] = {"mpi", "MPI"},
    [LODE_KIND_THREADS] = {"threads", "threads and OpenMP"},
    [LODE_KIND_MEMORY] = {"memory", "memory"},
    [LODE_KIND_IO] = {"io", "input and output"},
    [LODE_KIND_SYSTEM] = {"system", "system libraries"},
    [LODE_KIND_GPU] = {"gpu", "GPU"},
    [LODE_KIND_IDLE] = {"idle", "not running"},
};

const char *lode_kind_name(int kind)
{
    return kind >= 0 && kind < LODE_KIND_COUNT ? kinds[kind].name : NULL;
}

const char *lode_kind_title(int kind)
{
    return kind >= 0 && kind < LODE_KIND_COUNT ? kinds[kind].title : NULL;
}
