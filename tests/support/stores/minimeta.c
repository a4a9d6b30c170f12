/* SPDX-License-Identifier: BSD-3-Clause */
#include "minimeta.h"

#include "base/memory/blob.h"
#include <stdlib.h>
#include <string.h>

enum {
    HEADER = 0x88,
    SECTIONS = 0x18,
    NODE = 22
};

static void put(struct lode_blob *blob, uint64_t number, unsigned size)
{
    size_t at = lode_blob_reserve(blob, size, 1);
    if (at == LODE_BLOB_FULL)
        abort();
    for (unsigned i = 0; i < size; i++)
        blob->bytes[at + i] = (unsigned char)(number >> 8 * (size - 1 - i));
}

static void put_text(struct lode_blob *blob, const char *text)
{
    if (lode_blob_text(blob, text) == LODE_BLOB_FULL)
        abort();
}

static void put_at(struct lode_blob *blob, uint64_t at, uint64_t number, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        blob->bytes[at + i] = (unsigned char)(number >> 8 * (size - 1 - i));
}

uint64_t minimeta_section_entry(enum minimeta_section section)
{
    return SECTIONS + 16 * (uint64_t)section;
}

static void begin_section(struct minimeta *meta, struct lode_blob *blob, enum minimeta_section section)
{
    meta->sections[section] = blob->size;
}

/* Fills in the entry of the section that ends here; `shift` undocumented ones precede it. */
static void end_section(struct minimeta *meta, struct lode_blob *blob, enum minimeta_section section,
                        unsigned shift)
{
    uint64_t entry = minimeta_section_entry(section) + (section ? 16 * (uint64_t)shift : 0);
    put_at(blob, entry, blob->size - meta->sections[section], 8);
    put_at(blob, entry + 8, meta->sections[section], 8);
}

static void put_id_names(struct lode_blob *blob)
{
    static const char *const kinds[] = {"SUMMARY", "NODE", "RANK", "THREAD"};
    put(blob, 4, 2);
    for (size_t i = 0; i < 4; i++)
        put_text(blob, kinds[i]);
}

static void put_general(struct minimeta *meta, struct lode_blob *blob, bool own_id_table)
{
    begin_section(meta, blob, MINIMETA_GENERAL);
    put_text(blob, "mini <draft>");
    if (own_id_table)
        put_text(blob, "about it");
    else
        put_id_names(blob);
    end_section(meta, blob, MINIMETA_GENERAL, 0);
    if (!own_id_table)
        return;
    uint64_t start = blob->size;
    put_id_names(blob);
    put_at(blob, SECTIONS + 16, blob->size - start, 8);
    put_at(blob, SECTIONS + 24, start, 8);
}

static void put_scope(struct lode_blob *blob, unsigned id, const char *name)
{
    put(blob, id, 2);
    put(blob, 1, 2);
    put_text(blob, name);
    put(blob, id, 2);
    put(blob, 0, 1);
    put_text(blob, "$$");
}

static void put_metrics(struct minimeta *meta, struct lode_blob *blob, unsigned shift)
{
    begin_section(meta, blob, MINIMETA_METRICS);
    put(blob, 1, 4);
    put(blob, 2, 2);
    put_text(blob, "a:b (sec)");
    put_scope(blob, MINIDRAFT_EXCLUSIVE, "function");
    put_scope(blob, MINIDRAFT_INCLUSIVE, "execution");
    end_section(meta, blob, MINIMETA_METRICS, shift);
}

/* Binary, file, and the functions main, work, small, <program root>, <no activity>. */
static void put_names(struct minimeta *meta, struct lode_blob *blob, unsigned shift)
{
    static const char *const texts[] = {"/bin/app", "src/app.c",      "main",         "work",
                                        "small",    "<program root>", "<no activity>"};
    static const struct {
        uint64_t offset;
        uint32_t line;
    } functions[] = {{0x118b, 10}, {0x1129, 1}, {0, 30}};
    uint64_t at[7];
    begin_section(meta, blob, MINIMETA_STRINGS);
    for (size_t i = 0; i < 7; i++) {
        at[i] = blob->size;
        put_text(blob, texts[i]);
    }
    end_section(meta, blob, MINIMETA_STRINGS, shift);
    for (unsigned i = 0; i < 2; i++) {
        enum minimeta_section section = i ? MINIMETA_FILES : MINIMETA_BINARIES;
        begin_section(meta, blob, section);
        put(blob, 1, 4);
        put(blob, 12, 2);
        put(blob, i, 4); /* the file is copied */
        put(blob, at[i], 8);
        end_section(meta, blob, section, shift);
    }
    begin_section(meta, blob, MINIMETA_FUNCTIONS);
    put(blob, 5, 4);
    put(blob, 40, 2);
    for (size_t i = 0; i < 5; i++) {
        put(blob, 0, 4);
        put(blob, at[2 + i], 8);
        put(blob, i < 3 ? meta->sections[MINIMETA_BINARIES] + 6 : 0, 8);
        put(blob, i < 3 ? functions[i].offset : UINT64_MAX, 8);
        put(blob, i < 3 ? meta->sections[MINIMETA_FILES] + 6 : 0, 8);
        put(blob, i < 3 ? functions[i].line : 0, 4);
    }
    end_section(meta, blob, MINIMETA_FUNCTIONS, shift);
}

/* ---- contexts ---- */

/* Parents first, siblings contiguous. `call`: 1 for a call, 2 if inlined. */
static const struct {
    unsigned id, parent, call;
    int function; /* -1: none */
    unsigned type, line;
} nodes[] = {
    {2, 0, 1, 3, 0, 0}, {1, 0, 1, 4, 0, 0},  {3, 2, 1, 0, 0, 0}, {4, 3, 0, -1, 2, 11}, {5, 3, 0, -1, 2, 12},
    {6, 5, 1, 1, 0, 0}, {7, 6, 0, -1, 1, 3}, {9, 6, 2, 2, 0, 0}, {8, 7, 0, -1, 2, 4},
};
enum {
    NODES = sizeof nodes / sizeof *nodes
};

static void put_node(struct minimeta *meta, struct lode_blob *blob, size_t index)
{
    bool function = nodes[index].function >= 0, line = nodes[index].line > 0;
    meta->contexts[nodes[index].id] = blob->size;
    put(blob, nodes[index].id, 4);
    put(blob, 0, 8);
    put(blob, 0, 8);
    put(blob, nodes[index].call ? 2 : 0, 1);
    put(blob, 3u + (function ? 8 : 0) + (line ? 12 : 0), 1);
    if (nodes[index].call) {
        put(blob, nodes[index].call - 1, 1);
        put(blob, 0, 1);
    }
    put(blob, nodes[index].type, 1);
    put(blob, (function ? 1u : 0) | (line ? 2u : 0), 2);
    if (function)
        put(blob, meta->sections[MINIMETA_FUNCTIONS] + 6 + 40 * (uint64_t)nodes[index].function, 8);
    if (line) {
        put(blob, meta->sections[MINIMETA_FILES] + 6, 8);
        put(blob, nodes[index].line, 4);
    }
}

/* Where a parent's first child begins, and all of them end. */
static void link_children(const struct minimeta *meta, struct lode_blob *blob, const uint64_t *ends)
{
    for (size_t i = 0; i < NODES; i++) {
        uint64_t start = meta->contexts[nodes[i].id];
        uint64_t parent = nodes[i].parent ? meta->contexts[nodes[i].parent] : 0;
        if (i > 0 && nodes[i].parent == nodes[i - 1].parent)
            continue;
        size_t last = i;
        while (last + 1 < NODES && nodes[last + 1].parent == nodes[i].parent)
            last++;
        if (parent == 0) {
            put_at(blob, meta->sections[MINIMETA_TREE], ends[last] - start, 8);
            continue;
        }
        put_at(blob, parent + 4, start, 8);
        put_at(blob, parent + 12, ends[last] - start, 8);
    }
}

static void put_tree(struct minimeta *meta, struct lode_blob *blob, unsigned shift)
{
    uint64_t ends[NODES];
    begin_section(meta, blob, MINIMETA_TREE);
    put(blob, 0, 8);
    for (size_t i = 0; i < NODES; i++) {
        put_node(meta, blob, i);
        ends[i] = blob->size;
    }
    link_children(meta, blob, ends);
    end_section(meta, blob, MINIMETA_TREE, shift);
}

void minimeta_make(struct minimeta *meta, const struct minimeta_options *options)
{
    struct lode_blob blob = {0};
    unsigned shift = options->own_id_table;
    memset(meta, 0, sizeof *meta);
    if (lode_blob_reserve(&blob, HEADER + 16 * (size_t)shift, 1) == LODE_BLOB_FULL)
        abort();
    memcpy(blob.bytes, "HPCTOOLKIT_expmt", 16);
    put_at(&blob, 16, 4, 1);
    put_at(&blob, 18, MINIMETA_SECTIONS + shift, 2);
    put_general(meta, &blob, options->own_id_table);
    put_metrics(meta, &blob, shift);
    put_names(meta, &blob, shift);
    put_tree(meta, &blob, shift);
    for (size_t i = 0; i < 8; i++)
        put(&blob, (unsigned char)"PROFDBmn"[options->little_footer ? 7 - i : i], 1);
    meta->bytes = blob.bytes;
    meta->size = blob.size;
}

void minimeta_free(struct minimeta *meta)
{
    free(meta->bytes);
}
