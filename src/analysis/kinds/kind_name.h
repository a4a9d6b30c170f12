/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of functions as rules for kinds compare them. */
#ifndef LODE_ANALYSIS_KIND_NAME_H
#define LODE_ANALYSIS_KIND_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Part of a string. */
struct lode_text {
    const char *bytes;
    size_t length;
};

/* Longer names are compared by their beginning: files can have huge ones. */
#define LODE_NAME_COMPARED 1024

/* "malloc@plt", and "vfs_read_[k]" of the kernel, have a module of their own, whatever is given. */
struct lode_symbol {
    struct lode_text name; /* without what profilers, linkers and compilers add */
    bool is_stub, is_kernel;
};

struct lode_symbol lode_symbol_of(const char *name);
/* The name of a C library function without what compilers and libraries put before it. */
struct lode_text lode_plain_name(struct lode_text name);
/*
 * The same without "_chk", "_nocancel" and "64" behind, and without "isoc99_" or what the kernel
 * puts before names of system calls.
 */
struct lode_text lode_name_stem(struct lode_text plain);
/*
 * "MPI_Barrier" for "mpi_barrier_" and "pmpi_barrier_f08_", as Fortran calls it. Empty if the name
 * is none of MPI. At most `capacity` bytes.
 */
struct lode_text lode_mpi_name(struct lode_text name, char *buffer, size_t capacity);
/*
 * The scope and name of a function of C++ or Rust, mangled or not: "std::thread::join". Without
 * results, parameters, template arguments, ABI tags and inline namespaces of libraries. Empty if
 * no rule can know it. At most `capacity` bytes.
 */
struct lode_text lode_scoped_name(struct lode_text name, char *buffer, size_t capacity);

#endif
