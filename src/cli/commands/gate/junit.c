/* SPDX-License-Identifier: BSD-3-Clause */
/* Verdicts as JUnit XML, which CI systems show as tests. */
#include "commands/gate/gate.h"

#include "output/report.h"

#include <string.h>

/* The writer escapes control characters and bytes that are not UTF-8; XML has five of its own. */
static void write_text(out *o, const char *text)
{
    static const struct {
        char character;
        const char *entity;
    } entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&apos;"}};
    while (*text) {
        size_t plain = strcspn(text, "&<>\"'\xEF");
        out_write(o, text, plain);
        text += plain;
        if (!*text)
            return;
        /* U+FFFE and U+FFFF are no characters of XML. */
        if (strncmp(text, "\xEF\xBF\xBE", 3) == 0 || strncmp(text, "\xEF\xBF\xBF", 3) == 0) {
            out_write(o, "?", 1);
            text += 3;
            continue;
        }
        size_t i = 0, count = sizeof entities / sizeof *entities;
        while (i < count && entities[i].character != *text)
            i++;
        if (i < count) {
            out_write(o, entities[i].entity, strlen(entities[i].entity));
            text++;
        } else {
            size_t length = strcspn(text + 1, "&<>\"'\xEF") + 1;
            out_write(o, text, length);
            text += length;
        }
    }
}

static void write_attribute(out *o, const char *name, const char *value)
{
    out_print(o, " %s=\"", name);
    write_text(o, value);
    out_print(o, "\"");
}

static void write_verdict(out *o, const gate_job *job, const gate_verdict *verdict)
{
    char subject[GATE_LINE_MAX + 200], numbers[512], limit[GATE_LINE_MAX + 100];
    gate_subject(job, verdict, subject, sizeof subject);
    gate_numbers(job, verdict, numbers, sizeof numbers);
    gate_limit_text(verdict->limit, limit, sizeof limit);
    out_print(o, "    <testcase classname=\"lode.gate\"");
    write_attribute(o, "name", subject);
    out_print(o, ">\n");
    if (verdict->outcome == GATE_FAIL || (verdict->outcome == GATE_CANNOT_TELL && job->limits.fails_unsure)) {
        out_print(o, "      <failure");
        write_attribute(o, "type", limit);
        write_attribute(o, "message", numbers);
        out_print(o, "/>\n");
    } else if (verdict->outcome == GATE_CANNOT_TELL) {
        out_print(o, "      <skipped");
        write_attribute(o, "message", numbers);
        out_print(o, "/>\n");
    } else {
        out_print(o, "      <system-out>");
        write_text(o, numbers);
        out_print(o, "</system-out>\n");
    }
    out_print(o, "    </testcase>\n");
}

int gate_write_junit(const gate_job *job, const char *path)
{
    out_settings settings = {.format = OUT_TEXT, .color = COLOR_NEVER, .file = path};
    out *o = out_open(&settings);
    if (!o)
        return EXIT_TROUBLE;
    size_t unsure = job->outcomes[GATE_CANNOT_TELL];
    size_t failures = job->outcomes[GATE_FAIL] + (job->limits.fails_unsure ? unsure : 0);
    size_t skipped = job->limits.fails_unsure ? 0 : unsure;
    out_print(o, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out_print(o, "<testsuites name=\"lode gate\" tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n", job->count,
              failures);
    out_print(
        o, "  <testsuite name=\"lode gate\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n",
        job->count, failures, skipped);
    for (size_t i = 0; i < job->count; i++)
        write_verdict(o, job, &job->verdicts[i]);
    out_print(o, "  </testsuite>\n</testsuites>\n");
    return out_close(o, EXIT_DONE);
}
