/* SPDX-License-Identifier: BSD-3-Clause */
/* .sym files: names by offset in a module. The comment lines of a file identify its module. */
#include "base/compare.h"
#include "base/error.h"
#include "format/uftrace/read.h"
#include <lode/name.h>
#include <stdlib.h>

/* A file of symbols or debug information, before its module is known. */
struct candidate {
    const char *name;     /* of the file */
    struct uft_text stem; /* its name without the ending */
    struct lode_input source;
    struct uft_text path, build_id; /* empty if not specified */
    const struct uft_module *owner; /* the first module that it was read for; NULL: none yet */
};

struct candidates {
    struct uft_opening *opening;
    const char *ending;
    struct lode_array items; /* struct candidate, sorted by name */
    struct lode_map by_path; /* hash of a path, to the first candidate */
};

/* ---- the module of a file ---- */

/* The comment lines at the beginning: "# path name: P", "# build-id: H". */
static void read_head(struct candidate *file)
{
    struct uft_lines lines = {.text = file->source.bytes};
    struct uft_text line;
    file->path = file->build_id = (struct uft_text){"", ""};
    while (uft_next_line(&lines, &line) && uft_length(line) > 0 && *line.at == '#') {
        if (uft_take(&line, "# path name: "))
            file->path = line;
        else if (uft_take(&line, "# build-id: "))
            file->build_id = line;
    }
}

static bool has_ending(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

static lode_status find_candidates(struct candidates *found)
{
    struct uft_opening *opening = found->opening;
    for (size_t i = 0; i < opening->name_count; i++) {
        const char *name = opening->names[i];
        if (!has_ending(name, found->ending))
            continue;
        struct candidate file = {.name = name};
        file.stem = (struct uft_text){name, name + strlen(name) - strlen(found->ending)};
        lode_status status = lode_input_open(&file.source, &opening->rec->folder, name, opening->error);
        if (status < 0)
            return status;
        if (status == LODE_ABSENT)
            continue;
        read_head(&file);
        struct candidate *added = lode_array_push(&found->items);
        if (added == NULL || lode_map_add(&found->by_path, uft_hash(file.path),
                                          (uint32_t)found->items.count - 1, NULL) == NULL) {
            lode_input_close(&file.source);
            return lode_fail_memory(opening->error);
        }
        *added = file;
    }
    return LODE_OK;
}

static bool same_text(struct uft_text a, struct uft_text b)
{
    return uft_length(a) == uft_length(b) && (uft_length(a) == 0 || memcmp(a.at, b.at, uft_length(a)) == 0);
}

/* Whether a file's name is "BASENAME.ending" or "BASENAME-XXXX.ending". */
static bool has_stem(const struct candidate *file, const char *basename)
{
    struct uft_text stem = file->stem;
    size_t length = strlen(basename);
    if (uft_length(stem) == length + 5 && stem.at[length] == '-')
        stem.end = stem.at + length;
    return uft_equals(stem, basename);
}

/* How well a file fits a module: 0 not at all; higher is better. */
static int fitness(const struct candidate *file, const struct uft_module *module)
{
    const char *path = module->module->path;
    struct uft_text id = {module->build_id, module->build_id + strlen(module->build_id)};
    bool same_path = uft_equals(file->path, path);
    bool knows_ids = uft_length(id) > 0 && uft_length(file->build_id) > 0;
    if (knows_ids && !same_text(file->build_id, id))
        return 0;
    if (same_path)
        return knows_ids ? 4 : 3;
    if (!has_stem(file, lode_path_tail(path)))
        return 0;
    if (knows_ids)
        return 2;
    return uft_length(file->path) == 0 ? 1 : 0;
}

/* The file of a module, or NULL. A second module may use the same file. */
static struct candidate *choose(struct candidates *found, const struct uft_module *module, bool *is_foreign)
{
    struct candidate *best = NULL;
    int best_fit = 0;
    const char *basename = lode_path_tail(module->module->path);
    struct uft_text path = {module->module->path, module->module->path + strlen(module->module->path)};
    const uint32_t *by_path = lode_map_get(&found->by_path, uft_hash(path));
    *is_foreign = false;
    if (by_path && fitness(LODE_ARRAY_AT(&found->items, struct candidate, *by_path), module) == 4)
        return LODE_ARRAY_AT(&found->items, struct candidate, *by_path);
    /* Names are sorted: those with this prefix are contiguous. */
    size_t low = 0, high = found->items.count;
    LODE_BISECT(low, high,
                strcmp(LODE_ARRAY_AT(&found->items, struct candidate, middle)->name, basename) < 0);
    for (size_t i = low; i < found->items.count; i++) {
        struct candidate *file = LODE_ARRAY_AT(&found->items, struct candidate, i);
        if (strncmp(file->name, basename, strlen(basename)) != 0)
            break;
        int fit = fitness(file, module);
        *is_foreign = *is_foreign || (fit == 0 && uft_equals(file->stem, basename));
        if (fit > best_fit) {
            best = file;
            best_fit = fit;
        }
    }
    return best;
}

static void free_candidates(struct candidates *found)
{
    for (size_t i = 0; i < found->items.count; i++) {
        struct candidate *file = LODE_ARRAY_AT(&found->items, struct candidate, i);
        if (file->owner == NULL)
            lode_input_close(&file->source);
    }
    lode_array_free(&found->items);
    lode_map_free(&found->by_path);
}

/* ---- symbols ---- */

/* "ADDRESS T name" of up to 0.13, or "ADDRESS SIZE T name"; false if it is neither. */
static bool parse_symbol(struct uft_text line, struct uft_symbol *out, bool *has_size)
{
    uint64_t size = 0;
    *out = (struct uft_symbol){0};
    if (!uft_take_number(&line, 16, &out->address) || !uft_take(&line, " "))
        return false;
    struct uft_text rest = line;
    *has_size = uft_take_number(&rest, 16, &size) && uft_take(&rest, " ") && uft_length(rest) > 2 &&
                rest.at[1] == ' ' && (size_t)(rest.at - line.at) > 2;
    if (*has_size)
        line = rest;
    if (uft_length(line) < 3 || line.at[1] != ' ')
        return false;
    out->size = *has_size && size < UINT32_MAX ? (uint32_t)size : *has_size ? UINT32_MAX : 0;
    out->type = line.at[0];
    out->name = line.at + 2;
    out->name_length = uft_length(line) - 2 < UINT32_MAX ? (uint32_t)(uft_length(line) - 2) : UINT32_MAX;
    return true;
}

static bool is_symbol_type(char type)
{
    return type != '\0' && strchr("TtwPKDdvu?", type) != NULL;
}

static int compare_symbols(const void *left, const void *right)
{
    const struct uft_symbol *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    /* Of several names for one address, the first line wins, but functions precede markers. */
    bool a_marks = a->type == '?', b_marks = b->type == '?';
    if (a_marks != b_marks)
        return a_marks ? 1 : -1;
    return a->name < b->name ? -1 : a->name > b->name;
}

/* A missing size extends to the next symbol; end markers are then dropped. */
static uint32_t finish_symbols(struct uft_symbol *items, uint32_t count)
{
    uint32_t kept = 0;
    qsort(items, count, sizeof *items, compare_symbols);
    for (uint32_t i = 0, next; i < count; i = next) {
        struct uft_symbol first = items[i];
        for (next = i + 1; next < count && items[next].address == first.address;)
            next++;
        if (first.size == 0 && next < count) {
            uint64_t distance = items[next].address - first.address;
            first.size = distance < UINT32_MAX ? (uint32_t)distance : UINT32_MAX;
        }
        if (first.type != '?')
            items[kept++] = first;
    }
    return kept;
}

static lode_status check_count(struct uft_opening *opening, const char *file, struct lode_range text,
                               uint64_t count)
{
    struct uft_lines lines = {.text = text};
    struct uft_text line;
    uint64_t said;
    if (!uft_next_line(&lines, &line) || !uft_take(&line, "# symbols: "))
        return LODE_OK;
    bool is_number = uft_take_number(&line, 10, &said);
    if (is_number && said == count)
        return LODE_OK;
    return lode_report_add(opening->report, UFT_SYMBOLS_COUNT, file, 0,
                           "there are %llu symbols; the header says %llu", (unsigned long long)count,
                           is_number ? (unsigned long long)said : 0ULL);
}

static lode_status parse_symbols(struct uft_opening *opening, const struct candidate *file,
                                 struct lode_array *symbols)
{
    struct uft_lines lines = {.text = file->source.bytes};
    struct uft_text line;
    uint64_t seen = 0;
    while (uft_next_line(&lines, &line)) {
        struct uft_symbol symbol;
        bool has_size;
        if (uft_length(line) == 0 || *line.at == '#')
            continue;
        if (!parse_symbol(line, &symbol, &has_size)) {
            LODE_TRY(lode_report_add(opening->report, UFT_SYMBOLS_LINE, file->name, lines.offset,
                                     "the line is malformed; it is omitted"));
            continue;
        }
        seen += symbol.type != '?'; /* writers do not count end markers */
        if (!is_symbol_type(symbol.type))
            continue;
        struct uft_symbol *added = lode_array_push(symbols);
        LODE_TRY_ALLOC(added, opening->error);
        *added = symbol;
    }
    return check_count(opening, file->name, file->source.bytes, seen);
}

static lode_status take_symbols(struct uft_opening *opening, struct uft_module *module,
                                struct candidate *file)
{
    struct lode_array symbols;
    lode_array_init(&symbols, sizeof(struct uft_symbol), UINT32_MAX / 2);
    lode_status status = parse_symbols(opening, file, &symbols);
    if (status == LODE_OK && symbols.count > 0) {
        module->symbols.count = finish_symbols(symbols.items, (uint32_t)symbols.count);
        module->symbols.items =
            lode_arena_alloc(opening->arena, module->symbols.count, sizeof *module->symbols.items);
        if (module->symbols.items == NULL)
            status = lode_fail_memory(opening->error);
        else if (module->symbols.count > 0)
            memcpy(module->symbols.items, symbols.items, module->symbols.count * sizeof(struct uft_symbol));
    }
    lode_array_free(&symbols);
    module->symbols.file = file->name;
    return status;
}

static lode_status read_module_symbols(struct candidates *found, struct uft_module *module)
{
    struct uft_opening *opening = found->opening;
    bool is_foreign;
    struct candidate *file = choose(found, module, &is_foreign);
    const char *basename = lode_path_tail(module->module->path);
    if (file == NULL && is_foreign)
        return lode_report_add(opening->report, UFT_SYMBOLS_FOREIGN, module->module->path, LODE_NO_OFFSET,
                               "%s.sym belongs to another module or build; it is not used", basename);
    if (file == NULL)
        return lode_report_add(opening->report, UFT_SYMBOLS_MISSING, module->module->path, LODE_NO_OFFSET,
                               "there is no %s.sym", basename);
    /* Modules share a file that was read: hostile maps could have it read for each line. */
    if (file->owner) {
        module->symbols = file->owner->symbols;
        module->symbols.source = lode_input_borrow(&file->owner->symbols.source);
        return LODE_OK;
    }
    file->owner = module;
    module->symbols.source = file->source;
    return take_symbols(opening, module, file);
}

static lode_status read_module_debug(struct candidates *found, struct uft_module *module)
{
    struct uft_opening *opening = found->opening;
    bool is_foreign;
    struct candidate *file = choose(found, module, &is_foreign);
    if (file == NULL)
        return LODE_OK;
    module->debug_file = file->name;
    if (file->owner) {
        module->debug = file->owner->debug;
        module->debug_source = lode_input_borrow(&file->owner->debug_source);
        return LODE_OK;
    }
    file->owner = module;
    module->debug_source = file->source;
    return lode_uft_debug_read(&module->debug, module->debug_source.bytes, file->name, opening->rec->specs,
                               opening->arena, opening->report);
}

static lode_status read_all(struct uft_opening *opening, const char *ending,
                            lode_status (*read)(struct candidates *found, struct uft_module *module))
{
    struct candidates found = {.opening = opening, .ending = ending};
    lode_array_init(&found.items, sizeof(struct candidate), UINT32_MAX / 2);
    lode_map_init(&found.by_path);
    lode_status status = find_candidates(&found);
    for (uint32_t i = 0; i < opening->rec->base.module_count && status == LODE_OK; i++)
        status = read(&found, &opening->rec->modules[i]);
    free_candidates(&found);
    return status;
}

lode_status lode_uft_read_symbols(struct uft_opening *opening)
{
    LODE_TRY(read_all(opening, ".sym", read_module_symbols));
    return read_all(opening, ".dbg", read_module_debug);
}
