/* SPDX-License-Identifier: BSD-3-Clause */
/* experiment.xml: kinds of ids, load modules, files, procedures, time bounds. */
#include "base/error.h"
#include "format/hpctoolkit_drafts/xml/xml.h"
#include <inttypes.h>
#include <string.h>

enum {
    MAX_KIND = 255 /* of ids, as in 4.0 */
};

lode_status lode_xml_identifier(struct xml_reader *reader, const struct xml_element *element)
{
    const char *name = lode_xml_attribute(element, "n");
    int64_t kind;
    LODE_TRY(lode_xml_integer(reader, element, "i", 0, MAX_KIND, -1, &kind));
    if (kind < 0 || name == NULL)
        return lode_xml_finding(reader, DRAFTS_RULE_XML_NUMBER, element,
                                "a kind of ids lacks its number or name");
    void *slot;
    while (reader->kinds.count <= (size_t)kind)
        LODE_TRY(lode_xml_push(reader, &reader->kinds, &slot));
    const char **known = LODE_ARRAY_AT(&reader->kinds, const char *, kind);
    if (*known)
        return lode_xml_finding(reader, DRAFTS_RULE_XML_DUPLICATE, element,
                                "two kinds of ids have this number");
    *known = lode_xml_copy(reader, name, strlen(name));
    return *known ? LODE_OK : lode_fail_memory(reader->report->error);
}

/* Adds an item to a table; NULL after a finding. */
static lode_status add_entry(struct xml_reader *reader, const struct xml_element *element,
                             struct xml_table *table, struct xml_entry **out)
{
    const char *name = lode_xml_attribute(element, "n");
    int64_t id;
    bool added;
    *out = NULL;
    LODE_TRY(lode_xml_integer(reader, element, "i", 0, UINT32_MAX, -1, &id));
    if (id < 0 || name == NULL)
        return lode_xml_finding(reader, DRAFTS_RULE_XML_NUMBER, element, "an entry lacks its id or its name");
    if (lode_map_add(&table->by_id, (uint64_t)id, (uint32_t)table->entries.count, &added) == NULL)
        return lode_fail_memory(reader->report->error);
    if (!added)
        return lode_report_add(reader->report, DRAFTS_RULE_XML_DUPLICATE, reader->db->meta->file,
                               element->offset, "the id %" PRId64 " of %s is in use", id, table->what);
    void *entry;
    LODE_TRY(lode_xml_push(reader, &table->entries, &entry));
    *out = entry;
    **out = (struct xml_entry){.index = LODE_NO_INDEX, .name = lode_xml_copy(reader, name, strlen(name))};
    return (*out)->name ? LODE_OK : lode_fail_memory(reader->report->error);
}

/* Writers use placeholder names for unknown objects. */
static bool is_placeholder(const char *name)
{
    static const char *const names[] = {"unknown module", "<unknown module>", "<no module>",
                                        "<unknown file>"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return strncmp(name, "<unknown file> [", 16) == 0;
}

lode_status lode_xml_module(struct xml_reader *reader, const struct xml_element *element)
{
    struct xml_entry *entry;
    LODE_TRY(add_entry(reader, element, &reader->modules, &entry));
    if (entry && !is_placeholder(entry->name))
        entry->index = reader->db->base.module_count++;
    return LODE_OK;
}

lode_status lode_xml_file(struct xml_reader *reader, const struct xml_element *element)
{
    struct xml_entry *entry;
    LODE_TRY(add_entry(reader, element, &reader->files, &entry));
    if (entry && !is_placeholder(entry->name))
        entry->index = reader->db->base.file_count++;
    return LODE_OK;
}

lode_status lode_xml_procedure(struct xml_reader *reader, const struct xml_element *element)
{
    struct xml_entry *entry;
    LODE_TRY(add_entry(reader, element, &reader->procedures, &entry));
    if (entry == NULL)
        return LODE_OK;
    entry->index = (uint32_t)reader->procedures.entries.count - 1;
    return lode_xml_unsigned(reader, element, "v", &entry->address);
}

lode_status lode_xml_trace(struct xml_reader *reader, const struct xml_element *element)
{
    LODE_TRY(lode_xml_unsigned(reader, element, "db-min-time", &reader->db->base.trace_min));
    return lode_xml_unsigned(reader, element, "db-max-time", &reader->db->base.trace_max);
}

lode_status lode_xml_refer(struct xml_reader *reader, const struct xml_element *element, const char *name,
                           const struct xml_table *table, const struct xml_entry **out)
{
    int64_t id;
    *out = NULL;
    LODE_TRY(lode_xml_integer(reader, element, name, 0, UINT32_MAX, -1, &id));
    if (id < 0)
        return LODE_OK;
    const uint32_t *position = lode_map_get(&table->by_id, (uint64_t)id);
    if (position == NULL)
        return lode_report_add(reader->report, DRAFTS_RULE_XML_REFERENCE, reader->db->meta->file,
                               element->offset, "'%s' is %" PRId64 ", which is the id of no %s", name, id,
                               table->what + 2);
    *out = LODE_ARRAY_AT(&table->entries, const struct xml_entry, *position);
    return LODE_OK;
}

/* ---- conversion to the model ---- */

static void place_modules(struct xml_reader *reader)
{
    for (size_t i = 0; i < reader->modules.entries.count; i++) {
        const struct xml_entry *entry = LODE_ARRAY_AT(&reader->modules.entries, struct xml_entry, i);
        if (entry->index != LODE_NO_INDEX)
            reader->db->base.modules[entry->index] =
                (struct lode_module){.index = entry->index, .path = entry->name};
    }
}

/* Paths of copied files begin with ./src/ there, and with src/ in 4.0. */
static void place_files(struct xml_reader *reader)
{
    for (size_t i = 0; i < reader->files.entries.count; i++) {
        const struct xml_entry *entry = LODE_ARRAY_AT(&reader->files.entries, struct xml_entry, i);
        bool copied = strncmp(entry->name, "./src/", 6) == 0;
        if (entry->index != LODE_NO_INDEX)
            reader->db->base.files[entry->index] = (struct lode_file){
                .index = entry->index, .copied = copied, .path = entry->name + (copied ? 2 : 0)};
    }
}

lode_status lode_xml_finish_tables(struct xml_reader *reader)
{
    struct lode_database *db = &reader->db->base;
    db->modules = lode_arena_alloc(&db->arena, db->module_count, sizeof *db->modules);
    db->files = lode_arena_alloc(&db->arena, db->file_count, sizeof *db->files);
    db->id_kinds = lode_arena_alloc(&db->arena, reader->kinds.count, sizeof *db->id_kinds);
    LODE_TRY_ALLOC(db->modules && db->files && db->id_kinds, reader->report->error);
    place_modules(reader);
    place_files(reader);
    for (size_t i = 0; i < reader->kinds.count; i++) {
        const char *name = *LODE_ARRAY_AT(&reader->kinds, const char *, i);
        db->id_kinds[i] = name ? name : "";
    }
    db->id_kind_count = (uint32_t)reader->kinds.count;
    return LODE_OK;
}
