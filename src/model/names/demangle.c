/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Demangles symbols. Full names are those of __cxa_demangle, limited in length. Simple names are
 * cut out of them as uftrace spells them: "app::operator+" for "app::operator+(app::Box const&)".
 * uftrace compares the patterns of a recording with simple names, and the patterns decide which
 * records have arguments: doc/formats/uftrace.md lists its rules.
 */
#include "base/text/label.h"
#include "model/names/demangler.h"
#include "model/names/descriptor.h"
#include <lode/name.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- hostile names ---- */

enum {
    REFERENCES_MAX = 512, /* different substitutions in a name */
    TYPE_LETTERS = 20,    /* "unsigned long long" is one letter when mangled */
    EXPANSIONS_MAX = 32,  /* of packs, each of which repeats a pattern */
    DEMANGLED_MAX = 64 << 20,
    /* Limit of growth: a factor and a constant. The largest factor of 74,000 real names is 29. */
    GROWTH_MAX = 32,
    GROWTH_MORE = 1024
};

/* A substitution (S_, S0_...) or a template parameter (T_, T0_...). */
struct reference {
    bool is_parameter;
    uint32_t number;
    uint64_t size; /* upper bound when expanded */
};

/* Reads "_", "0_", "1A_"; false if it is not a number. */
static bool take_number(const char **at, uint32_t *number)
{
    uint32_t value = 0;
    const char *c = *at;
    for (; (*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z'); c++)
        value = value * 36 + (uint32_t)(*c <= '9' ? *c - '0' : *c - 'A' + 10) + (c == *at);
    if (*c != '_' || c - *at > 5)
        return false;
    *at = c + 1;
    *number = value;
    return true;
}

/* Upper bound of a substitution, given that `written` characters come before it. */
static uint64_t reference_size(struct reference *known, size_t *count, bool is_parameter, uint32_t number,
                               uint64_t written)
{
    uint64_t size = written;
    for (size_t i = 0; i < *count; i++) {
        if (known[i].is_parameter != is_parameter)
            continue;
        if (known[i].number == number)
            return known[i].size;
        /* Substitutions are numbered in order, so a later one bounds an earlier one. */
        if (!is_parameter && known[i].number > number && known[i].size < size)
            size = known[i].size;
    }
    if (*count < REFERENCES_MAX)
        known[(*count)++] = (struct reference){is_parameter, number, size};
    return size;
}

/*
 * Whether a name could become too long. Substitutions can double the length each time: 250 bytes
 * can become a gigabyte. This is an upper bound; real names stay at a few kilobytes.
 */
static bool is_bomb(const char *symbol)
{
    struct reference known[REFERENCES_MAX];
    size_t count = 0;
    unsigned expansions = 0;
    uint64_t written = 0;
    const char *at = symbol;
    while (*at && written <= DEMANGLED_MAX && expansions <= EXPANSIONS_MAX && count < REFERENCES_MAX) {
        const char *after = at + 1;
        uint32_t number;
        expansions += (at[0] == 'D' || at[0] == 's') && at[1] == 'p';
        if ((*at == 'S' || *at == 'T') && take_number(&after, &number)) {
            written += reference_size(known, &count, *at == 'T', number, written);
            at = after;
        } else {
            written += TYPE_LETTERS;
            at++;
        }
    }
    return written > DEMANGLED_MAX || expansions > EXPANSIONS_MAX || count == REFERENCES_MAX;
}

/* The demangled symbol, which the caller frees; NULL if it is not mangled or too long. */
static char *demangle(const char *symbol)
{
    int status;
    /* Require the prefix: the demangler also accepts bare types ("i" is "int"). */
    if (strncmp(symbol, "_Z", 2) != 0 || is_bomb(symbol))
        return NULL;
    lode_demangle_fn function = lode_demangler();
    char *demangled = function ? function(symbol, NULL, NULL, &status) : NULL;
    if (demangled && strlen(demangled) > strlen(symbol) * GROWTH_MAX + GROWTH_MORE) {
        free(demangled);
        demangled = NULL;
    }
    return demangled;
}

void lode_symbol_put(struct lode_label *label, const char *symbol)
{
    const char *descriptor = lode_descriptor(symbol);
    if (descriptor) {
        lode_label_bytes(label, symbol, (size_t)(descriptor - symbol));
        lode_descriptor_put(label, descriptor);
        return;
    }
    char *demangled = demangle(symbol);
    lode_label_text(label, demangled ? demangled : symbol);
    free(demangled);
}

size_t lode_demangle(const char *symbol, char *buffer, size_t capacity)
{
    struct lode_label label = {buffer, capacity, 0};
    lode_symbol_put(&label, symbol);
    return lode_label_end(&label);
}

/* ---- simple names ---- */

static bool take(const char **at, const char *prefix)
{
    size_t length = strlen(prefix);
    if (strncmp(*at, prefix, length) != 0)
        return false;
    *at += length;
    return true;
}

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

/* The position after an operator symbol; `at` for a conversion, or if there is none. */
static const char *after_sign(const char *at)
{
    static const char *const signs[] = {
        "()", "[]", "<<=", ">>=",  "<=>", "->*",    "<<",   ">>",        "->",      "<=",       ">=", "<",
        ">",  "+=", "-=",  "*=",   "/=",  "%=",     "&=",   "|=",        "^=",      "==",       "!=", "&&",
        "||", "++", "--",  "\"\"", "+",   "-",      "*",    "/",         "%",       "&",        "|",  "^",
        "~",  "!",  "=",   ",",    "?",   " new[]", " new", " delete[]", " delete", " co_await"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (take(&at, signs[i]))
            return at;
    return at;
}

/* The position after the closing parenthesis that matches, or the end. */
static const char *after_parenthesis(const char *at)
{
    size_t depth = 0;
    while (*at) {
        char c = *at++;
        if (c == '(')
            depth++;
        else if (c == ')' && --depth == 0)
            break;
    }
    return at;
}

/* The position after the closing angle bracket that matches, or the end. */
static const char *after_angle(const char *at)
{
    size_t depth = 0;
    while (*at) {
        if (*at == '(') {
            at = after_parenthesis(at);
            continue;
        }
        if (take(&at, "operator")) {
            at = after_sign(at);
            continue;
        }
        char c = *at;
        at += at[0] == '-' && at[1] == '>' ? 2 : 1;
        if (c == '<')
            depth++;
        else if (c == '>' && --depth == 0)
            break;
    }
    return at;
}

/* The position after the closing bracket that matches the one at `at`, or the end. */
static const char *after_bracket(const char *at)
{
    return *at == '(' ? after_parenthesis(at) : after_angle(at);
}

/* "operator" and its symbol; drops the type of a conversion and the suffix of a literal. */
static const char *put_operator(struct lode_label *label, const char *at)
{
    const char *end = after_sign(at);
    lode_label_text(label, "operator");
    if (end == at)
        lode_label_text(label, "(cast)");
    lode_label_bytes(label, at, (size_t)(end - at));
    if (end == at || end[-1] == '"')
        while (*end && *end != '(')
            end = *end == '<' ? after_bracket(end) : end + 1;
    return *end == ' ' ? end + 1 : end;
}

/* "{lambda(int)#3}" becomes "$_2"; unnamed types and default arguments are dropped. */
static const char *put_unnamed(struct lode_label *label, const char *at)
{
    bool is_lambda = strncmp(at, "{lambda", 7) == 0;
    while (*at && *at != '#' && *at != '}')
        at = *at == '(' || *at == '<' ? after_bracket(at) : at + 1;
    long number = *at == '#' ? strtol(at + 1, NULL, 10) : 0;
    const char *end = strchr(at, '}');
    end = end ? end + 1 : at + strlen(at);
    if (is_lambda)
        lode_label_format(label, "$_%ld", number - 1);
    else
        take(&end, "::");
    return end;
}

/* Skips parameters: a name nested in the function may follow. */
static const char *skip_parameters(const char *at)
{
    static const char *const qualifiers[] = {" const", " volatile", " restrict", " &&", " &", "&&", "&"};
    at = after_bracket(at);
    for (size_t i = 0; i < sizeof qualifiers / sizeof *qualifiers; i++)
        take(&at, qualifiers[i]);
    return strncmp(at, "::", 2) == 0 ? at : "";
}

/* The replacement of a word; NULL if none. */
static const char *put_word(struct lode_label *label, const char *at, bool is_first)
{
    static const struct {
        const char *name, *full;
        bool is_first;
    } words[] = {{"(anonymous namespace)", "_GLOBAL__N_1", false},
                 {"std::string", "std::basic_string<>", true},
                 {"std::ostream", "std::basic_ostream", true},
                 {"std::istream", "std::basic_istream", true},
                 {"std::iostream", "std::basic_iostream", true}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *end = at;
        if (!take(&end, words[i].name) || (words[i].is_first && (!is_first || *end != ':')))
            continue;
        lode_label_text(label, words[i].full);
        return end;
    }
    return NULL;
}

/* Writes a demangled name without the parts that a simple name omits. */
static void put_simple(struct lode_label *label, const char *at)
{
    size_t start = label->length;
    while (*at) {
        const char *word = put_word(label, at, label->length == start);
        size_t plain = strcspn(at, "<({[ *&:");
        if (word) {
            at = word;
        } else if (strncmp(at, "operator", 8) == 0 && !is_word(at[8])) {
            at = put_operator(label, at + 8);
        } else if (plain == 8 && take(&at, "decltype")) {
            at = after_bracket(at + strspn(at, " "));
        } else if (plain || *at == ':') {
            lode_label_bytes(label, at, plain ? plain : 1);
            at += plain ? plain : 1;
        } else if (*at == '{') {
            at = put_unnamed(label, at);
        } else if (take(&at, "[abi:")) {
            lode_label_text(label, "::");
            lode_label_bytes(label, at, strcspn(at, "]"));
            at += strcspn(at, "]") + (strchr(at, ']') != NULL);
        } else if (*at == '<') {
            at = after_bracket(at);
        } else if (*at == '(' && label->length > start) {
            at = skip_parameters(at);
        } else {
            /* Text before a space, or before a declarator that begins here, is the return type. */
            label->length = start;
            at++;
        }
    }
}

/* Prefixes of compiler-generated symbols. */
static void put_special(struct lode_label *label, const char *name)
{
    static const struct {
        const char *words, *prefix;
    } kinds[] = {{"TLS init function for ", "TLS_init::"},
                 {"TLS wrapper function for ", "TLS_wrap::"},
                 {"vtable for ", "__vtable__"},
                 {"VTT for ", "__VTT__"},
                 {"typeinfo for ", "__typeinfo_name__"},
                 {"typeinfo name for ", "__typeinfo__"},
                 {"guard variable for ", "__guard_variable__"},
                 {"non-virtual thunk to ", ""},
                 {"virtual thunk to ", ""},
                 {"covariant return thunk to ", ""},
                 {"transaction clone for ", ""},
                 {"non-transaction clone for ", ""}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (take(&name, kinds[i].words)) {
            lode_label_text(label, kinds[i].prefix);
            break;
        }
    put_simple(label, name);
}

/* Whether a constructor is inherited: the runtime gives it the name of the base. */
static bool is_inherited(const char *symbol)
{
    if (strstr(symbol, "CI1") == NULL && strstr(symbol, "CI2") == NULL)
        return false;
    for (const char *at = symbol; *at; at++) {
        char *end;
        if (at[0] == 'C' && at[1] == 'I' && (at[2] == '1' || at[2] == '2'))
            return true;
        if ((at[0] == 'S' || at[0] == 'T') && at[1] >= '0' && at[1] <= '9')
            at += strcspn(at, "_");
        else if (at[0] >= '1' && at[0] <= '9' && strtoul(at, &end, 10) <= strlen(end))
            at = end + strtoul(at, NULL, 10) - 1;
    }
    return false;
}

/* The name without a clone suffix, version, or Rust hash. */
static void cut_suffix(char *name)
{
    char *clone = strstr(name, " [clone");
    if (clone)
        *clone = '\0';
    size_t length = strlen(name);
    if (length > 19 && strncmp(name + length - 19, "::h", 3) == 0 &&
        strspn(name + length - 16, "0123456789abcdef") == 16)
        name[length - 19] = '\0';
}

/* The end of the mangled name: some symbol tables append "@VERSION". */
static char *demangle_version(const char *symbol)
{
    const char *version = strchr(symbol, '@');
    if (version == NULL)
        return demangle(symbol);
    char *copy = strndup(symbol, (size_t)(version - symbol)), *name = copy ? demangle(copy) : NULL;
    free(copy);
    return name;
}

/* Whether this is a constructor or destructor of a tagged class: "Box[abi:cxx11]::~Box()". */
static bool is_of_tagged_class(const char *name)
{
    for (const char *tag = strstr(name, "[abi:"); tag; tag = strstr(tag + 1, "[abi:")) {
        const char *last = tag + strcspn(tag, "]");
        if (!take(&last, "]::"))
            continue;
        take(&last, "~");
        size_t length = strcspn(last, "<([:");
        if ((size_t)(tag - name) >= length && last[length] == '(' &&
            memcmp(tag - length, last, length) == 0 &&
            (tag - length == name || !is_word(tag[-1 - (ptrdiff_t)length])))
            return true;
    }
    return false;
}

/* Structors that uftrace names after the class: "a::Box::Box" for "a::Box::Base". */
static void repeat_part(struct lode_label *label, char *name)
{
    char *last = strrchr(name, ':');
    if (last == NULL || last == name)
        return;
    last[-1] = '\0';
    const char *before = strrchr(name, ':');
    lode_label_text(label, name);
    lode_label_text(label, last[1] == '~' ? "::~" : "::");
    lode_label_text(label, before ? before + 1 : name);
}

/* Writes the simple form of a mangled name; false if it has none. */
static bool put_mangled(struct lode_label *label, const char *symbol)
{
    char *name = demangle_version(symbol);
    size_t capacity = name ? 2 * strlen(name) + 64 : 0;
    char *simple = name ? malloc(capacity) : NULL;
    struct lode_label part = {simple, capacity, 0};
    if (simple) {
        cut_suffix(name);
        put_special(&part, name);
        lode_label_end(&part);
    }
    if (strncmp(symbol, "_ZNSsC", 6) == 0 || strncmp(symbol, "_ZNSsD", 6) == 0)
        lode_label_text(label, symbol[5] == 'C' ? "std::basic_string<>::basic_string<>"
                                                : "std::basic_string<>::~basic_string<>");
    else if (simple && (is_inherited(symbol) || is_of_tagged_class(name)))
        repeat_part(label, simple);
    else if (simple)
        lode_label_text(label, simple);
    free(simple);
    free(name);
    return part.length > 0;
}

/* Writes the simple form of a symbol; false, and nothing, if it has none. */
static bool put_symbol(struct lode_label *label, const char *symbol)
{
    static const char *const prefixes[] = {"_GLOBAL__sub_I_", "_GLOBAL__sub_D_"};
    const char *descriptor = lode_descriptor(symbol), *prefix = "";
    if (descriptor) {
        lode_label_bytes(label, symbol, (size_t)(descriptor - symbol));
        return true;
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (take(&symbol, prefixes[i]))
            prefix = prefixes[i];
    size_t start = label->length;
    lode_label_text(label, prefix);
    bool is_done = put_mangled(label, symbol);
    if (!is_done)
        label->length = start;
    return is_done;
}

size_t lode_simple_name(const char *symbol, char *buffer, size_t capacity)
{
    struct lode_label label = {buffer, capacity, 0};
    if (!put_symbol(&label, symbol))
        lode_label_text(&label, symbol);
    return lode_label_end(&label);
}

/*
 * Whether a stored name looks like a demangled one with parameters or template arguments: other
 * names with brackets are words, such as "<gpu kernel>" and "copy (host to device)".
 */
static bool is_demangled(const char *name)
{
    bool is_anonymous = take(&name, "(anonymous namespace)::");
    size_t plain = strcspn(name, "(<");
    if (is_anonymous && name[plain] == '\0')
        return true;
    if (plain == 0 || name[plain] == '\0' || !(is_word(name[0]) || name[0] == '~'))
        return false;
    return name[plain - 1] != ' ' || (plain >= 9 && strncmp(name + plain - 9, "decltype ", 9) == 0);
}

/* Writes the simple form of a name that is stored demangled; false, and nothing, if it has none. */
static bool put_demangled(struct lode_label *label, const char *name)
{
    char *copy = is_demangled(name) ? strdup(name) : NULL;
    size_t start = label->length;
    if (copy) {
        cut_suffix(copy);
        put_special(label, copy);
    }
    free(copy);
    return label->length > start;
}

void lode_simple_put(struct lode_label *label, const char *symbol)
{
    if (!put_symbol(label, symbol) && !put_demangled(label, symbol))
        lode_label_text(label, symbol);
}
