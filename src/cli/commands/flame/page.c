/* SPDX-License-Identifier: BSD-3-Clause */
/* Flame graphs as a page: that of `lode view`, with the boxes inside. */
#include "alloc.h"
#include "commands/flame/flame.h"
#include "commands/report/report.h"
#include "host.h"
#include "output/report.h"
#include "stores/damage.h"
#include "view/document.h"

#include <stdlib.h>
#include <string.h>

typedef struct text {
    char *bytes;
    size_t used, capacity;
    host *own, *before;
} text;

static int on_output(void *user, const char *bytes, size_t size)
{
    text *t = user;
    t->bytes = alloc_grow(t->bytes, &t->capacity, t->used + size, 1);
    memcpy(t->bytes + t->used, bytes, size);
    t->used += size;
    return 0;
}

/* Messages are not for the page. */
static void on_message(void *user, const char *message)
{
    const text *t = user;
    host_set(t->before);
    report_whole(message);
    host_set(t->own);
}

int flame_html(out *o, const char *store, void (*write_json)(out *json, const void *user), const void *user)
{
    text answer = {.before = host_current()};
    document page;
    size_t size = 0;
    host memory = {.user = &answer, .on_message = on_message, .on_output = on_output};
    answer.own = &memory;
    host_set(&memory);
    out *json = out_open(&(out_settings){.format = OUT_JSON, .store = store, .on_end = damage_write_rest});
    write_json(json, user);
    int status = out_close(json, EXIT_DONE);
    host_set(answer.before);
    char *inert = report_inert(answer.bytes, answer.used, NULL, &size);
    document_open(&page);
    document_begin(o, &page, "Lode flame graph");
    document_put(o, "flame", 200, inert, size);
    document_end(o, &page);
    document_close(&page);
    free(inert);
    free(answer.bytes);
    return status;
}
