/* SPDX-License-Identifier: BSD-3-Clause */
/* The definitions of an OTF2 archive. */
#include "base/error.h"
#include "export/timelines/otf2.h"
#include <inttypes.h>
#include <stdio.h>

#define TICKS UINT64_C(1000000000) /* per second */

static const OTF2_MappingType mappings[OTF2_TABLES] = {
    [OTF2_REGIONS] = OTF2_MAPPING_REGION,
    [OTF2_STRINGS] = OTF2_MAPPING_STRING,
    [OTF2_ATTRIBUTES] = OTF2_MAPPING_ATTRIBUTE,
    [OTF2_METRICS] = OTF2_MAPPING_METRIC,
};

struct definer {
    struct otf2 *self;
    OTF2_GlobalDefWriter *writer;
    struct lode_strings strings; /* by number of the archive */
    uint32_t written;            /* of them */
    struct lode_strings members; /* of metrics: kind and name */
    lode_error *error;
};

OTF2_Type lode_otf2_type(char kind)
{
    switch (kind) {
    case OTF2_IS_SIGNED:
        return OTF2_TYPE_INT64;
    case OTF2_IS_UNSIGNED:
        return OTF2_TYPE_UINT64;
    case OTF2_IS_REAL:
        return OTF2_TYPE_DOUBLE;
    default:
        return OTF2_TYPE_STRING;
    }
}

/* ---- numbers ---- */

/* Numbers of the archive in order of first use by locations, which depends on the store alone. */
static bool number_table(struct definer *definer, unsigned table)
{
    struct otf2 *self = definer->self;
    size_t shared = table == OTF2_REGIONS ? self->frame_capacity : self->texts[table].items.count;
    uint32_t next = 0, *finals = calloc(shared + 1, sizeof *finals);
    self->finals[table] = finals;
    if (finals == NULL)
        return false;
    for (uint32_t i = 0; i < lode_tracks_line_count(self->base.tracks); i++) {
        const struct otf2_location *location = &self->locations[i];
        for (uint32_t k = 0; k < location->counts[table]; k++) {
            uint32_t number = location->numbers[table][k];
            if (finals[number] != 0)
                continue;
            finals[number] = ++next;
            /* Strings of values are strings like others. */
            if (table == OTF2_STRINGS &&
                !lode_strings_put(&definer->strings, lode_strings_at(&self->texts[table], number),
                                  &finals[number]))
                return false;
            finals[number] += table == OTF2_STRINGS;
        }
    }
    return true;
}

static bool number_all(struct definer *definer)
{
    if (lode_strings_add(&definer->strings, "") != 0) /* none */
        return false;
    for (unsigned i = 0; i < OTF2_TABLES; i++)
        if (!number_table(definer, i))
            return false;
    return true;
}

/* ---- definitions of a location ---- */

static lode_status map_table(struct definer *definer, OTF2_DefWriter *writer, uint32_t line, unsigned table)
{
    struct otf2 *self = definer->self;
    const struct otf2_location *location = &self->locations[line];
    uint32_t count = location->counts[table];
    if (count == 0)
        return LODE_OK;
    for (uint32_t i = 0; i < count; i++)
        location->numbers[table][i] = self->finals[table][location->numbers[table][i]] - 1;
    OTF2_IdMap *map = OTF2_IdMap_CreateFromUint32Array(count, location->numbers[table], false);
    LODE_TRY_ALLOC(map, definer->error);
    OTF2_ErrorCode code = OTF2_DefWriter_WriteMappingTable(writer, mappings[table], map);
    OTF2_IdMap_Free(map);
    return lode_otf2_check(code, "write a mapping", definer->error);
}

static lode_status define_location(struct definer *definer, uint32_t line)
{
    OTF2_Archive *archive = definer->self->archive;
    OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(archive, line);
    lode_status status = LODE_OK;
    if (writer == NULL)
        return lode_fail(definer->error, LODE_ERR_IO, NULL, LODE_NO_OFFSET,
                         "libotf2 cannot write the definitions of a location");
    for (unsigned i = 0; i < OTF2_TABLES && status == LODE_OK; i++)
        status = map_table(definer, writer, line, i);
    OTF2_ErrorCode code = OTF2_Archive_CloseDefWriter(archive, writer);
    return status == LODE_OK ? lode_otf2_check(code, "close definitions", definer->error) : status;
}

static lode_status define_locations(struct definer *definer)
{
    OTF2_Archive *archive = definer->self->archive;
    LODE_TRY(lode_otf2_check(OTF2_Archive_OpenDefFiles(archive), "open definitions", definer->error));
    for (uint32_t i = 0; i < lode_tracks_line_count(definer->self->base.tracks); i++)
        LODE_TRY(define_location(definer, i));
    return lode_otf2_check(OTF2_Archive_CloseDefFiles(archive), "close definitions", definer->error);
}

/* ---- definitions of the archive ---- */

/* The number of a string, which is written before what refers to it. */
static lode_status string_of(struct definer *definer, const char *text, OTF2_StringRef *number)
{
    uint32_t known;
    LODE_TRY_ALLOC(lode_strings_put(&definer->strings, text, &known), definer->error);
    for (; definer->written < definer->strings.items.count; definer->written++)
        LODE_TRY(lode_otf2_check(
            OTF2_GlobalDefWriter_WriteString(definer->writer, definer->written,
                                             lode_strings_at(&definer->strings, definer->written)),
            "write a string", definer->error));
    *number = known;
    return LODE_OK;
}

static lode_status clean_string(struct definer *definer, const char *text, OTF2_StringRef *number)
{
    struct lode_wire clean = {0};
    lode_wire_clean(&clean, text, strlen(text));
    wire_raw(&clean, "", 1);
    lode_status status = clean.failed ? lode_fail_memory(definer->error)
                                      : string_of(definer, (const char *)clean.bytes, number);
    wire_free(&clean);
    return status;
}

static lode_status define_clock(struct definer *definer)
{
    const struct otf2 *self = definer->self;
    uint64_t first, last, real = OTF2_UNDEFINED_TIMESTAMP;
    int64_t offset = lode_tracks_utc_offset(self->base.tracks);
    lode_tracks_bounds(self->base.tracks, &first, &last);
    if (self->base.job->db || offset != 0)
        real = first + (uint64_t)offset;
    return lode_otf2_check(
        OTF2_GlobalDefWriter_WriteClockProperties(definer->writer, TICKS, first, last - first + 1, real),
        "write the clock", definer->error);
}

static OTF2_Paradigm paradigm_of(const char *name)
{
    static const struct {
        const char *begin;
        OTF2_Paradigm paradigm;
    } known[] = {{"MPI_", OTF2_PARADIGM_MPI},         {"PMPI_", OTF2_PARADIGM_MPI},
                 {"omp_", OTF2_PARADIGM_OPENMP},      {"<omp ", OTF2_PARADIGM_OPENMP},
                 {"GOMP_", OTF2_PARADIGM_OPENMP},     {"__kmp", OTF2_PARADIGM_OPENMP},
                 {"pthread_", OTF2_PARADIGM_PTHREAD}, {"cuda", OTF2_PARADIGM_CUDA}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(name, known[i].begin, strlen(known[i].begin)) == 0)
            return known[i].paradigm;
    return OTF2_PARADIGM_USER;
}

static lode_status define_region(struct definer *definer, uint32_t number, const lode_function *frame)
{
    const struct lode_frame_name *name = lode_tracks_name(definer->self->base.tracks, frame);
    const lode_file *file = lode_function_file(frame);
    const lode_module *module = lode_function_module(frame);
    const char *symbol = lode_function_name(frame);
    OTF2_StringRef shown, linker, path, image;
    LODE_TRY_ALLOC(name, definer->error);
    LODE_TRY(string_of(definer, name->text, &shown));
    LODE_TRY(clean_string(definer, symbol ? symbol : name->text, &linker));
    LODE_TRY(clean_string(definer, file ? lode_file_path(file) : "", &path));
    LODE_TRY(clean_string(definer, module ? lode_module_path(module) : "", &image));
    return lode_otf2_check(OTF2_GlobalDefWriter_WriteRegion(definer->writer, number, shown, linker, image,
                                                            OTF2_REGION_ROLE_FUNCTION,
                                                            paradigm_of(name->text), OTF2_REGION_FLAG_NONE,
                                                            path, lode_function_line(frame), 0),
                           "write a region", definer->error);
}

/* Regions by their numbers: shared numbers are in another order. */
static lode_status define_regions(struct definer *definer)
{
    const struct otf2 *self = definer->self;
    uint32_t count = 0;
    for (size_t i = 0; i < self->frame_capacity; i++)
        count = self->finals[OTF2_REGIONS][i] > count ? self->finals[OTF2_REGIONS][i] : count;
    const lode_function **frames = calloc((size_t)count + 1, sizeof *frames);
    LODE_TRY_ALLOC(frames, definer->error);
    for (size_t i = 0; i < self->frame_capacity; i++)
        if (self->finals[OTF2_REGIONS][i] > 0)
            frames[self->finals[OTF2_REGIONS][i] - 1] = self->frames[i];
    lode_status status = LODE_OK;
    for (uint32_t i = 0; i < count && status == LODE_OK; i++)
        status = define_region(definer, i, frames[i]);
    free(frames);
    return status;
}

static lode_status define_attribute(struct definer *definer, uint32_t number, const char *text)
{
    OTF2_StringRef name, none;
    LODE_TRY(string_of(definer, text + 1, &name));
    LODE_TRY(string_of(definer, "", &none));
    return lode_otf2_check(
        OTF2_GlobalDefWriter_WriteAttribute(definer->writer, number, name, none, lode_otf2_type(text[0])),
        "write an attribute", definer->error);
}

/* A member is the event and the name, with its kind before them. */
static lode_status define_member(struct definer *definer, const char *event, size_t event_length,
                                 const char *member, size_t length, OTF2_MetricMemberRef *number)
{
    struct lode_wire text = {0};
    OTF2_StringRef name, none;
    uint32_t before = (uint32_t)definer->members.items.count;
    wire_raw(&text, member, 1);
    wire_raw(&text, event, event_length);
    wire_raw(&text, " ", 1);
    wire_raw(&text, member + 1, length - 1);
    wire_raw(&text, "", 1);
    lode_status status = LODE_OK;
    if (text.failed || !lode_strings_put(&definer->members, (const char *)text.bytes, number))
        status = lode_fail_memory(definer->error);
    if (status == LODE_OK && *number == before)
        status = string_of(definer, (const char *)text.bytes + 1, &name);
    if (status == LODE_OK)
        status = string_of(definer, "", &none);
    if (status == LODE_OK && *number == before)
        status = lode_otf2_check(
            OTF2_GlobalDefWriter_WriteMetricMember(definer->writer, *number, name, none,
                                                   OTF2_METRIC_TYPE_USER, OTF2_METRIC_ABSOLUTE_POINT,
                                                   lode_otf2_type(member[0]), OTF2_BASE_DECIMAL, 0, none),
            "write a metric", definer->error);
    wire_free(&text);
    return status;
}

static lode_status define_metric(struct definer *definer, uint32_t number, const char *text)
{
    OTF2_MetricMemberRef members[UINT8_MAX];
    uint8_t count = 0;
    size_t event = strcspn(text, OTF2_MEMBER);
    for (const char *at = text + event; *at && count < UINT8_MAX; count++) {
        at += strlen(OTF2_MEMBER);
        size_t length = strcspn(at, OTF2_MEMBER);
        LODE_TRY(define_member(definer, text, event, at, length, &members[count]));
        at += length;
    }
    return lode_otf2_check(OTF2_GlobalDefWriter_WriteMetricClass(definer->writer, number, count, members,
                                                                 OTF2_METRIC_ASYNCHRONOUS,
                                                                 OTF2_RECORDER_KIND_ABSTRACT),
                           "write a metric", definer->error);
}

/* Attributes or metrics, by their numbers. */
static lode_status define_texts(struct definer *definer, unsigned table,
                                lode_status (*define)(struct definer *, uint32_t, const char *))
{
    const struct otf2 *self = definer->self;
    uint32_t count = (uint32_t)self->texts[table].items.count;
    const char **texts = calloc((size_t)count + 1, sizeof *texts);
    LODE_TRY_ALLOC(texts, definer->error);
    for (uint32_t i = 0; i < count; i++)
        texts[self->finals[table][i] - 1] = lode_strings_at(&self->texts[table], i);
    lode_status status = LODE_OK;
    for (uint32_t i = 0; i < count && status == LODE_OK; i++)
        status = define(definer, i, texts[i]);
    free(texts);
    return status;
}

/* ---- threads ---- */

/* The node of a process of a database; 0 if there are none. */
static lode_status node_of(struct definer *definer, uint32_t process, uint32_t *node)
{
    const struct otf2 *self = definer->self;
    const lode_database *db = self->base.job->db;
    lode_id ids[16];
    uint32_t count = 0;
    *node = 0;
    if (db == NULL)
        return LODE_OK;
    uint32_t line = lode_tracks_process(self->base.tracks, process)->first_line;
    LODE_TRY(lode_profile_ids(db, lode_tracks_line(self->base.tracks, line)->source, ids, 16, &count,
                              definer->error));
    for (uint32_t i = 0; i < count && i < 16; i++) {
        const char *kind = lode_database_id_kind_name(db, ids[i].kind);
        if (kind && strcmp(kind, "NODE") == 0)
            *node = ids[i].logical;
    }
    return LODE_OK;
}

/* The node with a number, below the machine; nodes are few. */
static lode_status define_node(struct definer *definer, struct lode_interner *nodes, uint32_t node,
                               uint32_t *number)
{
    char text[32];
    bool added;
    OTF2_StringRef name, class;
    *number = lode_interner_add(nodes, &node, &added);
    LODE_TRY_ALLOC(*number != LODE_NO_NUMBER, definer->error);
    (*number)++;
    if (!added)
        return LODE_OK;
    snprintf(text, sizeof text, "node %" PRIu32, node);
    LODE_TRY(string_of(definer, text, &name));
    LODE_TRY(string_of(definer, "node", &class));
    return lode_otf2_check(OTF2_GlobalDefWriter_WriteSystemTreeNode(definer->writer, *number, name, class, 0),
                           "write a node", definer->error);
}

static lode_status define_processes(struct definer *definer, struct lode_interner *nodes)
{
    const struct lode_tracks *tracks = definer->self->base.tracks;
    OTF2_StringRef name;
    LODE_TRY(string_of(definer, "machine", &name));
    LODE_TRY(lode_otf2_check(OTF2_GlobalDefWriter_WriteSystemTreeNode(definer->writer, 0, name, name,
                                                                      OTF2_UNDEFINED_SYSTEM_TREE_NODE),
                             "write a node", definer->error));
    for (uint32_t i = 0; i < lode_tracks_process_count(tracks); i++) {
        uint32_t node, number;
        LODE_TRY(node_of(definer, i, &node));
        LODE_TRY(define_node(definer, nodes, node, &number));
        LODE_TRY(clean_string(definer, lode_tracks_process(tracks, i)->name, &name));
        LODE_TRY(lode_otf2_check(OTF2_GlobalDefWriter_WriteLocationGroup(
                                     definer->writer, i, name, OTF2_LOCATION_GROUP_TYPE_PROCESS, number,
                                     OTF2_UNDEFINED_LOCATION_GROUP),
                                 "write a process", definer->error));
    }
    return LODE_OK;
}

static lode_status define_threads(struct definer *definer)
{
    const struct otf2 *self = definer->self;
    for (uint32_t i = 0; i < lode_tracks_line_count(self->base.tracks); i++) {
        const struct lode_line *line = lode_tracks_line(self->base.tracks, i);
        bool is_gpu = self->base.job->db && strncmp(line->name, "GPU", 3) == 0;
        OTF2_StringRef name;
        LODE_TRY(clean_string(definer, line->name, &name));
        LODE_TRY(
            lode_otf2_check(OTF2_GlobalDefWriter_WriteLocation(definer->writer, i, name,
                                                               is_gpu ? OTF2_LOCATION_TYPE_ACCELERATOR_STREAM
                                                                      : OTF2_LOCATION_TYPE_CPU_THREAD,
                                                               self->locations[i].events, line->process),
                            "write a location", definer->error));
    }
    return LODE_OK;
}

static lode_status define_archive(struct definer *definer)
{
    struct lode_interner nodes;
    OTF2_StringRef none;
    LODE_TRY(define_clock(definer));
    LODE_TRY(string_of(definer, "", &none));
    lode_interner_init(&nodes, sizeof(uint32_t));
    lode_status status = define_processes(definer, &nodes);
    lode_interner_free(&nodes);
    LODE_TRY(status);
    LODE_TRY(define_threads(definer));
    LODE_TRY(define_regions(definer));
    LODE_TRY(define_texts(definer, OTF2_ATTRIBUTES, define_attribute));
    return define_texts(definer, OTF2_METRICS, define_metric);
}

static lode_status define_all(struct definer *definer)
{
    OTF2_Archive *archive = definer->self->archive;
    LODE_TRY_ALLOC(number_all(definer), definer->error);
    LODE_TRY(define_locations(definer));
    definer->writer = OTF2_Archive_GetGlobalDefWriter(archive);
    if (definer->writer == NULL)
        return lode_fail(definer->error, LODE_ERR_IO, NULL, LODE_NO_OFFSET,
                         "libotf2 cannot write definitions");
    lode_status status = define_archive(definer);
    OTF2_ErrorCode code = OTF2_Archive_CloseGlobalDefWriter(archive, definer->writer);
    return status == LODE_OK ? lode_otf2_check(code, "close definitions", definer->error) : status;
}

lode_status lode_otf2_define(struct otf2 *self, lode_error *error)
{
    struct definer definer = {.self = self, .error = error};
    lode_strings_init(&definer.strings);
    lode_strings_init(&definer.members);
    lode_status status = define_all(&definer);
    lode_strings_free(&definer.strings);
    lode_strings_free(&definer.members);
    return status;
}
