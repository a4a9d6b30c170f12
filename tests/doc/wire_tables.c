/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints what doc/formats/hpctoolkit-4.0.md must say, or with the argument "drafts"
 * hpctoolkit-drafts.md, or with "hpcrun" hpcrun.md: one line per fact, fields separated by tabs.
 *
 *   table NAME ALIGNMENT SIZE        field NAME OFFSET TYPE FIELD
 *   file NAME FORMAT FOOTER SECTIONS HEADER-SIZE
 *   section FILE OFFSET NAME SIZE-OF-FIRST-STRUCTURE ALIGNMENT
 *   enum NAME VALUE MEANING          flag STRUCTURE.FIELD BIT NAME
 */
#include "format/hpcrun/read/wire.h"
#include "format/hpctoolkit_drafts/wire.h"
#include <lode/context.h>
#include <lode/metric.h>
#include <stdio.h>
#include <string.h>

/* Alignment is in a table's first row, its size in the last. Returns the number of rows. */
static size_t print_table(const struct wire_field *rows)
{
    size_t count = 1;
    while (rows[count].type)
        count++;
    printf("table\t%s\t%u\t%u\n", rows->table, rows->alignment, rows[count].offset);
    /* Strings of bytes are not fields of the wire layer. */
    if (strcmp(rows->table, "FileHeader") == 0) {
        printf("field\tFileHeader\t0\tu8[%d]\tmagic\n", HPCT_MAGIC_SIZE);
        printf("field\tFileHeader\t%d\tu8[%d]\tformat\n", HPCT_MAGIC_SIZE, HPCT_FORMAT_SIZE);
    }
    for (size_t i = 1; i < count; i++)
        printf("field\t%s\t%u\t%s\t%s\n", rows[i].table, rows[i].offset, rows[i].type, rows[i].name);
    return count + 1;
}

static void print_file(const struct hpct_file_spec *spec)
{
    printf("file\t%s\t%s\t%s\t%u\t%u\n", spec->name, spec->format, spec->footer, spec->section_count,
           (unsigned)WIRE_FileHeader_SIZE + spec->section_count * (unsigned)WIRE_Section_SIZE);
    for (unsigned i = 0; i < spec->section_count; i++)
        printf("section\t%s\t%u\t%s\t%u\t%u\n", spec->name,
               (unsigned)WIRE_FileHeader_SIZE + i * (unsigned)WIRE_Section_SIZE, spec->sections[i].name,
               spec->sections[i].header_size, spec->sections[i].alignment);
}

/* Values of one byte; larger ones are Lode's own. */
static void print_enum(const char *name, const char *(*name_of)(int value))
{
    for (int value = 0; value < 256; value++)
        if (name_of(value))
            printf("enum\t%s\t%d\t%s\n", name, value, name_of(value));
}

static void print_flag(const char *field, unsigned mask, const char *name)
{
    unsigned bit = 0;
    while (mask >> (bit + 1))
        bit++;
    printf("flag\t%s\t%u\t%s\n", field, bit, name);
}

static int print_tables(const struct wire_field *fields, size_t count)
{
    for (size_t i = 0; i < count;)
        i += print_table(&fields[i]);
    return 0;
}

int main(int count, char **arguments)
{
    if (count == 2 && strcmp(arguments[1], "drafts") == 0)
        return print_tables(lode_drafts_fields, lode_drafts_field_count);
    if (count == 2 && strcmp(arguments[1], "hpcrun") == 0)
        return print_tables(lode_hpcrun_fields, lode_hpcrun_field_count);
    print_tables(lode_wire_fields, lode_wire_field_count);
    for (unsigned id = 0; id < HPCT_FILES; id++)
        print_file(&lode_hpct_specs[id]);
    print_enum("combine", lode_combine_name);
    print_enum("type", lode_scope_type_name);
    print_enum("entryPoint", lode_entry_name);
    print_enum("relation", lode_relation_name);
    print_enum("lexicalType", lode_lexical_name);
    print_flag("File.flags", HPCT_FILE_COPIED, "copied");
    print_flag("Context.flags", HPCT_CONTEXT_FUNCTION, "hasFunction");
    print_flag("Context.flags", HPCT_CONTEXT_SOURCE, "hasSrcLoc");
    print_flag("Context.flags", HPCT_CONTEXT_POINT, "hasPoint");
    print_flag("Profile.flags", HPCT_PROFILE_SUMMARY, "isSummary");
    print_flag("Id.flags", HPCT_ID_PHYSICAL, "isPhysical");
    return 0;
}
