/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/rec_traces.h"

#include "output/report.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID_SIZE      128
#define DIGITS_LEAST 4 /* of an id */

/* A number as people write one; ids may begin with a 0. False if it is none that a track may have. */
static int is_number(const char *text, uint64_t *number)
{
    size_t length = strlen(text);
    if (text[0] == '0' || length == 0 || length > 10 || strspn(text, "0123456789") != length)
        return 0;
    *number = strtoull(text, NULL, 10);
    return 1;
}

/* Whether an id begins with these digits, whatever dashes either has. */
static int begins_with(const char *id, const char *digits)
{
    for (;; id++, digits++) {
        id += strspn(id, "-");
        digits += strspn(digits, "-");
        if (!*digits)
            return 1;
        if (tolower((unsigned char)*id) != tolower((unsigned char)*digits))
            return 0;
    }
}

static size_t count_digits(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += isxdigit((unsigned char)*text) != 0;
    return count;
}

static int report_ambiguous(const rec_session *s, const char *digits, uint32_t first, uint32_t second)
{
    return report("%s: several traces have an id that begins with '%s', such as %s and %s; give more digits",
                  s->path, digits, lode_recording_track(s->recording, first)->id,
                  lode_recording_track(s->recording, second)->id);
}

static int mark_id(const rec_session *s, unsigned char *is_taken, const char *digits)
{
    uint32_t count = lode_recording_track_count(s->recording), found = count;
    for (uint32_t i = 0; i < count; i++) {
        if (!begins_with(lode_recording_track(s->recording, i)->id, digits))
            continue;
        if (found < count)
            return report_ambiguous(s, digits, found, i);
        found = i;
    }
    if (found == count)
        return report("%s: no trace has an id that begins with '%s' ('lode search --json %s' lists them)",
                      s->path, digits, s->path);
    is_taken[found] = 1;
    return EXIT_DONE;
}

/* A number that is too large for one may be the digits of an id. */
static int mark_trace(const rec_session *s, unsigned char *is_taken, const char *text)
{
    uint32_t count = lode_recording_track_count(s->recording);
    size_t digits = count_digits(text);
    uint64_t number;
    int is_counted = is_number(text, &number);
    if (is_counted && number <= count) {
        is_taken[number - 1] = 1;
        return EXIT_DONE;
    }
    if (digits == 0 || strspn(text, "0123456789abcdefABCDEF-") != strlen(text))
        return report("%s: '%s' is neither the number nor the id of a trace ('lode search %s' lists them)",
                      s->path, text, s->path);
    if (is_counted && digits < DIGITS_LEAST)
        return report("%s: no trace %s; there are %u ('lode search %s' lists them)", s->path, text, count,
                      s->path);
    if (digits < DIGITS_LEAST)
        return report("%s: --id needs at least %d digits of an id, not '%s'", s->path, DIGITS_LEAST, text);
    return mark_id(s, is_taken, text);
}

int rec_mark_traces(const rec_session *s, unsigned char *is_taken, const char *list)
{
    int status = EXIT_DONE;
    if (!lode_recording_has_traces(s->recording))
        return report("%s: --id is for recordings of traces; --task chooses the tasks of this one", s->path);
    if (!*list)
        return report("--id needs the number or the id of a trace");
    while (*list && status == EXIT_DONE) {
        char text[ID_SIZE];
        size_t length = strcspn(list, ",");
        snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), list);
        status = mark_trace(s, is_taken, text);
        list += length + (list[length] == ',');
    }
    return status;
}
