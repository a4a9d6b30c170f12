/* SPDX-License-Identifier: BSD-3-Clause */
/* Synthetic spans as a line of JSON, as the Collector writes it. No text needs an escape. */
#include "format/otlp/span.h"
#include "format/otlp/synth/synth.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    PRINT_MOST = 1024 /* bytes of one call */
};

static const unsigned kinds[OTLP_ROLES] = {OTLP_SERVER, OTLP_INTERNAL, OTLP_CLIENT, OTLP_CLIENT};

struct line {
    struct lode_blob *blob;
    bool has_failed; /* out of memory */
};

__attribute__((format(printf, 2, 3))) static void print(struct line *line, const char *format, ...)
{
    size_t at = line->has_failed ? LODE_BLOB_FULL : lode_blob_extend(line->blob, PRINT_MOST);
    line->has_failed = at == LODE_BLOB_FULL;
    if (line->has_failed)
        return;
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf((char *)line->blob->bytes + at, PRINT_MOST, format, arguments);
    va_end(arguments);
    line->blob->size = at + (size_t)size;
}

static void print_pair(struct line *line, const struct otlp_made_attribute *attribute, bool is_first)
{
    print(line, "%s{\"key\":\"%s\",\"value\":{", is_first ? "" : ",", attribute->key);
    if (attribute->text)
        print(line, "\"stringValue\":\"%s\"}}", attribute->text);
    else
        print(line, "\"intValue\":\"%" PRIu64 "\"}}", attribute->number);
}

static void print_failure(struct line *line, const struct otlp_made_span *span)
{
    if (span->role != OTLP_ROLE_QUERY) {
        print(line, "],\"status\":{\"code\":2}}");
        return;
    }
    print(line, "],\"events\":[{\"timeUnixNano\":\"%" PRIu64 "\",\"name\":\"exception\",\"attributes\":[",
          span->end);
    print_pair(line, &(struct otlp_made_attribute){"exception.type", MADE_EXCEPTION, 0}, true);
    print_pair(line, &(struct otlp_made_attribute){"exception.message", MADE_MESSAGE, 0}, false);
    print(line, ",{\"key\":\"exception.stacktrace\",\"value\":{\"stringValue\":\"");
    for (const char *at = MADE_STACK; *at; at++)
        print(line, *at == '\n' ? "\\n" : "%c", *at);
    print(line, "\"}}]}],\"status\":{\"message\":\"%s\",\"code\":2}}", MADE_MESSAGE);
}

static void print_span(const struct otlp_world *world, struct line *line, const struct otlp_made_span *span,
                       bool is_first)
{
    struct otlp_made_attribute attributes[MADE_ATTRIBUTES];
    char text[MADE_TEXT];
    unsigned count = lode_otlp_made_attributes(world, span, attributes, text);
    print(line, "%s{\"traceId\":\"%016" PRIx64 "%016" PRIx64 "\",\"spanId\":\"%016" PRIx64 "\",",
          is_first ? "" : ",", span->trace[0], span->trace[1], span->id);
    if (span->parent_id)
        print(line, "\"parentSpanId\":\"%016" PRIx64 "\",", span->parent_id);
    print(line,
          "\"name\":\"%s\",\"kind\":%u,\"startTimeUnixNano\":\"%" PRIu64 "\",\"endTimeUnixNano\":\"%" PRIu64
          "\",\"attributes\":[",
          world->all[span->operation].names[span->role], kinds[span->role], span->begin, span->end);
    for (unsigned i = 0; i < count; i++)
        print_pair(line, &attributes[i], i == 0);
    if (span->has_failed)
        print_failure(line, span);
    else
        print(line, "],\"status\":{}}");
}

static void print_service(const struct otlp_world *world, struct line *line, uint32_t service, bool is_first)
{
    print(line, "%s{\"resource\":{\"attributes\":[", is_first ? "" : ",");
    print_pair(line, &(struct otlp_made_attribute){"service.name", world->names[service], 0}, true);
    print_pair(line, &(struct otlp_made_attribute){"service.version", MADE_VERSION, 0}, false);
    print_pair(line, &(struct otlp_made_attribute){"process.pid", NULL, UINT64_C(100) + service}, false);
    print(line, "]},\"scopeSpans\":[{\"scope\":{\"name\":\"%s\"},\"spans\":[", MADE_SCOPE);
}

bool lode_otlp_form_json(const struct otlp_world *world, const struct otlp_made_span *spans, size_t count,
                         struct otlp_made_buffers *buffers, struct lode_blob *message)
{
    struct line line = {message, false};
    bool is_first = true;
    (void)buffers;
    print(&line, "{\"resourceSpans\":[");
    for (uint32_t service = 0; service < world->services && !line.has_failed; service++) {
        bool has_spans = false;
        for (size_t i = 0; i < count; i++) {
            if (otlp_made_service(world, &spans[i]) != service)
                continue;
            if (!has_spans)
                print_service(world, &line, service, is_first);
            print_span(world, &line, &spans[i], !has_spans);
            has_spans = true;
        }
        if (has_spans)
            print(&line, "]}]}");
        is_first &= !has_spans;
    }
    print(&line, "]}\n");
    return !line.has_failed;
}
