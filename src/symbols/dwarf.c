/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions and inlined functions by the ranges of their entries; of nested ones, the innermost has
 * an offset. Then the line: that of the row with the greatest address up to the offset, in all line
 * tables.
 */
#include "binary.h"

#include <dwarf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MOST = 512 /* of nested entries */
};

/* Scopes that have the same origin are of one function. */
struct origin {
    Dwarf_Off offset;
    uint32_t function;
};

struct walk {
    struct answers *answers;
    struct origin *origins; /* by the order in which they were seen */
    size_t origin_count, origin_room;
    uint32_t depth;
    Dwarf_Die unit;
};

/* ---- names ---- */

static const char *string_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

/* NULL also if a linkage name is in a file that is not read: the plain one would be incomplete. */
static const char *name_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
        return dwarf_formstring(&attribute);
    return string_of(die, DW_AT_name);
}

static uint32_t number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    bool has = dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), &number) == 0;
    return has && number < UINT32_MAX ? (uint32_t)number : 0;
}

/* A path, in a buffer if it has to be joined to the directory of the compilation. */
static const char *join(Dwarf_Die *unit, const char *path, char buffer[PATH_MAX])
{
    const char *directory = path && path[0] != '/' ? string_of(unit, DW_AT_comp_dir) : NULL;
    if (directory == NULL)
        return path;
    int length = snprintf(buffer, PATH_MAX, "%s/%s", directory, path);
    return length > 0 && length < PATH_MAX ? buffer : path;
}

static const char *file_of(struct walk *walk, Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Files *files;
    Dwarf_Word number;
    Dwarf_Die unit;
    size_t count;
    if (dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), &number) != 0 || number == 0)
        return NULL;
    /* Numbers are those of the unit that has the attribute, which may be that of the origin. */
    if (dwarf_cu_die(attribute.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) == NULL)
        unit = walk->unit;
    errno = 0;
    if (dwarf_getsrcfiles(&unit, &files, &count) == 0)
        return number < count ? dwarf_filesrc(files, number, NULL, NULL) : NULL;
    must_have_memory();
    return NULL;
}

static uint32_t keep_file(struct walk *walk, const char *file)
{
    char buffer[PATH_MAX];
    return answers_string(walk->answers, join(&walk->unit, file, buffer));
}

/* ---- entries ---- */

static bool has_flag(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    bool flag;
    return dwarf_formflag(dwarf_attr(die, name, &attribute), &flag) == 0 && flag;
}

/* The entry that an instance is one of: at the end of its abstract origins. */
static Dwarf_Off origin_of(Dwarf_Die *die)
{
    Dwarf_Die at = *die;
    for (unsigned i = 0; i < DEPTH_MOST; i++) {
        Dwarf_Attribute attribute;
        Dwarf_Die next;
        if (dwarf_formref_die(dwarf_attr(&at, DW_AT_abstract_origin, &attribute), &next) == NULL)
            break;
        at = next;
    }
    return dwarf_dieoffset(&at);
}

/* The number of the first scope of the same function; `scope` if it is that. */
static uint32_t function_of(struct walk *walk, Dwarf_Off offset, uint32_t scope)
{
    size_t low = 0, high = walk->origin_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (walk->origins[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < walk->origin_count && walk->origins[low].offset == offset)
        return walk->origins[low].function;
    if (walk->origin_count == walk->origin_room) {
        walk->origin_room = walk->origin_room ? 2 * walk->origin_room : 64;
        walk->origins = must_grow(walk->origins, walk->origin_room, sizeof *walk->origins);
    }
    memmove(walk->origins + low + 1, walk->origins + low, (walk->origin_count - low) * sizeof *walk->origins);
    walk->origins[low] = (struct origin){offset, scope};
    walk->origin_count++;
    return scope;
}

static uint32_t add_function(struct walk *walk, Dwarf_Die *die, uint32_t parent, enum symbols_kind kind)
{
    struct answers *answers = walk->answers;
    Dwarf_Addr entry;
    return answers_scope(answers,
                         (struct scope){.parent = parent,
                                        .name = answers_string(answers, name_of(die)),
                                        .file = keep_file(walk, file_of(walk, die, DW_AT_decl_file)),
                                        .line = number_of(die, DW_AT_decl_line),
                                        .function = function_of(walk, origin_of(die), answers->scope_count),
                                        .address = dwarf_entrypc(die, &entry) == 0 ? entry : 0,
                                        .kind = kind});
}

/* The line of the call, and the function that is inlined there. */
static uint32_t add_inlined(struct walk *walk, Dwarf_Die *die, uint32_t parent)
{
    const char *file = file_of(walk, die, DW_AT_call_file);
    uint32_t call_file = file ? keep_file(walk, file) : answers_string(walk->answers, "???");
    uint32_t site = answers_scope(walk->answers, (struct scope){.parent = parent,
                                                                .name = SYMBOLS_NONE,
                                                                .file = call_file,
                                                                .line = number_of(die, DW_AT_call_line),
                                                                .function = SYMBOLS_NONE,
                                                                .kind = SYMBOLS_LINE});
    return add_function(walk, die, site, SYMBOLS_INLINED);
}

/*
 * The scope of an entry, if it has any of the offsets; else SYMBOLS_NONE. What has no name, as
 * where names are in a file of dwz, is left to symbols.
 */
static uint32_t use_entry(struct walk *walk, Dwarf_Die *die, uint32_t parent)
{
    struct answers *answers = walk->answers;
    uint32_t scope = SYMBOLS_NONE;
    Dwarf_Addr base, start, end;
    ptrdiff_t at = name_of(die) ? 0 : -1;
    while (at >= 0 && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
        uint32_t first, count = answers_within(answers, start, end, &first);
        for (uint32_t i = 0; i < count; i++) {
            struct found *found = &answers->found[first + i];
            if (found->scope != SYMBOLS_NONE && found->depth >= walk->depth)
                continue;
            if (scope == SYMBOLS_NONE)
                scope = dwarf_tag(die) == DW_TAG_subprogram
                            ? add_function(walk, die, SYMBOLS_NONE, SYMBOLS_FUNCTION)
                            : add_inlined(walk, die, parent);
            found->scope = scope;
            found->depth = walk->depth;
        }
    }
    return scope;
}

/* DEPTH_MOST bounds the recursion. NOLINTBEGIN(misc-no-recursion) */
static void walk_children(struct walk *walk, Dwarf_Die *die, uint32_t parent);

static void walk_entry(struct walk *walk, Dwarf_Die *die, uint32_t parent)
{
    int tag = dwarf_tag(die);
    bool is_inlined = tag == DW_TAG_inlined_subroutine && parent != SYMBOLS_NONE;
    bool is_code = tag == DW_TAG_subprogram || is_inlined;
    if (is_code && !has_flag(die, DW_AT_declaration)) {
        uint32_t scope = use_entry(walk, die, parent);
        /* What is inlined into a function without offsets has none, either. */
        if (tag == DW_TAG_inlined_subroutine && scope == SYMBOLS_NONE)
            return;
        parent = scope;
    }
    switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_module:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
    case DW_TAG_entry_point:
    case DW_TAG_namespace:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
        walk_children(walk, die, parent);
        break;
    default:
        break;
    }
}

static void walk_children(struct walk *walk, Dwarf_Die *die, uint32_t parent)
{
    Dwarf_Die child;
    if (walk->depth == DEPTH_MOST || dwarf_child(die, &child) != 0)
        return;
    walk->depth++;
    do
        walk_entry(walk, &child, parent);
    while (dwarf_siblingof(&child, &child) == 0);
    walk->depth--;
}

/* NOLINTEND(misc-no-recursion) */

/* ---- lines ---- */

/* The row with the greatest address above the offset before, and up to this one. */
struct row {
    Dwarf_Line *line; /* NULL: none */
    Dwarf_Addr address;
    Dwarf_Die unit;
};

/* Of rows of one address, the last one in a table counts; of tables, the first. */
static void use_row(const struct answers *answers, struct row *rows, Dwarf_Line *line, Dwarf_Die *unit)
{
    Dwarf_Addr address;
    bool is_end = true;
    uint32_t at;
    if (dwarf_lineendsequence(line, &is_end) != 0 || is_end || dwarf_lineaddr(line, &address) != 0)
        return;
    answers_within(answers, address, address, &at);
    if (at == answers->count)
        return;
    struct row *row = &rows[at];
    bool is_same_unit = row->line && row->unit.addr == unit->addr;
    if (row->line == NULL || address > row->address || (address == row->address && is_same_unit))
        *row = (struct row){line, address, *unit};
}

static void add_line(struct answers *answers, struct found *found, struct row *row)
{
    char buffer[PATH_MAX];
    const char *file = join(&row->unit, dwarf_linesrc(row->line, NULL, NULL), buffer);
    int number = 0;
    if (file == NULL)
        return;
    bool has_line = dwarf_lineno(row->line, &number) == 0 && number > 0;
    found->scope = answers_scope(answers, (struct scope){.parent = found->scope,
                                                         .name = SYMBOLS_NONE,
                                                         .file = answers_string(answers, file),
                                                         .line = has_line ? (uint32_t)number : 0,
                                                         .function = SYMBOLS_NONE,
                                                         .kind = SYMBOLS_LINE});
}

/* Offsets that have a scope also get a line. */
static void add_lines(struct answers *answers, struct row *rows)
{
    struct row *best = NULL;
    for (uint32_t i = 0; i < answers->count; i++) {
        if (rows[i].line && (best == NULL || rows[i].address > best->address))
            best = &rows[i];
        if (best && answers->found[i].scope != SYMBOLS_NONE)
            add_line(answers, &answers->found[i], best);
    }
}

/* ---- all units ---- */

/* A file that dwz moved entries of several binaries to. */
static bool has_shared_file(Dwarf *dwarf)
{
    const char *name;
    const void *id;
    return dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id) > 0;
}

/* Whether a unit has code at an offset; one that does not say where its code is may have. */
static bool has_offsets(const struct answers *answers, Dwarf_Die *unit)
{
    Dwarf_Addr base, start, end;
    uint32_t first;
    ptrdiff_t at = 0;
    unsigned count = 0;
    while ((at = dwarf_ranges(unit, at, &base, &start, &end)) > 0) {
        count++;
        if (answers_within(answers, start, end, &first) > 0)
            return true;
    }
    return count == 0 || at < 0;
}

unsigned read_debug(struct answers *answers, Dwarf *dwarf)
{
    struct walk walk = {.answers = answers};
    struct row *rows = must_grow(NULL, answers->count, sizeof *rows);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;
    unsigned has = SYMBOLS_HAS_DEBUG | (has_shared_file(dwarf) ? SYMBOLS_HAS_OTHERS : 0u);
    memset(rows, 0, answers->count * sizeof *rows);
    while (dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, NULL) == 0) {
        Dwarf_Lines *lines;
        size_t count;
        has |= type == DW_UT_skeleton ? SYMBOLS_HAS_OTHERS : 0u;
        if ((type != DW_UT_compile && type != DW_UT_partial) || !has_offsets(answers, &die))
            continue;
        walk.unit = die;
        walk_children(&walk, &die, SYMBOLS_NONE);
        errno = 0;
        if (dwarf_getsrclines(&die, &lines, &count) != 0) {
            must_have_memory();
            continue;
        }
        for (size_t i = 0; i < count; i++)
            use_row(answers, rows, dwarf_onesrcline(lines, i), &die);
    }
    add_lines(answers, rows);
    free(rows);
    free(walk.origins);
    return has;
}
