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
    DEPTH_MOST = 512,    /* of nested entries */
    RECENT = 1024,       /* lines that were made last */
    LINES_MOST = 1 << 14 /* lines read before memory is freed, and an eighth of all so far */
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
    ptrdiff_t at = 0;
    bool has_name = false;
    while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
        uint32_t first, count = answers_within(answers, start, end, &first);
        has_name = has_name || (count > 0 && name_of(die));
        if (count > 0 && !has_name)
            break;
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
    uint32_t before; /* bytes from its address to the offset */
    uint32_t file, line;
    uint32_t unit; /* 0: there is no row */
};

/* Line tables of one unit after the other; nothing of a unit is needed after it. */
struct table {
    struct answers *answers;
    struct row *rows;
    Dwarf_Die unit;
    uint32_t number; /* of the unit, from 1 on */
    uint32_t *files; /* of the unit: strings plus 1; 0: not looked at yet */
    size_t file_count;
    uint64_t line_count; /* of all units */
};

static uint32_t file_of_line(struct table *table, Dwarf_Line *line)
{
    char buffer[PATH_MAX];
    Dwarf_Files *files;
    size_t number = 0;
    bool is_known = dwarf_line_file(line, &files, &number) == 0 && number < table->file_count;
    if (is_known && table->files[number])
        return table->files[number] - 1;
    const char *path = join(&table->unit, dwarf_linesrc(line, NULL, NULL), buffer);
    uint32_t file = answers_string(table->answers, path);
    if (is_known)
        table->files[number] = file + 1;
    return file;
}

/* Of rows of one address, the last one in a table counts; of tables, the first. */
static void use_row(struct table *table, Dwarf_Line *line)
{
    Dwarf_Addr address;
    bool is_end = true;
    uint32_t at;
    int number = 0;
    if (dwarf_lineendsequence(line, &is_end) != 0 || is_end || dwarf_lineaddr(line, &address) != 0)
        return;
    answers_within(table->answers, address, address, &at);
    if (at == table->answers->count)
        return;
    struct row *row = &table->rows[at];
    uint64_t before = table->answers->offsets[at] - address;
    bool is_other = row->unit != 0 && row->unit != table->number;
    bool is_best = row->unit == 0 || before < row->before || (before == row->before && !is_other);
    if (!is_best || before > UINT32_MAX)
        return;
    bool has_line = dwarf_lineno(line, &number) == 0 && number > 0;
    *row = (struct row){.before = (uint32_t)before,
                        .file = file_of_line(table, line),
                        .line = has_line ? (uint32_t)number : 0,
                        .unit = table->number};
}

static void read_lines(struct table *table)
{
    Dwarf_Lines *lines;
    Dwarf_Files *files;
    size_t count;
    errno = 0;
    if (dwarf_getsrclines(&table->unit, &lines, &count) != 0) {
        must_have_memory();
        return;
    }
    table->number++;
    table->line_count += count;
    if (dwarf_getsrcfiles(&table->unit, &files, &table->file_count) != 0)
        table->file_count = 0;
    table->files = must_grow(table->files, table->file_count, sizeof *table->files);
    memset(table->files, 0, table->file_count * sizeof *table->files);
    for (size_t i = 0; i < count; i++)
        use_row(table, dwarf_onesrcline(lines, i));
}

/* Offsets that have a scope also get a line. Those that follow each other often have the same. */
static void add_lines(struct answers *answers, const struct row *rows)
{
    struct recent {
        uint32_t scope, file, line, made;
    } recent[RECENT];
    const struct row *best = NULL;
    uint64_t address = 0;
    memset(recent, 0xff, sizeof recent);
    for (uint32_t i = 0; i < answers->count; i++) {
        struct found *found = &answers->found[i];
        if (rows[i].unit && (best == NULL || answers->offsets[i] - rows[i].before > address)) {
            best = &rows[i];
            address = answers->offsets[i] - best->before;
        }
        if (best == NULL || found->scope == SYMBOLS_NONE || best->file == SYMBOLS_NONE)
            continue;
        struct recent *known = &recent[(found->scope * 31 + best->line) % RECENT];
        if (known->scope != found->scope || known->file != best->file || known->line != best->line) {
            *known = (struct recent){found->scope, best->file, best->line, SYMBOLS_NONE};
            known->made = answers_scope(answers, (struct scope){.parent = found->scope,
                                                                .name = SYMBOLS_NONE,
                                                                .file = best->file,
                                                                .line = best->line,
                                                                .function = SYMBOLS_NONE,
                                                                .kind = SYMBOLS_LINE});
        }
        found->scope = known->made;
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

/*
 * Reads units from `first` on, until much memory is used: what libdw has read is freed by ending it
 * only. `first` is then where to go on; 0: all are read.
 */
static unsigned read_units(struct walk *walk, struct table *table, Dwarf *dwarf, Dwarf_Off *first)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;
    unsigned has = 0;
    uint64_t most = table->line_count + table->line_count / 8 + LINES_MOST;
    while (dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, NULL) == 0) {
        Dwarf_Off own = dwarf_dieoffset(&die);
        if (own < *first)
            continue;
        if (table->line_count > most) {
            *first = own;
            return has;
        }
        has |= type == DW_UT_skeleton ? SYMBOLS_HAS_OTHERS : 0u;
        if ((type != DW_UT_compile && type != DW_UT_partial) || !has_offsets(walk->answers, &die))
            continue;
        walk->unit = table->unit = die;
        walk_children(walk, &die, SYMBOLS_NONE);
        read_lines(table);
    }
    *first = 0;
    return has;
}

static unsigned read_all(struct walk *walk, struct table *table, Elf *elf)
{
    Dwarf_Off first = 0;
    unsigned has = 0;
    errno = 0;
    do {
        Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
        if (dwarf == NULL) {
            must_have_memory();
            break;
        }
        has |= SYMBOLS_HAS_DEBUG | (has_shared_file(dwarf) ? SYMBOLS_HAS_OTHERS : 0u);
        has |= read_units(walk, table, dwarf, &first);
        dwarf_end(dwarf);
    } while (first != 0);
    return has;
}

unsigned read_debug(struct answers *answers, Elf *elf)
{
    struct walk walk = {.answers = answers};
    struct table table = {.answers = answers};
    table.rows = must_grow(NULL, answers->count, sizeof *table.rows);
    memset(table.rows, 0, answers->count * sizeof *table.rows);
    unsigned has = read_all(&walk, &table, elf);
    elf_end(elf);
    free(table.files);
    free(walk.origins);
    if (has & SYMBOLS_HAS_DEBUG)
        add_lines(answers, table.rows);
    free(table.rows);
    return has;
}
