/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "commands/report/report.h"

#include <lode/private/utf8.h>

#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct rewriter {
    const char *at, *end; /* JSON that a command wrote: it is well formed */
    const report_secrets *secrets;
    char *bytes;
    size_t used, capacity;
    int is_session;
    size_t names; /* of stores that were replaced; SIZE_MAX: what follows are other names */
} rewriter;

static void put(rewriter *w, const char *bytes, size_t size)
{
    if (w->used + size > w->capacity)
        w->bytes = alloc_grow(w->bytes, &w->capacity, w->used + size, 1);
    memcpy(w->bytes + w->used, bytes, size);
    w->used += size;
}

static void put_text(rewriter *w, const char *text)
{
    put(w, text, strlen(text));
}

/* ---- characters of strings ---- */

static int is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x7f && byte != '<' && byte != '>' && byte != '&';
}

static void put_escape(rewriter *w, unsigned unit)
{
    char text[16];
    snprintf(text, sizeof text, "\\u%04x", unit);
    put_text(w, text);
}

/* The inside of a string as it is in JSON, with more escapes than JSON needs. */
static void put_inert(rewriter *w, const char *text, size_t size)
{
    for (size_t plain; size > 0; text += plain, size -= plain) {
        uint32_t character = 0xfffd;
        for (plain = 0; plain < size && is_plain((unsigned char)text[plain]);)
            plain++;
        put(w, text, plain);
        if (plain > 0)
            continue;
        plain = lode_utf8_decode(text, size, &character);
        plain = plain ? plain : 1;
        if (character > 0xffff) {
            put_escape(w, 0xd7c0 + (unsigned)(character >> 10));
            put_escape(w, 0xdc00 + (unsigned)(character & 0x3ff));
        } else {
            put_escape(w, (unsigned)character);
        }
    }
}

/* ---- secrets ---- */

static const char *known_path(const report_secrets *secrets, size_t index)
{
    return secrets->server->stores[index].path;
}

void report_secrets_find(report_secrets *secrets, const view_server *server)
{
    const struct passwd *user = getpwuid(geteuid()); /* NOLINT(concurrency-mt-unsafe): the only thread */
    *secrets = (report_secrets){.server = server};
    /* These two name nobody, and are words that programs have, too. */
    if (user && strcmp(user->pw_name, "root") != 0)
        snprintf(secrets->user, sizeof secrets->user, "%s", user->pw_name);
    if (gethostname(secrets->machine, sizeof secrets->machine - 1) != 0 ||
        strcmp(secrets->machine, "localhost") == 0)
        secrets->machine[0] = '\0';
}

/* Whether a character cannot be inside of a path or a name. */
static int is_border(char c)
{
    return !isalnum((unsigned char)c) && !strchr("_-.+/~%\\", c) && (unsigned char)c < 0x80;
}

/* Whether the text begins with a word, and ends there or goes on with what no word has. */
static int begins_with(const char *text, size_t size, const char *word)
{
    size_t length = strlen(word);
    return length > 0 && size >= length && memcmp(text, word, length) == 0 &&
           (size == length || is_border(text[length]) || text[length] == '/');
}

static size_t token_size(const char *text, size_t size)
{
    size_t used = 0;
    while (used < size && !is_border(text[used]))
        used++;
    return used;
}

static const char *last_part(const char *text, size_t size, size_t *length)
{
    size_t begin = size;
    while (begin > 0 && text[begin - 1] != '/')
        begin--;
    *length = size - begin;
    return text + begin;
}

/* Whether a token is the user, or the machine with or without its domain. */
static int is_secret(const report_secrets *secrets, const char *text, size_t size)
{
    size_t machine = strlen(secrets->machine);
    return begins_with(text, size, secrets->user) || begins_with(text, size, secrets->machine) ||
           (machine > 0 && size > machine && memcmp(text, secrets->machine, machine) == 0 &&
            text[machine] == '.');
}

/* Writes the name of the file of rules for its path; how much of the text that was, or 0. */
static size_t put_rules(rewriter *w, const char *text, size_t size)
{
    const char *path = w->secrets->server->kinds_path;
    size_t length;
    if (!path || !begins_with(text, size, path))
        return 0;
    const char *last = last_part(path, strlen(path), &length);
    put_inert(w, last, length);
    return strlen(path);
}

/*
 * Writes what stands for a secret at the beginning of a token; how much of the text that was, or
 * 0.
 */
static size_t put_instead(rewriter *w, const char *text, size_t size)
{
    const report_secrets *secrets = w->secrets;
    size_t token = token_size(text, size), length;
    char name[32];
    for (size_t i = 0; i < secrets->server->store_count; i++) {
        if (!begins_with(text, size, known_path(secrets, i)))
            continue;
        snprintf(name, sizeof name, "run%zu", i + 1);
        put_text(w, name);
        return strlen(known_path(secrets, i));
    }
    size_t rules = put_rules(w, text, size);
    if (rules)
        return rules;
    int is_path = token > 1 && (text[0] == '/' || (text[0] == '~' && text[1] == '/'));
    const char *last = last_part(text, token, &length);
    if (is_secret(secrets, is_path ? last : text, is_path ? length : token)) {
        put_text(w, "hidden");
        return token;
    }
    if (is_path)
        put_inert(w, last, length);
    return is_path ? token : 0;
}

static void put_hidden(rewriter *w, const char *text, size_t size)
{
    for (size_t used = 0; used < size;) {
        size_t instead = put_instead(w, text + used, size - used);
        used += instead;
        if (instead == 0) {
            size_t token = token_size(text + used, size - used);
            token = token ? token : 1;
            put_inert(w, text + used, token);
            used += token;
        }
    }
}

/* ---- the values of members ---- */

/* The end of the string that begins at a quotation mark. */
static const char *string_end(const char *at)
{
    for (at++; *at != '"'; at++)
        at += *at == '\\';
    return at + 1;
}

static int is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static const char *value_end(const char *at, const char *end)
{
    size_t depth = 0;
    while (at < end) {
        if (*at == '"') {
            at = string_end(at);
        } else if (*at == '{' || *at == '[') {
            depth++;
            at++;
        } else if (*at == '}' || *at == ']') {
            if (depth == 0)
                return at;
            depth--;
            at++;
        } else if (*at == ',' && depth == 0) {
            return at;
        } else {
            at++;
        }
        if (depth == 0 && at < end && (at[-1] == '}' || at[-1] == ']' || at[-1] == '"'))
            return at;
    }
    return at;
}

static int is_among(const char *key, size_t size, const char *const *keys)
{
    for (; *keys; keys++)
        if (strlen(*keys) == size && memcmp(*keys, key, size) == 0)
            return 1;
    return 0;
}

/* Whole members that an anonymous report does not have: metadata, arguments, texts of users. */
static const char *const hidden_keys[] = {"facts",     "files",     "attributes",  "values",
                                          "arguments", "exception", "description", NULL};
/* Members that are paths, also relative ones. */
static const char *const path_keys[] = {"file", "module", "program", "kinds", NULL};

/* Writes what stands for the value of a member that is hidden, and goes on after it. */
static void put_member(rewriter *w, const char *key, size_t size)
{
    const char *value = w->at;
    char name[32];
    if (!w->secrets || value == w->end)
        return;
    if (w->is_session && size == 6 && memcmp(key, "stores", 6) == 0)
        w->names = 0;
    if (is_among(key, size, hidden_keys) && (*value == '{' || *value == '[' || *value == '"')) {
        put_text(w, *value == '{' ? "{}" : *value == '[' ? "[]" : "\"\"");
    } else if (is_among(key, size, path_keys) && *value == '"') {
        size_t length;
        const char *last = last_part(value + 1, (size_t)(string_end(value) - value) - 2, &length);
        put_text(w, "\"");
        put_hidden(w, last, length);
        put_text(w, "\"");
    } else if (size == 4 && memcmp(key, "name", 4) == 0 && *value == '"' &&
               w->names < w->secrets->server->store_count) {
        snprintf(name, sizeof name, "\"run%zu\"", ++w->names);
        put_text(w, name);
    } else {
        return;
    }
    w->at = value_end(value, w->end);
}

static void skip_blanks(rewriter *w)
{
    while (w->at < w->end && is_blank(*w->at))
        w->at++;
}

static void put_string(rewriter *w)
{
    const char *begin = w->at, *end = string_end(begin);
    w->at = end;
    skip_blanks(w);
    int is_key = w->at < w->end && *w->at == ':';
    put_text(w, "\"");
    if (w->secrets && !is_key)
        put_hidden(w, begin + 1, (size_t)(end - begin) - 2);
    else
        put_inert(w, begin + 1, (size_t)(end - begin) - 2);
    put_text(w, "\"");
    if (!is_key)
        return;
    put_text(w, ":");
    w->at++;
    skip_blanks(w);
    put_member(w, begin + 1, (size_t)(end - begin) - 2);
}

char *report_inert(const char *json, size_t size, const report_secrets *secrets, size_t *inert_size)
{
    rewriter w = {.at = json, .end = json + size, .secrets = secrets, .names = SIZE_MAX};
    static const char session[] = "\"lode-view-session\"";
    w.is_session = size > 64 && memmem(json, 64, session, sizeof session - 1) != NULL;
    while (w.at < w.end) {
        if (*w.at == '"')
            put_string(&w);
        else if (is_blank(*w.at))
            w.at++;
        else
            put(&w, w.at++, 1);
    }
    put(&w, "", 1);
    *inert_size = w.used - 1;
    return w.bytes;
}
