/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What binaries say of the addresses of a profile. A binary is asked only if it has the build id
 * of the mapping: at the path of the mapping, beside the profile, or where copies are by build id.
 */
#include "base/compare.h"
#include "format/hpcrun/binaries/copies.h"
#include "format/hpcrun/binaries/notes.h"
#include "format/hpcrun/binaries/segments.h"
#include "format/hpcrun/scopes/module_file.h"
#include "format/pprof/read.h"
#include "format/symbols.h"
#include <lode/name.h>
#include <stdio.h>
#include <stdlib.h>

/* A location, and the mapping that it is in. */
struct member {
    uint32_t mapping, location;
};

LODE_COMPARE_BY(compare_members, struct member, mapping);

/* A location, and its address in the binary. */
struct place {
    uint64_t address;
    uint32_t location;
};

LODE_COMPARE_BY(compare_places, struct place, address);

struct asking {
    struct pprof_reader *reader;
    struct hpcrun_asking all;
    struct pprof_mapping *mapping;
    const char *path; /* of the mapping */
    int directory;    /* of the profile */
    uint8_t id[SYMBOLS_BUILD_ID_MOST];
    size_t id_size;
    const struct member *members; /* locations of the mapping */
    size_t count;
    unsigned sought; /* mappings with a build id so far */
};

/* ---- asking ---- */

static bool is_binary(const struct asking *self, const struct hpcrun_module_file *file)
{
    struct binary_notes notes;
    return lode_binary_notes(&notes, file->fd, file->size) && notes.build_id_size == self->id_size &&
           memcmp(notes.build_id, self->id, self->id_size) == 0;
}

static struct pprof_location *location_at(const struct asking *self, uint32_t number)
{
    return LODE_ARRAY_AT(&self->reader->locations, struct pprof_location, number);
}

/* Where locations are in the binary, sorted. Addresses outside the mapping are of the binary. */
static size_t find_places(const struct asking *self, int fd, struct place *places)
{
    const struct pprof_mapping *mapping = self->mapping;
    struct binary_segment segments[BINARY_SEGMENTS_MOST];
    size_t segment_count = lode_binary_segments(fd, segments), count = 0;
    for (size_t i = 0; i < self->count; i++) {
        uint64_t address = location_at(self, self->members[i].location)->address;
        places[count] = (struct place){address, self->members[i].location};
        if (address >= mapping->start && address < mapping->limit)
            count += lode_binary_address(segments, segment_count, address - mapping->start + mapping->offset,
                                         &places[count].address);
        else
            count += address != 0;
    }
    if (count > 1)
        qsort(places, count, sizeof *places, compare_places);
    return count;
}

/* Each address has a range of its own, if it has an answer. */
static void take_scopes(const struct asking *self, const struct binary_reply *code,
                        const struct place *places, size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < code->module.ranges.count; i++) {
        const struct hpcstruct_range *range = LODE_ARRAY_AT(&code->module.ranges, struct hpcstruct_range, i);
        while (at < count && places[at].address < range->start)
            at++;
        for (; at < count && places[at].address == range->start; at++)
            location_at(self, places[at].location)->scope = range->scope;
    }
}

/* LODE_END: no answer. */
static lode_status ask_places(struct asking *self, struct binary_asking *asking, const struct place *places,
                              size_t count, uint64_t *addresses, struct binary_reply *reply)
{
    uint32_t different = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || places[i].address != places[i - 1].address)
            addresses[different++] = places[i].address;
    asking->request = (struct binary_request){.helper = self->all.binaries.helper,
                                              .debug = -1,
                                              .has_loops = true,
                                              .offsets = addresses,
                                              .count = different};
    LODE_TRY(lode_hpcrun_ask_file(asking, reply));
    struct binary_reply **slot = lode_array_push(&self->reader->codes);
    LODE_TRY_ALLOC(slot, asking->error);
    *slot = reply;
    self->mapping->code = (uint32_t)(self->reader->codes.count - 1);
    take_scopes(self, reply, places, count);
    return LODE_OK;
}

static lode_status ask_open(struct asking *self, struct binary_asking *asking)
{
    struct place *places = calloc(self->count + 1, sizeof *places);
    uint64_t *addresses = calloc(self->count + 1, sizeof *addresses);
    struct binary_reply *reply = calloc(1, sizeof *reply);
    lode_status status = places && addresses && reply ? LODE_OK : lode_fail_memory(asking->error);
    size_t count = status == LODE_OK ? find_places(self, asking->file.fd, places) : 0;
    if (reply)
        lode_binary_init(reply);
    if (count > 0)
        status = ask_places(self, asking, places, count, addresses, reply);
    if (reply && self->mapping->code == LODE_NO_NUMBER) {
        lode_binary_free(reply);
        free(reply);
    }
    free(places);
    free(addresses);
    return status;
}

/* LODE_END: there is no such binary, or no answer. */
static lode_status try_path(struct asking *self, const char *path)
{
    struct binary_asking asking = {.all = &self->all,
                                   .path = self->path,
                                   .rule = PPROF_RULE_BINARY,
                                   .error = self->reader->report->error};
    if (!lode_module_file_find(&asking.file, &self->all, path, NULL))
        return LODE_END;
    lode_status status = is_binary(self, &asking.file) ? ask_open(self, &asking) : LODE_END;
    lode_module_file_close(&asking.file);
    return status;
}

static lode_status try_paths(struct asking *self)
{
    const char *tail = lode_path_tail(self->path);
    char path[PATH_MAX];
    lode_status status = self->path[0] == '/' ? try_path(self, self->path) : LODE_END;
    int length = snprintf(path, sizeof path, "/proc/self/fd/%d/%s", self->directory, tail);
    if (status == LODE_END && self->directory >= 0 && tail[0] && (size_t)length < sizeof path)
        status = try_path(self, path);
    for (unsigned i = 0; i < BINARY_COPIES && status == LODE_END; i++)
        if (lode_binary_copy_path(path, (enum binary_copy)i, (struct binary_id){self->id, self->id_size},
                                  self->directory))
            status = try_path(self, path);
    return status;
}

/* ---- mappings ---- */

static int digit_of(uint8_t byte)
{
    return byte >= '0' && byte <= '9'   ? byte - '0'
           : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10
           : byte >= 'A' && byte <= 'F' ? byte - 'A' + 10
                                        : -1;
}

/* A build id is in hexadecimal; what Go writes of its own is none. */
static bool read_id(struct asking *self)
{
    const struct pprof_string *from = &self->reader->strings[self->mapping->build_id];
    const uint8_t *digits = self->reader->bytes.data + from->offset;
    self->id_size = from->size / 2;
    if (from->size % 2 != 0 || self->id_size < 2 || self->id_size > SYMBOLS_BUILD_ID_MOST)
        return false;
    for (size_t i = 0; i < self->id_size; i++) {
        int high = digit_of(digits[2 * i]), low = digit_of(digits[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        self->id[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static lode_status ask_mapping(struct asking *self, const struct member *members, size_t count)
{
    struct pprof_reader *reader = self->reader;
    self->mapping = LODE_ARRAY_AT(&reader->mappings, struct pprof_mapping, members->mapping);
    self->members = members;
    self->count = count;
    if (!self->mapping->has_file || !read_id(self) || reader->codes.count == PPROF_BINARIES_MOST ||
        self->sought == PPROF_SOUGHT_MOST)
        return LODE_OK;
    self->sought++;
    self->path = lode_strings_at(&reader->import.frames.strings, self->mapping->name);
    lode_status status = try_paths(self);
    return status == LODE_END ? LODE_OK : status;
}

/* Sorted by mapping. */
static size_t list_members(const struct pprof_reader *reader, struct member *members)
{
    size_t count = 0;
    for (uint32_t i = 0; i < reader->locations.count; i++) {
        const struct pprof_location *location = LODE_ARRAY_AT(&reader->locations, struct pprof_location, i);
        const uint32_t *mapping = lode_map_get(&reader->mapping_of, location->mapping_id);
        if (mapping)
            members[count++] = (struct member){*mapping, i};
    }
    if (count > 1)
        qsort(members, count, sizeof *members, compare_members);
    return count;
}

static lode_status ask_all(struct asking *self, struct member *members)
{
    size_t count = list_members(self->reader, members), next;
    for (size_t i = 0; i < count; i = next) {
        for (next = i + 1; next < count && members[next].mapping == members[i].mapping;)
            next++;
        LODE_TRY(ask_mapping(self, members + i, next - i));
    }
    return LODE_OK;
}

/* Addresses become several contexts each, which is none of the profile's doing. */
static void raise_limits(struct lode_import *import)
{
    uint64_t contexts = import->most_contexts * PPROF_CHAIN, cells = import->most_cells * PPROF_CHAIN;
    import->most_contexts = contexts < LODE_IMPORT_CONTEXTS ? contexts : LODE_IMPORT_CONTEXTS;
    import->most_cells = cells < LODE_IMPORT_CELLS ? cells             : LODE_IMPORT_CELLS;
}

static bool has_build_ids(const struct pprof_reader *reader)
{
    for (size_t i = 0; i < reader->mappings.count; i++)
        if (reader->strings[LODE_ARRAY_AT(&reader->mappings, struct pprof_mapping, i)->build_id].size > 0)
            return true;
    return false;
}

lode_status lode_pprof_ask_binaries(struct pprof_reader *reader, const struct lode_folder *folder)
{
    const char *program = lode_symbols_program();
    if (program == NULL || !has_build_ids(reader))
        return LODE_OK;
    struct binary_helper helper = BINARY_HELPER_INIT(program);
    struct asking self = {.reader = reader,
                          .directory = folder->directory,
                          .all = {.report = reader->report,
                                  .binaries = {.program = program, .helper = &helper, .has_loops = true}}};
    struct member *members = calloc(reader->locations.count + 1, sizeof *members);
    lode_status status = members ? ask_all(&self, members) : lode_fail_memory(reader->report->error);
    free(members);
    lode_binary_helper_close(&helper);
    if (reader->codes.count > 0)
        raise_limits(&reader->import);
    return status;
}

void lode_pprof_free_binaries(struct pprof_reader *reader)
{
    for (size_t i = 0; i < reader->codes.count; i++) {
        struct binary_reply *code = *LODE_ARRAY_AT(&reader->codes, struct binary_reply *, i);
        lode_binary_free(code);
        free(code);
    }
    lode_array_free(&reader->codes);
}
