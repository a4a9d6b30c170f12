/* SPDX-License-Identifier: BSD-3-Clause */
/* Brings names to the form in which rules for kinds compare them. */
#include "analysis/kinds/kind_name.h"

#include <lode/name.h>
#include <string.h>

static bool begins(struct lode_text text, const char *prefix)
{
    size_t length = strlen(prefix);
    return text.length >= length && memcmp(text.bytes, prefix, length) == 0;
}

static void advance(struct lode_text *text, size_t count)
{
    text->bytes += count;
    text->length -= count;
}

/* Removes a prefix, unless it is everything. */
static bool skip(struct lode_text *text, const char *prefix)
{
    size_t length = strlen(prefix);
    if (text->length <= length || !begins(*text, prefix))
        return false;
    advance(text, length);
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

/* ---- symbols ---- */

/* What compilers append to parts and copies of functions. */
static void cut_clone(struct lode_text *name)
{
    static const char *const marks[] = {".part.",     ".cold",  ".isra.",     ".constprop.",
                                        ".lto_priv.", ".llvm.", ".localalias"};
    const char *dot = name->length ? memchr(name->bytes, '.', name->length) : NULL;
    for (size_t i = 0; dot && i < sizeof marks / sizeof *marks; i++)
        cut(name, marks[i]);
}

struct lode_symbol lode_symbol_of(const char *name)
{
    struct lode_symbol symbol = {.name = {name, strnlen(name, LODE_NAME_COMPARED)}};
    symbol.is_kernel = cut(&symbol.name, "_[k]");
    if (!symbol.is_kernel && !cut(&symbol.name, "_[i]"))
        cut(&symbol.name, "_[j]");
    struct lode_text before = symbol.name;
    symbol.is_stub = cut(&before, "@plt");
    cut(&symbol.name, " [");
    cut(&symbol.name, "@");
    cut_clone(&symbol.name);
    return symbol;
}

struct lode_text lode_plain_name(struct lode_text name)
{
    skip(&name, "__GI_");
    while (skip(&name, "_"))
        ;
    skip(&name, "libc_");
    if (begins(name, "PMPI_"))
        skip(&name, "P");
    return name;
}

static void drop_end(struct lode_text *text, const char *end)
{
    size_t length = strlen(end);
    if (text->length > length && memcmp(text->bytes + text->length - length, end, length) == 0)
        text->length -= length;
}

struct lode_text lode_name_stem(struct lode_text plain)
{
    static const char *const prefixes[] = {"isoc99_",    "isoc23_", "x64_sys_", "ia32_sys_",
                                           "arm64_sys_", "se_sys_", "do_sys_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (skip(&plain, prefixes[i]))
            break;
    drop_end(&plain, "_chk");
    drop_end(&plain, "_nocancel");
    drop_end(&plain, "64");
    return plain;
}

struct lode_text lode_mpi_name(struct lode_text name, char *buffer, size_t capacity)
{
    bool is_fortran = name.length && name.bytes[name.length - 1] == '_' && name.length <= capacity;
    if (!is_fortran || (!skip(&name, "pmpi_") && !skip(&name, "mpi_")))
        return (struct lode_text){buffer, 0};
    drop_end(&name, "_");
    drop_end(&name, "_");
    drop_end(&name, "_f08");
    memcpy(buffer, "MPI_", 4);
    memcpy(buffer + 4, name.bytes, name.length);
    if (buffer[4] >= 'a' && buffer[4] <= 'z')
        buffer[4] = (char)(buffer[4] - 'a' + 'A');
    return (struct lode_text){buffer, 4 + name.length};
}

/* ---- C++ and Rust ---- */

struct writer {
    char *bytes;
    size_t length, capacity;
};

static void put(struct writer *out, struct lode_text text)
{
    size_t room = out->capacity - out->length, count = text.length < room ? text.length : room;
    memcpy(out->bytes + out->length, text.bytes, count);
    out->length += count;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '~' || c == '$' || (unsigned char)c >= 0x80;
}

/* Goes behind the bracket that closes the first; to the end if none does. */
static void skip_bracket(struct lode_text *rest, char open, char close)
{
    size_t depth = 0;
    for (char before = open; rest->length; advance(rest, 1)) {
        char c = *rest->bytes;
        /* The arrow of "operator->" and of results closes nothing. */
        bool is_arrow = c == '>' && before == '-';
        depth += c == open;
        before = c;
        if (c == close && !is_arrow && --depth == 0) {
            advance(rest, 1);
            return;
        }
    }
}

/* An operator with its sign: "operator<<", "operator()", "operator new[]". */
static void put_operator(struct writer *out, struct lode_text *rest)
{
    /* Those that others begin with come behind them: template arguments can follow at once. */
    static const char *const signs[] = {
        "()", " new[]", " new", " delete[]", " delete", "<=>", "<<=", ">>=", "->*", "<<", ">>",
        "<=", ">=",     "==",   "!=",        "&&",      "||",  "++",  "--",  "+=",  "-=", "*=",
        "/=", "%=",     "^=",   "&=",        "|=",      "->",  "[]",  "+",   "-",   "*",  "/",
        "%",  "^",      "&",    "|",         "~",       "!",   "=",   "<",   ">",   ","};
    put(out, (struct lode_text){rest->bytes, 8});
    advance(rest, 8);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (begins(*rest, signs[i])) {
            put(out, (struct lode_text){signs[i], strlen(signs[i])});
            advance(rest, strlen(signs[i]));
            return;
        }
    while (rest->length && *rest->bytes != '(') /* the type of a conversion */
        advance(rest, 1);
}

/* Inline namespaces that libraries use for versions of their interface. */
static bool is_version(struct lode_text word)
{
    static const char *const names[] = {"__cxx11", "__1", "_V2", "__ndk1", "__8", "__detail", "__fs"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (word.length == strlen(names[i]) && begins(word, names[i]))
            return true;
    return false;
}

/* "std::ostream" is short for "std::basic_ostream<char>". */
static bool is_short(const struct writer *out, struct lode_text word, struct lode_text rest)
{
    static const char *const names[] = {
        "string",  "ostream",   "istream", "iostream",  "ofstream",     "ifstream",      "fstream",
        "filebuf", "streambuf", "ios",     "stringbuf", "stringstream", "ostringstream", "istringstream"};
    if (out->length != 5 || memcmp(out->bytes, "std::", 5) != 0 || !begins(rest, "::"))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (word.length == strlen(names[i]) && begins(word, names[i]))
            return true;
    return false;
}

static void put_word(struct writer *out, struct lode_text *rest)
{
    struct lode_text word = {rest->bytes, 0};
    while (word.length < rest->length && is_word(rest->bytes[word.length]))
        word.length++;
    if (word.length == 8 && begins(word, "operator")) {
        put_operator(out, rest);
        return;
    }
    advance(rest, word.length);
    struct lode_text head = word;
    if (cut(&head, "$LT$")) /* "Mutex$LT$T$GT$" of Rust */
        word = head;
    if (is_version(word) && skip(rest, "::"))
        return;
    if (is_short(out, word, *rest))
        put(out, (struct lode_text){"basic_", 6});
    put(out, word);
}

/* Parameters end a name, unless something inside the function follows. */
static bool ends_at_parameters(struct lode_text *rest)
{
    if (begins(*rest, "(anonymous namespace)")) {
        advance(rest, strlen("(anonymous namespace)"));
        return false;
    }
    skip_bracket(rest, '(', ')');
    skip(rest, " const");
    return !begins(*rest, "::");
}

static void put_scoped(struct writer *out, struct lode_text rest)
{
    while (rest.length && out->length < out->capacity) {
        char c = *rest.bytes;
        if (is_word(c)) {
            put_word(out, &rest);
        } else if (c == '<') {
            skip_bracket(&rest, '<', '>');
        } else if (c == '{') {
            put(out, (struct lode_text){"{}", 2});
            skip_bracket(&rest, '{', '}');
        } else if (c == '[') {
            skip_bracket(&rest, '[', ']');
        } else if (c == '(') {
            if (ends_at_parameters(&rest))
                return;
        } else if (c == ' ' && rest.length > 1 && rest.bytes[1] != '<') {
            out->length = 0; /* what came before is the result */
            advance(&rest, 1);
        } else {
            if (c == ':')
                put(out, (struct lode_text){&c, 1});
            advance(&rest, 1);
        }
    }
}

/* Whether rules can know a mangled name: those of the standard libraries of C++ and Rust. */
static bool is_standard(struct lode_text name)
{
    static const char *const prefixes[] = {"St",         "Sb",           "Ss",           "Sa",    "So",
                                           "Si",         "Sd",           "3std",         "4core", "5alloc",
                                           "9__gnu_cxx", "10__cxxabiv1", "11__gnu_debug"};
    if (begins(name, "_ZT") || begins(name, "_ZGT")) /* thunks */
        return cut(&name, "St") || cut(&name, "Si") || cut(&name, "So") || cut(&name, "Sd");
    if (!skip(&name, "_ZN") && !skip(&name, "_Z"))
        return false;
    if (!skip(&name, "VK"))
        skip(&name, "K");
    if (!skip(&name, "R")) /* "&" and "&&" of the object */
        skip(&name, "O");
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (begins(name, prefixes[i]))
            return true;
    return false;
}

/* "::h0123456789abcdef" of Rust. */
static void cut_hash(struct writer *out)
{
    const char *end = out->bytes + out->length;
    if (out->length <= 19 || memcmp(end - 19, "::h", 3) != 0)
        return;
    for (const char *c = end - 16; c < end; c++)
        if (!((*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'f')))
            return;
    out->length -= 19;
}

struct lode_text lode_scoped_name(struct lode_text name, char *buffer, size_t capacity)
{
    char symbol[LODE_NAME_COMPARED + 1], full[4 * LODE_NAME_COMPARED];
    struct writer out = {buffer, 0, capacity};
    struct lode_text whole = name;
    if (begins(name, "_Z")) {
        if (!is_standard(name) || name.length > LODE_NAME_COMPARED)
            return (struct lode_text){buffer, 0};
        memcpy(symbol, name.bytes, name.length);
        symbol[name.length] = '\0';
        (void)lode_demangle(symbol, full, sizeof full);
        whole = (struct lode_text){full, strlen(full)};
    } else if (!cut(&name, "::")) {
        return (struct lode_text){buffer, 0};
    }
    put_scoped(&out, whole);
    cut_hash(&out);
    return (struct lode_text){buffer, out.length};
}
