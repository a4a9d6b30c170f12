/* SPDX-License-Identifier: BSD-3-Clause */
/* The stores of `lode example`. Each format of recordings brings its own (format/format.h). */
#ifndef LODE_TRANSFORM_EXAMPLE_H
#define LODE_TRANSFORM_EXAMPLE_H

#include <lode/status.h>

/* A source file of the solver, copied into its database. The last has no name. */
struct lode_example_source_file {
    const char *name, *text;
};
extern const struct lode_example_source_file lode_example_source_files[];

/*
 * Writes the database of an MPI and OpenMP solver in which one rank has twice the work. `sources`
 * is a directory that holds its source files.
 */
lode_status lode_example_solver(const char *path, const char *sources, unsigned threads, lode_error *error);

#endif
