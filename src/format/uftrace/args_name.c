/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simple names: of a mangled name, the names that qualify it, as uftrace writes them. "_ZN3appplERKNS_3BoxES2_" is "app::operator+";
 * parameters, template arguments, return types and clones are left out.
 */
#include "base/label.h"
#include "format/uftrace/args.h"
#include "format/uftrace/args_mangled.h"
#include <inttypes.h>
#include <stdio.h>

struct scanner {
    struct uft_text text;
    struct lode_label *label;
    struct uft_text last; /* what a constructor is called */
    bool has_name;
};

static bool is_next(const struct scanner *self, char c)
{
    return self->text.at < self->text.end && *self->text.at == c;
}

/* One more part of the qualified name. */
static void put_part(struct scanner *self, const char *prefix, struct uft_text part)
{
    if (self->has_name)
        lode_label_text(self->label, "::");
    lode_label_text(self->label, prefix);
    lode_label_bytes(self->label, part.at, uft_length(part));
    self->has_name = true;
}

static void put_word(struct scanner *self, const char *word)
{
    put_part(self, "", (struct uft_text){word, word + strlen(word)});
}

static bool take_source_name(struct scanner *self)
{
    if (!lode_uft_mangled_source_name(&self->text, &self->last))
        return false;
    put_part(self, "", self->last);
    return true;
}

/* Rust ends a name with a hash. */
static bool take_hash(struct scanner *self)
{
    struct uft_text text = self->text;
    if (!self->has_name || uft_length(text) < 20 || !uft_take(&text, "17h") || text.at[16] != 'E')
        return false;
    for (unsigned i = 0; i < 16; i++)
        if (uft_digit(text.at[i]) > 15)
            return false;
    self->text.at = text.at + 16;
    return true;
}

static bool take_operator(struct scanner *self)
{
    static const char names[][14] = {
        "nw new", "na new[]", "dl delete", "da delete[]", "ps+",  "ng-",  "ad&",  "de*",   "co~",
        "pl+",    "mi-",      "ml*",       "dv/",         "rm%",  "an&",  "or|",  "eo^",   "aS=",
        "pL+=",   "mI-=",     "mL*=",      "dV/=",        "rM%=", "aN&=", "oR|=", "eO^=",  "ls<<",
        "rs>>",   "lS<<=",    "rS>>=",     "eq==",        "ne!=", "lt<",  "gt>",  "le<=",  "ge>=",
        "ss<=>",  "nt!",      "aa&&",      "oo||",        "pp++", "mm--", "cm,",  "pm->*", "pt->",
        "cl()",   "ix[]",     "qu?",       "aw co_await",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char code[3] = {names[i][0], names[i][1], '\0'};
        const char *name = names[i] + 2;
        if (uft_take(&self->text, code)) {
            put_part(self, "operator", (struct uft_text){name, name + strlen(name)});
            return true;
        }
    }
    struct uft_text suffix;
    if (!uft_take(&self->text, "li") || !lode_uft_mangled_source_name(&self->text, &suffix))
        return false;
    put_word(self, "operator\"\"");
    return true;
}

/* The abbreviations of names in std. */
static bool take_std(struct scanner *self)
{
    static const struct {
        const char *code, *name;
    } names[] = {{"Sa", "allocator"},     {"Sb", "basic_string"},  {"Ss", "basic_string<>"},
                 {"Si", "basic_istream"}, {"So", "basic_ostream"}, {"Sd", "basic_iostream"}};
    if (uft_take(&self->text, "St")) {
        put_word(self, "std");
        return true;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (uft_take(&self->text, names[i].code)) {
            self->last = (struct uft_text){names[i].name, names[i].name + strlen(names[i].name)};
            put_word(self, "std");
            put_part(self, "", self->last);
            return true;
        }
    return false;
}

static bool take_unnamed(struct scanner *self)
{
    int64_t number;
    if (uft_take(&self->text, "Ut"))
        return lode_uft_mangled_sequence(&self->text, &number);
    if (!uft_take(&self->text, "Ul"))
        return false;
    /* The number stands behind the parameters: it is found again from the end of what was passed over. */
    if (!lode_uft_mangled_skip(&self->text, UFT_MANGLED_LAMBDA, false))
        return false;
    const char *digits = self->text.at - 1;
    while (digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    struct uft_text text = {digits, self->text.at};
    if (!lode_uft_mangled_sequence(&text, &number))
        return false;
    char name[32] = "$_0";
    snprintf(name, sizeof name, "$_%" PRId64, number + 1);
    put_word(self, name);
    self->last = (struct uft_text){NULL, NULL};
    return true;
}

static bool take_tags(struct scanner *self)
{
    struct uft_text tag;
    while (uft_take(&self->text, "B")) {
        if (!lode_uft_mangled_source_name(&self->text, &tag))
            return false;
        put_part(self, "", tag);
        self->last = tag;
    }
    return true;
}

/* Passes over the class that a constructor is inherited from. */
static bool skip_class(struct scanner *self)
{
    struct uft_text name;
    int64_t number;
    bool done;
    if (uft_take(&self->text, "N"))
        return lode_uft_mangled_skip(&self->text, UFT_MANGLED_NESTED, false);
    bool is_substitution = uft_take(&self->text, "S");
    if (!is_substitution || uft_take(&self->text, "t"))
        done = lode_uft_mangled_source_name(&self->text, &name);
    else
        done = lode_uft_mangled_sequence(&self->text, &number);
    if (done && uft_take(&self->text, "I"))
        done = lode_uft_mangled_skip(&self->text, UFT_MANGLED_TYPES, false);
    return done;
}

/* Constructors and destructors. */
static bool take_structor(struct scanner *self)
{
    struct uft_text text = self->text;
    bool is_destructor = uft_take(&text, "D");
    if (!is_destructor && !uft_take(&text, "C"))
        return false;
    bool is_inherited = !is_destructor && uft_take(&text, "I");
    if (text.at == text.end || *text.at < '0' || *text.at > '5')
        return false;
    self->text.at = text.at + 1;
    put_part(self, is_destructor ? "~" : "", self->last);
    /* There is one at most, so that what is written stays as long as what is read. */
    self->last = (struct uft_text){NULL, NULL};
    return !is_inherited || skip_class(self);
}

/* One part of a nested name; at its "E" there is none. */
static bool take_part(struct scanner *self)
{
    char c = *self->text.at;
    if (c >= '0' && c <= '9')
        return take_hash(self) || take_source_name(self);
    if (c == 'L' || c == 'M') {
        self->text.at++;
        return true;
    }
    if (c == 'I') {
        self->text.at++;
        return lode_uft_mangled_skip(&self->text, UFT_MANGLED_TYPES, false);
    }
    if (c == 'S')
        return take_std(self);
    if (c == 'U')
        return take_unnamed(self);
    if (c == 'B')
        return take_tags(self);
    if (c == 'C' || c == 'D')
        return take_structor(self);
    return take_operator(self);
}

/* What follows "N". */
static bool take_nested(struct scanner *self)
{
    while (self->text.at < self->text.end && strchr("rVK", *self->text.at))
        self->text.at++;
    if (is_next(self, 'R') || is_next(self, 'O'))
        self->text.at++;
    while (self->text.at < self->text.end) {
        if (uft_take(&self->text, "E"))
            return self->has_name;
        if (uft_take(&self->text, "cv")) {
            put_word(self, "operator(cast)");
            return lode_uft_mangled_skip(&self->text, UFT_MANGLED_NESTED, true);
        }
        if (!take_part(self))
            return false;
    }
    return false;
}

static bool take_unscoped(struct scanner *self)
{
    if (uft_take(&self->text, "St"))
        put_word(self, "std");
    while (is_next(self, 'L'))
        self->text.at++;
    if (self->text.at == self->text.end)
        return false;
    char c = *self->text.at;
    bool is_good = c >= '0' && c <= '9' ? take_source_name(self)
                   : c == 'U'           ? take_unnamed(self)
                                        : take_operator(self);
    return is_good && take_tags(self);
}

static bool take_name(struct scanner *self)
{
    return uft_take(&self->text, "N") ? take_nested(self) : take_unscoped(self);
}

/* What is inside a function, behind its encoding. */
static bool take_entity(struct scanner *self)
{
    int64_t number;
    if (is_next(self, 's')) {
        self->text.at++;
        return true;
    }
    if (uft_take(&self->text, "d") && !lode_uft_mangled_sequence(&self->text, &number))
        return false;
    return take_name(self);
}

/* An offset of a thunk: [n] number _ , once or twice. */
static bool take_offset(struct scanner *self)
{
    int64_t number;
    bool is_virtual = uft_take(&self->text, "v");
    if (!is_virtual && !uft_take(&self->text, "h"))
        return false;
    for (int i = 0; i < (is_virtual ? 2 : 1); i++) {
        uft_take(&self->text, "n");
        if (!lode_uft_mangled_sequence(&self->text, &number))
            return false;
    }
    return true;
}

/* What stands before the name of things that compilers make. */
static bool take_special(struct scanner *self)
{
    static const struct {
        const char *code, *prefix;
    } kinds[] = {{"TH", "TLS_init::"},
                 {"TW", "TLS_wrap::"},
                 {"TV", "__vtable__"},
                 {"TT", "__VTT__"},
                 {"TI", "__typeinfo_name__"},
                 {"TS", "__typeinfo__"},
                 {"GV", "__guard_variable__"},
                 {"GTt", ""},
                 {"GTn", ""}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (uft_take(&self->text, kinds[i].code)) {
            lode_label_text(self->label, kinds[i].prefix);
            return true;
        }
    if (!uft_take(&self->text, "T"))
        return true;
    /* A covariant one has two. */
    if (uft_take(&self->text, "c") && !take_offset(self))
        return false;
    return take_offset(self);
}

static bool scan(struct scanner *self)
{
    size_t locals = 0;
    if (!uft_take(&self->text, "_Z") || !take_special(self))
        return false;
    while (uft_take(&self->text, "Z"))
        locals++;
    if (!take_name(self))
        return false;
    for (; locals > 0; locals--)
        if (!lode_uft_mangled_skip(&self->text, UFT_MANGLED_ENCODING, true) || !take_entity(self))
            return false;
    return true;
}

size_t lode_uft_simple_name(const char *symbol, char *buffer, size_t capacity)
{
    static const char *const prefixes[] = {"_GLOBAL__sub_I_", "_GLOBAL__sub_D_"};
    struct lode_label label = {buffer, capacity, 0};
    struct uft_text text = {symbol, symbol + strlen(symbol)};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (uft_take(&text, prefixes[i]))
            lode_label_text(&label, prefixes[i]);
    size_t start = label.length;
    struct scanner scanner = {.text = text, .label = &label, .last = {text.at, text.at}};
    if (!scan(&scanner)) {
        label.length = start;
        lode_label_bytes(&label, text.at, uft_length(text));
    }
    return lode_label_end(&label);
}
