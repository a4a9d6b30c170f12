/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/report.h"

#include "alloc.h"
#include "host.h"
#include "interrupt.h"
#include "output/escape.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MESSAGE_SIZE 4096
#define STATUS_SIZE  512
#define ERROR_SIZE   640 /* of a file and a text */

static int is_silent;

void report_quietly(int is_quiet)
{
    is_silent = is_quiet;
}

/*
 * Writes to standard error: escapes names in `text` for terminals. One write per line. An escape
 * has at most four bytes for each that it stands for, and so has `line`.
 */
static void print_with(char *line, const char *before, const char *text, const char *after)
{
    size_t size = strlen(text), used = strlen(before);
    int has_utf8 = escape_has_utf8();
    memcpy(line, before, used);
    for (;;) {
        size_t plain = escape_plain(text, size, has_utf8);
        memcpy(line + used, text, plain);
        used += plain;
        text += plain;
        size -= plain;
        if (size == 0)
            break;
        size_t length = escape_first(text, size, line + used);
        used += strlen(line + used);
        text += length;
        size -= length;
    }
    memcpy(line + used, after, strlen(after));
    (void)fwrite(line, 1, used + strlen(after), stderr);
    fflush(stderr);
}

/* Without memory of its own: it also says that there is none. */
static void print(const char *before, const char *text, const char *after)
{
    char line[16 + MESSAGE_SIZE * 4];
    print_with(line, before, text, after);
}

int report(const char *format, ...)
{
    char message[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    const host *h = host_current();
    if (h)
        h->on_message(h->user, message);
    if (h || is_silent)
        return EXIT_TROUBLE;
    print("lode: ", message, "\n");
    return EXIT_TROUBLE;
}

void report_whole(const char *text)
{
    const host *h = host_current();
    if (h)
        h->on_message(h->user, text);
    if (h || is_silent)
        return;
    char *line = alloc_array(16 + 4 * strlen(text), 1);
    print_with(line, "lode: ", text, "\n");
    free(line);
}

void report_status(const char *text)
{
    char line[STATUS_SIZE];
    if (host_current())
        return;
    snprintf(line, sizeof line, "%s", text);
    print("\r\033[K", line, "");
}

static int print_error(const char *subject, const lode_error *error)
{
    char text[ERROR_SIZE];
    lode_error shown = *error;
    if (subject && strcmp(subject, error->file) == 0)
        shown.file[0] = '\0';
    lode_error_text(&shown, text, sizeof text);
    return subject ? report("%s: %s", subject, text) : report("%s", text);
}

/* ---- files that became shorter ---- */

static struct {
    lode_error error;
    char path[1024];
    int is_known, is_said;
} lost;

void report_look(const char *path)
{
    /* A host looks at its stores itself: it has others open than the one that a command reads. */
    if (host_current() || lost.is_known || lode_guard_check(&lost.error) == LODE_OK)
        return;
    lost.is_known = 1;
    snprintf(lost.path, sizeof lost.path, "%s", path ? path : "");
}

int report_lost(int status)
{
    if (!lost.is_known)
        return status;
    if (!lost.is_said)
        print_error(lost.path[0] ? lost.path : NULL, &lost.error);
    lost.is_said = 1;
    return EXIT_TROUBLE;
}

/* Whatever else is wrong with a store that cannot be read any more is of no interest. */
int report_error(const char *subject, const lode_error *error)
{
    report_look(subject);
    return lost.is_known ? report_lost(EXIT_TROUBLE) : print_error(subject, error);
}

int report_unwritten(const char *path, const lode_error *error)
{
    struct stat status;
    /*
     * Who sent the signal knows; the exit status tells everybody else. A rank may miss what another
     * one has removed.
     */
    if (interrupt_is_due())
        return EXIT_TROUBLE;
    if (error->status == LODE_ERR_ARGUMENT && stat(path, &status) == 0)
        return report(S_ISDIR(status.st_mode) ? "%s: already exists; use --force to replace it"
                                              : "%s: already exists and is not a directory",
                      path);
    return report_error(path, error);
}
