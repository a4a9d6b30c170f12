/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a trace store like the original readers: calls with their data, and the text index. */
#include "format/zorka/zorka.h"
#include <lode/unstable.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A call, until its end is known. */
struct call {
    char *attributes;
    size_t size;
    uint64_t method, thrown, start, stop;
    int64_t calls, flags, stamp, span, parent;
    uint32_t depth;
};

struct printer {
    const lode_recording *recording;
    const struct zor_trace *trace;
    const struct zor_strings *strings;
    struct call calls[256]; /* of a trace, in the order in which they begin */
    size_t count;
    size_t open[64];
    size_t depth;
};

static uint64_t method_of(const struct printer *p, const lode_function *function)
{
    for (size_t i = 0; i < p->strings->items.count; i++) {
        const struct zor_text *text = LODE_ARRAY_AT(&p->strings->items, struct zor_text, i);
        if (text->function == function)
            return text->id;
    }
    return 0;
}

/* One value, as the original prints it: references by number. */
static void print_value(FILE *out, struct zor_input *in)
{
    struct zor_item item;
    if (!lode_zor_head(in, &item))
        return;
    if (item.major == ZOR_TAG) {
        lode_zor_head(in, &item);
        fprintf(out, "ref[%llu]", (unsigned long long)item.value);
    } else if (item.major == ZOR_UNSIGNED) {
        fprintf(out, "%llu", (unsigned long long)item.value);
    } else if (item.major == ZOR_NEGATIVE) {
        fprintf(out, "%lld", -1 - (long long)item.value);
    } else if (item.major == ZOR_SIMPLE) {
        fputs(item.value == ZOR_NULL ? "null" : item.value == ZOR_TRUE ? "true" : "false", out);
    } else if (item.major == ZOR_ARRAY || item.major == ZOR_MAP) {
        fputc(item.major == ZOR_ARRAY ? '[' : '{', out);
        for (uint64_t i = 0; i < item.value; i++) {
            fputs(i ? ", " : "", out);
            print_value(out, in);
            if (item.major == ZOR_MAP) {
                fputc('=', out);
                print_value(out, in);
            }
        }
        fputc(item.major == ZOR_ARRAY ? ']' : '}', out);
    }
}

static void take_arguments(const struct printer *p, struct call *call, const lode_event *event)
{
    lode_argument arguments[8];
    size_t count = 0;
    if (lode_event_arguments(p->recording, 0, event, arguments, 8, &count, NULL) != LODE_OK)
        exit(1);
    for (size_t i = 0; i < count; i++) {
        const char *names[] = {"calls", "flags", "time stamp", "span", "parent"};
        int64_t *values[] = {&call->calls, &call->flags, &call->stamp, &call->span, &call->parent};
        for (size_t k = 0; k < 5; k++)
            if (strcmp(arguments[i].name, names[k]) == 0)
                *values[k] = arguments[i].signed_value;
    }
}

static void take_point(struct call *call, const lode_event *event)
{
    struct zor_input in = zor_input((struct lode_range){event->data, event->data_size});
    struct zor_item item;
    if (event->id & ZOR_POINT_SPECIAL) {
        if (lode_zor_head(&in, &item))
            call->thrown = item.value;
        return;
    }
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        exit(1);
    fprintf(out, "%s%sref[%u]=", call->attributes ? call->attributes : "", call->attributes ? ", " : "",
            (unsigned)event->id);
    print_value(out, &in);
    fclose(out);
    free(call->attributes);
    call->attributes = text;
}

static void take(struct printer *p, const lode_event *event)
{
    uint64_t tick = (event->time - zor_begin_of(zor_of(p->recording), p->trace)) / 65536 + p->trace->start;
    if (event->kind == LODE_EVENT_ENTER) {
        p->open[p->depth++] = p->count;
        p->calls[p->count++] = (struct call){.start = tick, .depth = event->depth};
    }
    struct call *call = &p->calls[p->open[p->depth - 1]];
    if (event->kind == LODE_EVENT_INSTANT) {
        take_point(call, event);
        return;
    }
    take_arguments(p, call, event);
    if (event->kind == LODE_EVENT_ENTER) {
        call->method = method_of(p, event->function);
    } else if (event->kind == LODE_EVENT_LEAVE) {
        call->stop = tick;
        p->depth--;
    }
}

static void print_call(const struct printer *p, const struct call *call)
{
    char name[1024];
    lode_zor_method_name(p->strings, call->method, name, sizeof name);
    printf("%*s%s mid=%llu tstart=%llu tstop=%llu dur=%llu calls=%lld flags=%lld tstamp=%lld span=%lld "
           "parent=%lld eid=%llu attrs=%s%s%s\n",
           2 + 2 * (int)call->depth, "", name, (unsigned long long)call->method,
           (unsigned long long)call->start, (unsigned long long)call->stop,
           (unsigned long long)(call->stop - call->start), (long long)call->calls, (long long)call->flags,
           (long long)call->stamp, (long long)call->span, (long long)call->parent,
           (unsigned long long)call->thrown, call->attributes ? "{" : "",
           call->attributes ? call->attributes : "null", call->attributes ? "}" : "");
}

static void print_thrown(const struct printer *p, const struct call *call)
{
    uint64_t parts[4] = {0}, items[16], of_item[4];
    const struct zor_text *text = lode_zor_text(p->strings, call->thrown);
    if (text == NULL || lode_zor_ids(text, parts, 4) < 4)
        return;
    struct lode_range class = lode_zor_plain(lode_zor_text(p->strings, parts[0]));
    struct lode_range message = lode_zor_plain(lode_zor_text(p->strings, parts[1]));
    printf("%*s!! %.*s: %.*s cause=%llu stack=[", 4 + 2 * (int)call->depth, "", (int)class.size,
           (const char *)class.data, (int)message.size, (const char *)message.data,
           (unsigned long long)parts[3]);
    size_t count = lode_zor_ids(lode_zor_text(p->strings, parts[2]), items, 16);
    for (size_t i = 0; i < count; i++) {
        lode_zor_ids(lode_zor_text(p->strings, items[i]), of_item, 4);
        printf("%s[c=%llu, m=%llu, f=%llu, l=%llu]", i ? ", " : "", (unsigned long long)of_item[0],
               (unsigned long long)of_item[1], (unsigned long long)of_item[2],
               (unsigned long long)of_item[3]);
    }
    printf("]\n");
}

static void print_track(struct printer *p, uint32_t track)
{
    lode_cursor *cursor;
    const lode_event *events;
    size_t count;
    p->trace = LODE_ARRAY_AT(&zor_of(p->recording)->traces, struct zor_trace, track);
    p->strings = &zor_of(p->recording)->stores[zor_store_of(zor_of(p->recording), p->trace)].strings;
    p->count = p->depth = 0;
    if (lode_cursor_open(&cursor, p->recording, track, NULL, NULL) != LODE_OK)
        exit(1);
    while (lode_cursor_next(cursor, &events, &count, NULL) == LODE_OK)
        for (size_t i = 0; i < count; i++)
            take(p, &events[i]);
    lode_cursor_close(cursor);
    struct zor_id id = lode_zor_track_id(&p->recording->tracks[track]);
    const struct zor_chunk *chunk =
        LODE_ARRAY_AT(&zor_of(p->recording)->chunks, struct zor_chunk, p->trace->first.chunk);
    printf("== trace %llx %llx offset %llu\n", (unsigned long long)id.high, (unsigned long long)id.low,
           (unsigned long long)chunk->offset);
    for (size_t i = 0; i < p->count; i++) {
        print_call(p, &p->calls[i]);
        print_thrown(p, &p->calls[i]);
        free(p->calls[i].attributes);
    }
}

static void print_texts(const struct zor_strings *strings)
{
    printf("== text index\n");
    for (size_t i = 0; i < strings->items.count; i++) {
        const struct zor_text *text = LODE_ARRAY_AT(&strings->items, struct zor_text, i);
        printf("%u\t", text->id);
        for (uint32_t k = 0; k < text->length; k++) {
            unsigned char byte = (unsigned char)text->text[k];
            if (byte < ' ' || byte > '~')
                printf("\\x%02x", byte);
            else
                putchar(byte);
        }
        putchar('\n');
    }
}

int main(int count, char **arguments)
{
    static struct printer printer;
    lode_recording *recording;
    lode_error error = {0};
    if (count != 2 || lode_recording_open(&recording, arguments[1], NULL, &error) != LODE_OK) {
        fprintf(stderr, "zorka_print STORE: %s\n", error.text);
        return 1;
    }
    printer.recording = recording;
    for (uint32_t i = 0; i < lode_recording_track_count(recording); i++)
        print_track(&printer, i);
    for (uint32_t i = 0; i < zor_of(recording)->store_count; i++)
        print_texts(&zor_of(recording)->stores[i].strings);
    lode_recording_close(recording);
    return 0;
}
