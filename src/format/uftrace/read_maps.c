/* SPDX-License-Identifier: BSD-3-Clause */
/* sid-*.map: the addresses of a session's modules. */
#include "base/compare.h"
#include "base/error.h"
#include "format/uftrace/read.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    NAME_MAX_LENGTH = 255,
    SESSION_ID_LENGTH = 16
};

/* The base address of the kernel, derived from the address of the stack. */
static uint64_t kernel_base(uint64_t stack)
{
    static const struct {
        uint64_t below, base;
    } spaces[] = {
        {UINT64_C(0x40000000), UINT64_C(0x40000000)},      {UINT64_C(0x80000000), UINT64_C(0x80000000)},
        {UINT64_C(0xb0000000), UINT64_C(0xb0000000)},      {UINT64_C(0xc0000000), UINT64_C(0xc0000000)},
        {UINT64_C(1) << 39, UINT64_C(0xffffff8000000000)}, {UINT64_C(1) << 42, UINT64_C(0xfffffc0000000000)},
        {UINT64_C(1) << 47, UINT64_C(0xffff800000000000)}};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (stack < spaces[i].below)
            return spaces[i].base;
    return UINT64_C(0xffff000000000000);
}

struct map_line {
    uint64_t start, end;
    struct uft_text path, build_id;
};

/* "start-end prot offset major:minor inode path build-id:..."; the path may contain blanks. */
static bool parse_line(struct uft_text line, struct map_line *out)
{
    *out = (struct map_line){0};
    if (!uft_take_number(&line, 16, &out->start) || !uft_take(&line, "-") ||
        !uft_take_number(&line, 16, &out->end) || out->end < out->start)
        return false;
    for (int i = 0; i < 4; i++) {
        uft_skip_blanks(&line);
        if (uft_length(uft_take_word(&line)) == 0)
            return false;
    }
    uft_skip_blanks(&line);
    out->path = line;
    static const char mark[] = " build-id:";
    const char *found = uft_length(line) ? memmem(line.at, uft_length(line), mark, sizeof mark - 1) : NULL;
    if (found) {
        out->path.end = found;
        out->build_id = (struct uft_text){found + sizeof mark - 1, line.end};
    }
    while (out->path.end > out->path.at && (out->path.end[-1] == ' ' || out->path.end[-1] == '\t'))
        out->path.end--;
    return true;
}

/* Adjacent segments of one file form one map, from the first start to the last end. */
static lode_status add_map(struct uft_opening *opening, struct lode_array *maps, const struct map_line *line)
{
    uint32_t module;
    struct uft_text no_id = {"", ""};
    LODE_TRY(lode_uft_add_module(opening, line->path, line->build_id.at ? line->build_id : no_id, &module));
    if (maps->count > 0) {
        struct uft_map *last = LODE_ARRAY_AT(maps, struct uft_map, maps->count - 1);
        if (last->module == module && line->start >= last->start) {
            last->end = line->end > last->end ? line->end : last->end;
            return LODE_OK;
        }
    }
    struct uft_map *added = lode_array_push(maps);
    LODE_TRY_ALLOC(added, opening->error);
    *added = (struct uft_map){line->start, line->end, module};
    return LODE_OK;
}

static lode_status read_lines(struct uft_opening *opening, struct uft_session *session,
                              struct lode_array *maps, const struct lode_input *source)
{
    struct uft_lines lines = {.text = source->bytes};
    struct uft_text text;
    struct map_line line;
    while (uft_next_line(&lines, &text)) {
        if (uft_length(text) == 0 || *text.at == '#')
            continue;
        if (!parse_line(text, &line)) {
            LODE_TRY(lode_report_add(opening->report, UFT_MAP_LINE, source->name, lines.offset,
                                     "the line is malformed; it is omitted"));
            continue;
        }
        if (uft_equals(line.path, "[stack]"))
            session->kernel_base = kernel_base(line.start);
        if (uft_length(line.path) > 0 && *line.path.at != '[')
            LODE_TRY(add_map(opening, maps, &line));
    }
    return LODE_OK;
}

LODE_COMPARE_BY(compare_maps, struct uft_map, start);

static lode_status keep_maps(struct uft_opening *opening, struct uft_session *session,
                             struct lode_array *maps)
{
    session->maps = lode_arena_alloc(opening->arena, maps->count, sizeof *session->maps);
    LODE_TRY_ALLOC(session->maps, opening->error);
    if (maps->count > 0) {
        qsort(maps->items, maps->count, sizeof(struct uft_map), compare_maps);
        memcpy(session->maps, maps->items, maps->count * sizeof(struct uft_map));
    }
    session->map_count = (uint32_t)maps->count;
    return LODE_OK;
}

static lode_status read_map(struct uft_opening *opening, struct uft_session *session, const char *name)
{
    struct lode_input source;
    struct lode_array maps;
    /* A session's id may be anything, such as "../": accept only files of the folder. */
    lode_status status = lode_uft_has_file(opening, name)
                             ? lode_input_open(&source, &opening->rec->folder, name, opening->error)
                             : LODE_ABSENT;
    if (status == LODE_ABSENT)
        return lode_report_add(opening->report, UFT_MAP_MISSING, name, LODE_NO_OFFSET,
                               "the map of a session is missing: its addresses have no names");
    LODE_TRY(status);
    lode_array_init(&maps, sizeof(struct uft_map), UINT32_MAX / 2);
    status = read_lines(opening, session, &maps, &source);
    if (status == LODE_OK)
        status = keep_maps(opening, session, &maps);
    lode_array_free(&maps);
    lode_input_close(&source);
    return status;
}

/* The name of a session's map: its id, or that cut to the length of uftrace's field. */
static lode_status map_name(struct uft_opening *opening, const struct uft_session *session, const char **out)
{
    char name[NAME_MAX_LENGTH + 1];
    int length = snprintf(name, sizeof name, "sid-%.200s.map", session->id);
    if (!lode_uft_has_file(opening, name) && strlen(session->id) > SESSION_ID_LENGTH)
        length = snprintf(name, sizeof name, "sid-%.*s.map", SESSION_ID_LENGTH, session->id);
    return lode_uft_text(opening, (struct uft_text){name, name + length}, out);
}

/* Without any session, use the map if there is only one. */
static lode_status guess_session(struct uft_opening *opening)
{
    const char *only = NULL;
    size_t count = 0;
    for (size_t i = 0; i < opening->name_count; i++) {
        const char *name = opening->names[i];
        size_t length = strlen(name);
        if (length > 8 && strncmp(name, "sid-", 4) == 0 && strcmp(name + length - 4, ".map") == 0) {
            only = name;
            count++;
        }
    }
    if (count != 1)
        return LODE_OK;
    struct uft_session *session = lode_array_push(&opening->sessions);
    LODE_TRY_ALLOC(session, opening->error);
    const char *end = only + strlen(only) - 4;
    session->program = "";
    LODE_TRY(lode_uft_text(opening, (struct uft_text){only + 4, end}, &session->id));
    return lode_report_add(opening->report, UFT_SESSION_MISSING, "task.txt", LODE_NO_OFFSET,
                           "there is no session; %s is used, the only map", only);
}

lode_status lode_uft_read_maps(struct uft_opening *opening)
{
    if (opening->sessions.count == 0)
        LODE_TRY(guess_session(opening));
    for (size_t i = 0; i < opening->sessions.count; i++) {
        struct uft_session *session = LODE_ARRAY_AT(&opening->sessions, struct uft_session, i);
        const char *name;
        /* Several sessions may share an id, and so a map. */
        if (session->group < i) {
            const struct uft_session *same =
                LODE_ARRAY_AT(&opening->sessions, struct uft_session, session->group);
            session->maps = same->maps;
            session->map_count = same->map_count;
            session->kernel_base = same->kernel_base;
            continue;
        }
        LODE_TRY(map_name(opening, session, &name));
        LODE_TRY(read_map(opening, session, name));
    }
    return LODE_OK;
}
