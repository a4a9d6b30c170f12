/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a profile. Records refer to others that may come later, so the bytes are walked several
 * times: to check and count fields, for strings and metadata, for mappings, functions and
 * locations, and for samples, each of which is added to the tree and forgotten.
 */
#ifndef LODE_FORMAT_PPROF_READ_H
#define LODE_FORMAT_PPROF_READ_H

#include "base/error.h"
#include "base/io/input.h"
#include "base/text/pattern.h"
#include "format/bounded.h"
#include "format/pprof/rules.h"
#include "format/pprof/wire.h"
#include "model/finding.h"
#include "model/import/import.h"

enum {
    PPROF_BYTES_MOST = 1 << 30,   /* unpacked */
    PPROF_STRINGS_MOST = 1 << 26, /* limits of records */
    PPROF_RECORDS_MOST = 1 << 24,
    PPROF_LINES_MOST = 1 << 26,  /* of all locations that samples name */
    PPROF_STEPS_FLOOR = 1 << 22, /* frames that are visited, and how many more for each byte */
    PPROF_STEPS_BYTE = 16,
    PPROF_STRINGS_FLOOR = 1 << 16, /* strings, and how many bytes each further one takes */
    PPROF_STRING_BYTES = 3,
    PPROF_FRAMES_FEW = 8,        /* of a location: visited again and again */
    PPROF_DEPTH_MOST = 1 << 18,  /* contexts of one sample */
    PPROF_BINARIES_MOST = 256,   /* that are read */
    PPROF_SOUGHT_MOST = 1 << 12, /* mappings whose binaries are looked for */
    PPROF_CHAIN = 4,             /* contexts that an address may become instead of one */
    PPROF_LABELS_MOST = 1 << 16, /* different labels that are counted */
    PPROF_FIELDS = 16            /* numbers of fields of a profile */
};

/* A string of the table, as a part of the bytes. */
struct pprof_string {
    uint32_t offset, size;
};

struct pprof_value_type {
    int64_t type, unit; /* string indices, checked */
};

struct pprof_mapping {
    uint64_t start, limit, offset;
    uint32_t name;    /* interned */
    bool has_file;    /* and that is its name */
    int64_t build_id; /* string index, checked */
    uint32_t code;    /* what is known of its binary; LODE_NO_NUMBER: nothing */
};

struct pprof_function {
    uint32_t name, file; /* interned; the file may be LODE_NO_NUMBER */
    uint32_t line;
    bool is_named;   /* name is set: only such functions are matched */
    bool is_dropped; /* by drop_frames and keep_frames */
};

struct pprof_line {
    uint32_t function, line;
};

struct pprof_location {
    uint64_t mapping_id, address;
    struct lode_range message;
    uint32_t first, count; /* frames, from the outermost one, once resolved */
    uint32_t scope;        /* in the code of its mapping; LODE_NO_NUMBER: unknown */
    bool is_resolved;
    bool is_dropped; /* all of it */
    bool is_ended;   /* frames that it calls are dropped */
};

/* A location of the path of a sample, and where it led. */
struct pprof_taken {
    uint32_t location, context, depth;
};

/* A label, for counting: string indices, a number. */
struct pprof_label {
    int64_t key, text, number, unit;
};

struct pprof_reader {
    struct lode_report *report;
    const char *file;
    struct lode_input source;
    struct lode_bounded bounds;
    struct lode_blob unpacked;
    struct lode_range bytes; /* of the profile */
    struct lode_import import;

    uint64_t counts[PPROF_FIELDS]; /* of fields of the profile */
    struct pprof_string *strings;
    uint32_t string_count;
    struct lode_map names; /* from a string index to the interned string */
    unsigned name_changes; /* that were reported */

    struct lode_array types; /* struct pprof_value_type */
    struct pprof_value_type period_type;
    int64_t drop_frames, keep_frames, time, duration, period, default_type, doc_url;
    struct lode_array comments; /* int64_t */

    struct lode_array mappings, functions, locations;
    struct lode_map mapping_of, function_of, location_of; /* from ids */
    struct lode_map label_of; /* from the name of a mapping to that of code without a function */
    struct lode_array frames; /* uint32_t: of locations */
    struct lode_array lines;  /* struct pprof_line: of one location, innermost first */

    struct lode_array codes; /* struct binary_reply *: what is known of binaries */
    struct lode_array chain; /* uint32_t: scopes of one location, outermost first */
    bool is_named;           /* functions have names from binaries */

    /* Of the sample that is being read. */
    struct lode_array stack; /* uint32_t: locations, innermost first */
    bool is_cut;             /* the stack is deeper, and its innermost locations are omitted */
    bool is_missing;         /* a location does not exist */
    uint64_t missing;        /* the id of the first such one */
    lode_wide *values;       /* by type */
    size_t value_count;      /* may be more than there are types */
    struct lode_array path;  /* struct pprof_taken: of the sample before */
    struct lode_map led_to;  /* from a context and a long location to the context it leads to */
    uint64_t steps;          /* frames so far */
    uint32_t profile;
    uint64_t samples, stackless, shortened;
    struct lode_interner labels;    /* struct pprof_label */
    struct lode_array label_counts; /* uint64_t: samples, by label */
    struct lode_map carried_names;  /* from a string index to the interned string */
    uint32_t label_set;             /* of the sample that is read; LODE_NO_NUMBER: no labels */
};

/* ---- container.c ---- */

/* Maps the file and unpacks it. LODE_END: there is nothing to read, and a finding. */
lode_status lode_pprof_unpack(struct pprof_reader *reader, const struct lode_folder *folder);

/* ---- tables.c ---- */

/* Reports a finding at a position of the profile's bytes. */
#define pprof_finding(reader, rule, at, ...)                                                                 \
    lode_report_add((reader)->report, rule, (reader)->file, (uint64_t)((at) - (reader)->bytes.data),         \
                    __VA_ARGS__)
/* Reports a wire error and ends. */
lode_status lode_pprof_bad_wire(struct pprof_reader *reader, const struct pprof_walk *walk,
                                enum pprof_step step);
/* The next field, reporting errors and unknown fields. LODE_NOT_FOUND: no more. */
lode_status lode_pprof_read_field(struct pprof_reader *reader, struct pprof_walk *walk,
                                  struct pprof_field *field);
/* Calls a function for one or for each of several packed numbers. */
typedef lode_status (*pprof_number_fn)(struct pprof_reader *reader, uint64_t number);
lode_status lode_pprof_each_number(struct pprof_reader *reader, const struct pprof_field *field,
                                   pprof_number_fn take);
/* Calls a function for each field of a number of the profile. */
typedef lode_status (*pprof_field_fn)(struct pprof_reader *reader, const struct pprof_field *field);
lode_status lode_pprof_each(struct pprof_reader *reader, const pprof_field_fn handlers[PPROF_FIELDS]);
/* Replaces an index that is not in the table by 0, after a finding. */
lode_status lode_pprof_check_string(struct pprof_reader *reader, int64_t *index, const uint8_t *at);
/* The interned string of a checked index. */
lode_status lode_pprof_name(struct pprof_reader *reader, int64_t index, uint32_t *number);
/* Strings, metadata, mappings, functions and locations. */
lode_status lode_pprof_read_tables(struct pprof_reader *reader);

/* ---- frames.c ---- */

/* Checks the lines of all locations. */
lode_status lode_pprof_check_lines(struct pprof_reader *reader);
/* Finds which functions are dropped. */
lode_status lode_pprof_match_frames(struct pprof_reader *reader);
/* Adds a frame to those of the location that is resolved. LODE_NO_NUMBER: out of memory. */
lode_status lode_pprof_push_frame(struct pprof_reader *reader, uint32_t frame);
/* Makes the frames of a location. */
lode_status lode_pprof_resolve(struct pprof_reader *reader, struct pprof_location *location);

/* ---- binaries.c ---- */

/* Finds the scopes of addresses in binaries that have the build ids of their mappings. */
lode_status lode_pprof_ask_binaries(struct pprof_reader *reader, const struct lode_folder *folder);
void lode_pprof_free_binaries(struct pprof_reader *reader);

/* ---- scopes.c ---- */

/* Where the loops of a location are taken from, level by level of its inlined calls. */
struct pprof_levels {
    const struct binary_reply *code;
    size_t at;    /* in reader->chain */
    bool is_flat; /* all loops are of one level */
    bool is_over; /* those of further levels are not known */
};

/* Fills reader->chain: empty if nothing is known of the location. */
lode_status lode_pprof_find_chain(struct pprof_reader *reader, const struct pprof_mapping *mapping,
                                  const struct pprof_location *location);
/* Makes frames of the chain. */
lode_status lode_pprof_push_chain(struct pprof_reader *reader, const struct pprof_mapping *mapping);
/* Loops for a location that has lines: of the same number of levels, or of one. */
struct pprof_levels lode_pprof_levels(const struct pprof_reader *reader, const struct pprof_mapping *mapping,
                                      size_t lines);
/* Makes frames of the loops of the next level. */
lode_status lode_pprof_push_loops(struct pprof_reader *reader, const struct pprof_mapping *mapping,
                                  struct pprof_levels *levels);

/* ---- samples.c ---- */

lode_status lode_pprof_read_samples(struct pprof_reader *reader);

/* ---- carry.c ---- */

/* Keeps what an export to pprof writes back: before samples are read, then for each of them. */
lode_status lode_pprof_carry_metadata(struct pprof_reader *reader);
lode_status lode_pprof_carry_label(struct pprof_reader *reader, const struct pprof_label *label);
lode_status lode_pprof_carry_sample(struct pprof_reader *reader, uint32_t context);

/* ---- metadata.c ---- */

/* Metrics, and the one that is meant if none is named. */
lode_status lode_pprof_add_metrics(struct pprof_reader *reader);
/* Title and description. */
lode_status lode_pprof_describe(struct pprof_reader *reader);

#endif
