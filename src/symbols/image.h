/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A binary as it is in memory: bytes by address, where functions begin and end, and what the slots
 * are that calls of other binaries go through. Functions are symbols and entries of .eh_frame.
 */
#ifndef SYMBOLS_IMAGE_H
#define SYMBOLS_IMAGE_H

#include "decode.h"
#include <gelf.h>

enum {
    RETURN_ROUNDS = 3,     /* of the search for functions that do not return */
    IMAGE_BUDGET = 1 << 30 /* bytes that are decoded, before the analysis gives up */
};

struct segment {
    uint64_t start, end;
    const uint8_t *bytes;
    uint8_t *known; /* by byte of code of x86-64: the instruction there; see code_next */
    bool is_code;
};

/* Instructions of a function, one after the other. */
struct code_reader {
    enum machine machine;
    const uint8_t *bytes; /* at `start` */
    uint8_t *known;       /* the same; NULL: none */
    uint64_t start, at, end;
    struct instruction found; /* `at` is from the start */
};

/* Where a function, or a part of one, begins and ends. Extents may overlap. */
struct extent {
    uint64_t start, end;
    const char *name;               /* NULL: no symbol begins here */
    uint8_t returns[RETURN_ROUNDS]; /* RETURNS_... */
    bool is_called;                 /* directly; see image_find_calls */
    uint32_t owner;                 /* number of its function, plus 1; 0: see graph_owner */
    uint32_t jumper;                /* the first extent that jumps here, plus 1; 0: none */
};

enum {
    RETURNS_UNKNOWN,
    RETURNS_YES,
    RETURNS_NO
};

struct slot {
    uint64_t address;
    uint64_t value;   /* of relative ones */
    const char *name; /* of others; NULL: none */
};

struct image {
    Elf *elf;
    enum machine machine;
    struct segment *segments; /* by start; they do not overlap */
    size_t segment_count;
    struct extent *extents; /* by start */
    size_t extent_count, extent_room;
    size_t *last_extent; /* that was found: most questions are about the same one */
    struct slot *slots;  /* by address */
    size_t slot_count, slot_room;
    uint64_t decoded; /* bytes, and instructions that were looked at again: of IMAGE_BUDGET */
    bool is_spent;
    bool has_gaps;  /* loops of a function were not found: too many entries */
    bool has_calls; /* is_called is known */
};

/* `debug`: a file with its debug information, or NULL. False: of a processor that is unknown. */
bool image_open(struct image *image, Elf *elf, Elf *debug);
void image_close(struct image *image);

/* Takes so much of the budget. False: nothing is left. */
bool image_spend(struct image *image, uint64_t amount);

/* The bytes from an address on, and how many; NULL: none. */
const uint8_t *image_bytes(const struct image *image, uint64_t address, size_t *size);
bool image_is_code(const struct image *image, uint64_t address);
/* Begins with the instructions of [start, end). False: not all of it is in the file. */
bool code_begin(struct code_reader *reader, const struct image *image, uint64_t start, uint64_t end);
/* Finds the next instruction; false: there is none. None is decoded twice. */
bool code_next(struct code_reader *reader);
/* The extent that begins last up to an address and has it; NULL: none. */
struct extent *image_extent(const struct image *image, uint64_t address);
/* The extent that begins at an address: of a function that is called there. */
struct extent *image_function(const struct image *image, uint64_t address);
/* The relocation of a slot; NULL: none. */
const struct slot *image_slot(const struct image *image, uint64_t address);
/* The name of what is called through a stub of the procedure linkage table; NULL: it is none. */
const char *image_stub(const struct image *image, uint64_t address);
/* Finds out which extents are called, and jumped to from others. Takes time once. */
void image_find_calls(struct image *image);
/* Whether no function of this name returns. */
bool is_endless_name(const char *name);

/* Extents of .eh_frame, through the table of .eh_frame_hdr. */
void image_read_frames(struct image *image, uint64_t header, uint64_t size);
void image_add_extent(struct image *image, uint64_t start, uint64_t size, const char *name);

#endif
