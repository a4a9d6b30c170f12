/* SPDX-License-Identifier: BSD-3-Clause */
/* Services as modules, requests as tracks, and metadata of the recording. */
#include "base/error.h"
#include "format/otlp/otlp.h"
#include "format/protobuf.h"
#include "model/recording/facts.h"
#include "model/recording/threads.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ID_SIZE = 33,
    NAME_MOST = 4096, /* bytes of a service or scope; longer ones are cut off */
    FACTS_MAX = 8
};

/* ---- origins ---- */

/* A string for people: NUL bytes would end it. */
static const char *copy_text(struct lode_arena *arena, struct lode_range text)
{
    size_t size = (size_t)(text.size < NAME_MOST ? text.size : NAME_MOST);
    char *copy = lode_arena_alloc(arena, size + 1, 1);
    for (size_t i = 0; copy && i < size; i++)
        copy[i] = (char)(text.data[i] ? text.data[i] : '?');
    return copy;
}

/* The string or the number of an AnyValue. */
static struct lode_range read_any(struct lode_range bytes, uint64_t *number)
{
    struct lode_pb_walk walk = lode_pb_walk_of(bytes);
    struct lode_pb_field field;
    struct lode_range text = {0};
    while (lode_pb_next(&walk, &field) == LODE_PB_FIELD) {
        if (field.number == ANY_STRING && field.type == LODE_PB_BYTES)
            text = field.bytes;
        else if (field.number == ANY_INT && field.type == LODE_PB_VARINT)
            *number = field.value;
    }
    return text;
}

/* The first pair of a resource with this key. */
static struct lode_range find_attribute(struct lode_range resource, const char *wanted, uint64_t *number)
{
    struct lode_pb_walk walk = lode_pb_walk_of(resource), inner;
    struct lode_pb_field field, part;
    struct lode_range none = {0};
    while (lode_pb_next(&walk, &field) == LODE_PB_FIELD) {
        struct lode_range key = {0}, value = {0};
        inner = lode_pb_walk_of(field.bytes);
        while (field.number == RESOURCE_ATTRIBUTES && lode_pb_next(&inner, &part) == LODE_PB_FIELD) {
            key = part.number == PAIR_KEY ? part.bytes : key;
            value = part.number == PAIR_VALUE ? part.bytes : value;
        }
        if (lode_json_is(key, wanted))
            return read_any(value, number);
    }
    return none;
}

/* Services, in the order in which they are met; their names are the paths of modules. */
struct services {
    struct otlp_table names;
    struct otlp_recording *rec;
};

static bool make_resource(struct services *services, uint32_t number)
{
    struct otlp_resource *resource = &services->rec->resources[number];
    uint64_t pid = 0, ignored = 0;
    resource->attributes = otlp_table_at(&services->rec->resource_bytes, number);
    (void)find_attribute(resource->attributes, "process.pid", &pid);
    resource->service =
        lode_otlp_table_add(&services->names, find_attribute(resource->attributes, "service.name", &ignored));
    resource->pid = pid > 0 && pid <= INT32_MAX ? (int32_t)pid : 0;
    return resource->service != LODE_NO_NUMBER;
}

static bool make_modules(struct services *services)
{
    lode_recording *base = &services->rec->base;
    size_t count = services->names.items.count;
    base->modules = lode_arena_alloc(&base->arena, count + 1, sizeof *base->modules);
    for (uint32_t i = 0; base->modules && i < count; i++) {
        struct lode_range name = otlp_table_at(&services->names, i);
        base->modules[i].index = i;
        base->modules[i].path = name.size > 0 ? copy_text(&base->arena, name) : "unknown service";
        if (base->modules[i].path == NULL)
            return false;
    }
    base->module_count = (uint32_t)count;
    return base->modules != NULL;
}

/* Equal names of scopes share a file. */
static bool make_scope(struct otlp_recording *rec, struct otlp_table *names, const lode_file **files,
                       struct otlp_origin *origin, struct lode_range bytes)
{
    struct lode_range name = {bytes.data + sizeof(uint32_t), bytes.size - sizeof(uint32_t)};
    memcpy(&origin->resource, bytes.data, sizeof(uint32_t));
    if (name.size == 0)
        return true;
    uint32_t number = lode_otlp_table_add(names, name);
    if (number == LODE_NO_NUMBER)
        return false;
    if (files[number] == NULL) {
        struct lode_file *file = lode_arena_alloc(&rec->base.arena, 1, sizeof *file);
        const char *path = file ? copy_text(&rec->base.arena, name) : NULL;
        if (path == NULL)
            return false;
        *file = (struct lode_file){.index = number, .path = path};
        files[number] = file;
    }
    origin->scope = files[number];
    return true;
}

static bool make_scopes(struct otlp_recording *rec)
{
    size_t count = rec->origin_bytes.items.count;
    const lode_file **files = calloc(count + 1, sizeof(*files));
    struct otlp_table names;
    lode_otlp_table_init(&names);
    bool done = files != NULL;
    for (uint32_t i = 0; done && i < count; i++)
        done = make_scope(rec, &names, files, &rec->origins[i], otlp_table_at(&rec->origin_bytes, i));
    lode_otlp_table_free(&names);
    free(files);
    return done;
}

lode_status lode_otlp_make_origins(struct otlp_opening *opening)
{
    struct otlp_recording *rec = opening->rec;
    struct services services = {.rec = rec};
    size_t count = rec->resource_bytes.items.count;
    rec->resources = lode_arena_alloc(&rec->base.arena, count + 1, sizeof *rec->resources);
    rec->origins =
        lode_arena_alloc(&rec->base.arena, rec->origin_bytes.items.count + 1, sizeof *rec->origins);
    LODE_TRY_ALLOC(rec->resources && rec->origins, opening->error);
    lode_otlp_table_init(&services.names);
    bool done = true;
    for (uint32_t i = 0; done && i < count; i++)
        done = make_resource(&services, i);
    done = done && make_modules(&services) && make_scopes(rec);
    lode_otlp_table_free(&services.names);
    return done ? LODE_OK : lode_fail_memory(opening->error);
}

/* ---- tracks ---- */

/* Ids of requests are one allocation, for there are many. */
struct describing {
    struct otlp_opening *opening;
    struct lode_blob blob;
    char (*id)[ID_SIZE]; /* the next one */
};

static const char *take_id(struct describing *self, const struct otlp_span *span)
{
    char *digits = *self->id++;
    snprintf(digits, ID_SIZE, "%016" PRIx64 "%016" PRIx64, span->trace[0], span->trace[1]);
    return digits;
}

static int32_t process_of(const struct otlp_recording *rec, const struct otlp_track *track)
{
    const struct otlp_resource *resource =
        &rec->resources[rec->origins[rec->spans[track->first].origin].resource];
    return resource->pid ? resource->pid : (int32_t)resource->service + 1;
}

/* A track is named after its first span. */
static lode_status describe_track(struct describing *self, uint32_t index)
{
    struct otlp_recording *rec = self->opening->rec;
    lode_error *error = self->opening->error;
    const struct otlp_track *track = LODE_ARRAY_AT(&rec->tracks, struct otlp_track, index);
    const struct otlp_span *span = &rec->spans[track->first];
    uint32_t main = rec->base.mains[index];
    struct lode_range bytes;
    LODE_TRY(lode_otlp_read(rec, span, &self->blob, &bytes, error));
    const lode_function *function = lode_otlp_function(rec, span, bytes);
    LODE_TRY_ALLOC(function, error);
    rec->base.tracks[index] =
        (lode_track){.index = index,
                     .pid = process_of(rec, track),
                     .name = function->name,
                     .program = function->module->path,
                     .bytes = track->count * rec->whole.span_bytes,
                     .id = main < index ? rec->base.tracks[main].id : take_id(self, span)};
    return LODE_OK;
}

static void interval_of(const void *user, uint32_t index, uint64_t *begin, uint64_t *end)
{
    const struct otlp_recording *rec = user;
    const struct otlp_track *track = LODE_ARRAY_AT(&rec->tracks, struct otlp_track, index);
    *begin = track->begin;
    *end = track->end;
}

/* Where the spans are: in memory, or in a file. */
static lode_status allocate_tracks(struct otlp_recording *rec, size_t count, lode_error *error)
{
    if (rec->span_memory.backed.bytes == NULL) {
        rec->base.tracks = lode_arena_alloc(&rec->base.arena, count + 1, sizeof *rec->base.tracks);
        LODE_TRY_ALLOC(rec->base.tracks, error);
        return LODE_OK;
    }
    LODE_TRY(lode_backed_open(&rec->track_memory, error));
    LODE_TRY(lode_backed_grow(&rec->track_memory, (count + 1) * sizeof *rec->base.tracks, error));
    rec->base.tracks = rec->track_memory.bytes;
    return LODE_OK;
}

static void find_whole(struct otlp_recording *rec)
{
    struct otlp_whole *whole = &rec->whole;
    whole->spans = rec->span_count;
    whole->traces = rec->traces.count;
    whole->tracks = rec->tracks.count;
    for (size_t i = 0; i < rec->tracks.count; i++) {
        const struct otlp_track *track = LODE_ARRAY_AT(&rec->tracks, struct otlp_track, i);
        whole->end = track->end > whole->end ? track->end : whole->end;
    }
    for (uint32_t i = 0; i < rec->file_count; i++)
        whole->span_bytes += rec->files[i].bytes.size;
    whole->span_bytes /= rec->span_count ? rec->span_count : 1;
}

lode_status lode_otlp_describe(struct otlp_opening *opening)
{
    struct otlp_recording *rec = opening->rec;
    uint32_t count = (uint32_t)rec->tracks.count;
    struct describing self = {.opening = opening};
    if (!rec->whole.is_known)
        find_whole(rec);
    LODE_TRY(allocate_tracks(rec, count, opening->error));
    self.id = lode_arena_alloc(&rec->base.arena, rec->traces.count + 1, sizeof *self.id);
    LODE_TRY_ALLOC(self.id, opening->error);
    lode_status status = LODE_OK;
    for (uint32_t i = 0; i < count && status == LODE_OK; i++)
        status = describe_track(&self, i);
    lode_blob_free(&self.blob);
    LODE_TRY(status);
    rec->base.track_count = count;
    if (!rec->whole.is_known) /* an index knows the threads */
        LODE_TRY(lode_tracks_assign(rec->base.tracks, count, interval_of, rec, opening->error));
    return lode_otlp_make_facts(opening);
}

/* ---- metadata ---- */

lode_status lode_otlp_make_facts(struct otlp_opening *opening)
{
    struct otlp_recording *rec = opening->rec;
    const struct otlp_whole *whole = &rec->whole;
    struct lode_facts facts;
    LODE_TRY(lode_facts_begin(&facts, &rec->base, FACTS_MAX, opening->error));
    lode_facts_add(&facts, "files", "%u", rec->file_count);
    lode_facts_add(&facts, "spans", "%" PRIu64, whole->spans);
    lode_facts_add(&facts, "traces", "%" PRIu64, whole->traces);
    lode_facts_add(&facts, "side tracks", "%" PRIu64, whole->tracks - whole->traces);
    lode_facts_add(&facts, "services", "%u", rec->base.module_count);
    if (whole->tracks > 0) {
        lode_facts_add_time(&facts, "first time", whole->begin);
        lode_facts_add_time(&facts, "last time", whole->begin + whole->end);
    }
    return lode_facts_end(&facts, opening->error);
}
