/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides the activities of functions by the rules of kinds.def, and so their kinds. */
#include "analysis/activity.h"
#include "analysis/key.h"
#include "model/context.h"
#include <lode/kind.h>
#include <lode/name.h>
#include <string.h>

enum section {
    SECTION_WORD,
    SECTION_MODULE,
    SECTION_MIXED,
    SECTION_SYMBOL,
    SECTION_ANYWHERE
};

struct rule {
    enum section section;
    lode_activity activity;
    const char *pattern;
};

static const struct rule rules[] = {
#define WORD(activity, pattern)     {SECTION_WORD, LODE_ACTIVITY_##activity, pattern},
#define MODULE(activity, pattern)   {SECTION_MODULE, LODE_ACTIVITY_##activity, pattern},
#define MIXED(activity, pattern)    {SECTION_MIXED, LODE_ACTIVITY_##activity, pattern},
#define SYMBOL(activity, pattern)   {SECTION_SYMBOL, LODE_ACTIVITY_##activity, pattern},
#define ANYWHERE(activity, pattern) {SECTION_ANYWHERE, LODE_ACTIVITY_##activity, pattern},
#include "analysis/kinds.def"
#undef WORD
#undef MODULE
#undef MIXED
#undef SYMBOL
#undef ANYWHERE
};

/* Goes back to the last "*" only, so that time is at most the product of both lengths. */
bool lode_activity_matches(const char *pattern, struct lode_text text)
{
    const char *star = NULL;
    size_t i = 0, from = 0;
    while (i < text.length) {
        if (*pattern == '*') {
            star = pattern++;
            from = i;
        } else if (*pattern && (*pattern == '?' || *pattern == text.bytes[i])) {
            pattern++;
            i++;
        } else if (star) {
            pattern = star + 1;
            i = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

static const struct rule *find_rule(enum section section, struct lode_text text, struct lode_text other)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].section == section && (lode_activity_matches(rules[i].pattern, text) ||
                                            (other.length && lode_activity_matches(rules[i].pattern, other))))
            return &rules[i];
    return NULL;
}

/* A rule for a module: its path, or the last component of it. */
static const struct rule *find_module(const char *path)
{
    const char *tail = lode_path_tail(path);
    struct lode_text whole = {path, strnlen(path, LODE_NAME_COMPARED)},
                     last = {tail, strnlen(tail, LODE_NAME_COMPARED)};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        bool is_path = rules[i].pattern[0] == '/';
        if ((rules[i].section == SECTION_MODULE || rules[i].section == SECTION_MIXED) &&
            lode_activity_matches(rules[i].pattern, is_path ? whole : last))
            return &rules[i];
    }
    return NULL;
}

static bool skip(struct lode_text *text, const char *prefix)
{
    size_t length = strlen(prefix);
    if (text->length <= length || memcmp(text->bytes, prefix, length) != 0)
        return false;
    text->bytes += length;
    text->length -= length;
    return true;
}

/* Cuts a name at `mark`, unless it begins with it. */
static bool cut(struct lode_text *text, const char *mark)
{
    size_t length = strlen(mark);
    for (size_t i = 1; i + length <= text->length; i++)
        if (memcmp(text->bytes + i, mark, length) == 0) {
            text->length = i;
            return true;
        }
    return false;
}

/* The name of a library function without what compilers and libraries put before it. */
static struct lode_text plain(struct lode_text name)
{
    skip(&name, "__GI_");
    while (skip(&name, "_"))
        ;
    skip(&name, "libc_");
    return name;
}

/* "malloc@plt", and "vfs_read_[k]" of the kernel, have a module of their own, whatever is given. */
struct symbol {
    struct lode_text name;
    bool is_stub, is_kernel;
};

static struct symbol symbol_of(const char *name)
{
    struct symbol symbol = {.name = {name, strnlen(name, LODE_NAME_COMPARED)}};
    symbol.is_kernel = cut(&symbol.name, "_[k]");
    if (!symbol.is_kernel && !cut(&symbol.name, "_[i]"))
        cut(&symbol.name, "_[j]");
    struct lode_text before = symbol.name;
    symbol.is_stub = cut(&before, "@plt");
    cut(&symbol.name, " [");
    cut(&symbol.name, "@");
    return symbol;
}

struct lode_text lode_activity_symbol(const char *name)
{
    return symbol_of(name).name;
}

static lode_activity activity_of_symbol(const struct symbol *symbol, const struct rule *module)
{
    static const struct lode_text none = {NULL, 0};
    struct lode_text other = plain(symbol->name);
    bool in_library = module || symbol->is_stub || symbol->is_kernel;
    const struct rule *rule = find_rule(SECTION_ANYWHERE, symbol->name, other);
    if (rule == NULL && in_library)
        rule = find_rule(SECTION_SYMBOL, other, none);
    if (rule)
        return rule->activity;
    return module ? module->activity : symbol->is_kernel ? LODE_ACTIVITY_KERNEL : LODE_ACTIVITY_OWN;
}

lode_activity lode_activity_of_names(const char *module, const char *name)
{
    static const struct lode_text none = {NULL, 0};
    struct lode_text whole = {name ? name : "", name ? strnlen(name, LODE_NAME_COMPARED) : 0};
    const struct rule *word = whole.length ? find_rule(SECTION_WORD, whole, none) : NULL;
    if (word)
        return word->activity;
    const struct rule *rule = module ? find_module(module) : NULL;
    if (rule && (rule->section == SECTION_MODULE || whole.length == 0))
        return rule->activity;
    if (whole.length == 0)
        return LODE_ACTIVITY_OWN;
    struct symbol symbol = symbol_of(name);
    return activity_of_symbol(&symbol, rule);
}

lode_kind lode_kind_of(const char *module, const char *name)
{
    return lode_activity_kind((int)lode_activity_of_names(module, name));
}

lode_kind lode_kind_of_function(const lode_function *function)
{
    return lode_kind_of(function->module ? function->module->path : NULL, function->name);
}

lode_kind lode_kind_of_context(const lode_context *context)
{
    return lode_activity_kind((int)lode_activity_of_context(NULL, context));
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
