/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The meta.db of the draft of winter 2021/22 for the binary files of minidraft.h, made byte by byte
 * from its page: no program that wrote one is known.
 */
#ifndef LODE_TESTS_MINIMETA_H
#define LODE_TESTS_MINIMETA_H

#include "minidraft.h"

enum minimeta_section {
    MINIMETA_GENERAL,
    MINIMETA_METRICS,
    MINIMETA_TREE,
    MINIMETA_STRINGS,
    MINIMETA_BINARIES,
    MINIMETA_FILES,
    MINIMETA_FUNCTIONS,
    MINIMETA_SECTIONS
};

struct minimeta_options {
    bool own_id_table;  /* as the writer that was begun: 8 sections, a description */
    bool little_footer; /* as a little-endian machine writes it */
};

struct minimeta {
    unsigned char *bytes;
    size_t size;
    uint64_t sections[MINIMETA_SECTIONS];  /* offsets */
    uint64_t contexts[MINIDRAFT_CONTEXTS]; /* by id: offset of the node; 0: none */
};

void minimeta_make(struct minimeta *meta, const struct minimeta_options *options);
/* The offset of a section's size in the header; its offset follows 8 bytes later. */
uint64_t minimeta_section_entry(enum minimeta_section section);
void minimeta_free(struct minimeta *meta);

#endif
