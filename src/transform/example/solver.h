/* SPDX-License-Identifier: BSD-3-Clause */
/* What the example solver consists of: tables for solver.c alone. */
#ifndef LODE_TRANSFORM_EXAMPLE_SOLVER_H
#define LODE_TRANSFORM_EXAMPLE_SOLVER_H

#include <lode/context.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the program ---- */

enum module {
    HEAT,
    LIBMPI,
    LIBPAL,
    LIBC,
    MODULES,
    NOWHERE = MODULES
};
static const char *const modules[MODULES] = {
    [HEAT] = "/opt/heat/heat",
    [LIBMPI] = "/opt/openmpi/lib/libmpi.so.40.30.4",
    [LIBPAL] = "/opt/openmpi/lib/libopen-pal.so.40.30.3",
    [LIBC] = "/usr/lib/x86_64-linux-gnu/libc.so.6",
};

/* Those that are copied into the database have a text in lode_example_source_files. */
enum file {
    MAIN_C,
    MATRIX_C,
    CG_C,
    HALO_C,
    CHECKPOINT_C,
    HEAT_H,
    IO_C,
    INIT_C,
    ALLREDUCE_C,
    WAITALL_C,
    COLL_C,
    PROGRESS_C,
    IOFWRITE_C,
    WRITE_C,
    IOFREAD_C,
    FILES,
    NO_FILE = FILES
};
static const char *const files[FILES] = {
    [MAIN_C] = "/opt/heat/main.c",
    [MATRIX_C] = "/opt/heat/matrix.c",
    [CG_C] = "/opt/heat/cg.c",
    [HALO_C] = "/opt/heat/halo.c",
    [CHECKPOINT_C] = "/opt/heat/checkpoint.c",
    [HEAT_H] = "/opt/heat/heat.h",
    [IO_C] = "/opt/heat/io.c",
    [INIT_C] = "/build/openmpi-4.1.4/ompi/mpi/c/init.c",
    [ALLREDUCE_C] = "/build/openmpi-4.1.4/ompi/mpi/c/allreduce.c",
    [WAITALL_C] = "/build/openmpi-4.1.4/ompi/mpi/c/waitall.c",
    [COLL_C] = "/build/openmpi-4.1.4/ompi/mca/coll/base/coll_base_allreduce.c",
    [PROGRESS_C] = "/build/openmpi-4.1.4/opal/runtime/opal_progress.c",
    [IOFWRITE_C] = "/build/glibc-2.36/libio/iofwrite.c",
    [WRITE_C] = "/build/glibc-2.36/sysdeps/unix/sysv/linux/write.c",
    [IOFREAD_C] = "/build/glibc-2.36/libio/iofread.c",
};

/* A location: a line by its text or, in files that are not copied, by its number. */
struct location {
    enum file file;
    const char *text;
    uint32_t line;
};

enum function {
    F_MAIN,
    F_INIT,
    F_READ_MATRIX,
    F_READ_ROW,
    F_FREAD,
    F_RHS,
    F_RHS_OMP,
    F_SOURCE,
    F_CG,
    F_SPMV,
    F_SPMV_OMP,
    F_HALO,
    F_PACK,
    F_WAITALL,
    F_DOT,
    F_DOT_OMP,
    F_ALLREDUCE,
    F_RECURSIVE,
    F_PROGRESS,
    F_AXPY,
    F_AXPY_OMP,
    F_CHECKPOINT,
    F_FWRITE,
    F_WRITE,
    F_BARRIER,
    F_IDLE,
    FUNCTIONS
};
static const struct {
    const char *name;
    enum module module;
    uint64_t offset;
    struct location at;
} functions[FUNCTIONS] = {
    [F_MAIN] = {"main", HEAT, 0x2140, {MAIN_C, "int main(", 0}},
    [F_INIT] = {"MPI_Init", LIBMPI, 0x6f3a0, {INIT_C, NULL, 53}},
    [F_READ_MATRIX] = {"read_matrix", HEAT, 0x2480, {MATRIX_C, "struct matrix *read_matrix(", 0}},
    [F_READ_ROW] = {"read_row", HEAT, 0x2700, {IO_C, NULL, 41}},
    [F_FREAD] = {"fread", LIBC, 0x75c10, {IOFREAD_C, NULL, 30}},
    [F_RHS] = {"assemble_rhs", HEAT, 0x2a10, {MATRIX_C, "void assemble_rhs(", 0}},
    [F_RHS_OMP] = {"assemble_rhs._omp_fn.1", HEAT, 0x2a90, {MATRIX_C, "void assemble_rhs(", 0}},
    [F_SOURCE] = {"heat_source", HEAT, 0, {HEAT_H, NULL, 71}},
    [F_CG] = {"cg_solve", HEAT, 0x3010, {CG_C, "int cg_solve(", 0}},
    [F_SPMV] = {"spmv", HEAT, 0x2890, {MATRIX_C, "void spmv(", 0}},
    [F_SPMV_OMP] = {"spmv._omp_fn.0", HEAT, 0x2910, {MATRIX_C, "void spmv(", 0}},
    [F_HALO] = {"exchange_halo", HEAT, 0x3390, {HALO_C, "void exchange_halo(", 0}},
    [F_PACK] = {"pack", HEAT, 0, {HEAT_H, NULL, 88}},
    [F_WAITALL] = {"MPI_Waitall", LIBMPI, 0x8a1f0, {WAITALL_C, NULL, 44}},
    [F_DOT] = {"dot", HEAT, 0x2e60, {CG_C, "static double dot(", 0}},
    [F_DOT_OMP] = {"dot._omp_fn.2", HEAT, 0x2f20, {CG_C, "static double dot(", 0}},
    [F_ALLREDUCE] = {"MPI_Allreduce", LIBMPI, 0x65c80, {ALLREDUCE_C, NULL, 44}},
    [F_RECURSIVE] = {"ompi_coll_base_allreduce_intra_recursivedoubling",
                     LIBMPI,
                     0xb9d40,
                     {COLL_C, NULL, 130}},
    [F_PROGRESS] = {"opal_progress", LIBPAL, 0x2f8e0, {PROGRESS_C, NULL, 216}},
    [F_AXPY] = {"axpy", HEAT, 0, {CG_C, "static inline void axpy(", 0}},
    [F_AXPY_OMP] = {"axpy._omp_fn.3", HEAT, 0x2dc0, {CG_C, "static inline void axpy(", 0}},
    [F_CHECKPOINT] = {"write_checkpoint", HEAT, 0x3620, {CHECKPOINT_C, "void write_checkpoint(", 0}},
    [F_FWRITE] = {"fwrite", LIBC, 0x76320, {IOFWRITE_C, NULL, 30}},
    [F_WRITE] = {"__write", LIBC, 0xf7d40, {WRITE_C, NULL, 25}},
    [F_BARRIER] = {"<omp barrier wait>", NOWHERE, 0, {NO_FILE, NULL, 0}},
    [F_IDLE] = {"<omp idle>", NOWHERE, 0, {NO_FILE, NULL, 0}},
};

/* ---- the calling context tree ---- */

enum kind {
    ENTRY,   /* an entry point */
    CALL,    /* of a function */
    INLINED, /* likewise, inlined */
    LOOP,
    LINE
};

/* A context. Children follow their parents. */
struct node {
    struct location at;
    enum function function;
    uint16_t leaf; /* enum leaf: samples are taken here; 0: none are */
    uint8_t depth;
    uint8_t kind;
};

/* Where samples are taken: what the processor achieves there. */
enum leaf {
    NO_LEAF,
    IN_INIT,
    IN_READ,
    IN_RHS,
    IN_SOURCE,
    IN_PACK,
    IN_WAITALL,
    IN_PRODUCT,
    IN_STORE,
    IN_SPMV_BARRIER,
    IN_DOT,
    IN_REDUCE,
    IN_AXPY,
    IN_DOT_2,
    IN_REDUCE_2,
    IN_AXPY_2,
    IN_CHECKPOINT,
    IN_IDLE,
    LEAVES
};
static const struct {
    double instructions; /* per cycle */
    double misses;       /* of the last cache, per 1000 instructions */
} rates[LEAVES] = {
    [IN_INIT] = {1.0, 1},       [IN_READ] = {0.875, 8},        [IN_RHS] = {1.25, 12},
    [IN_SOURCE] = {2.5, 0},     [IN_PACK] = {1.0, 6},          [IN_WAITALL] = {2.0, 0},
    [IN_PRODUCT] = {0.375, 40}, [IN_STORE] = {0.5, 24},        [IN_DOT] = {1.5, 14},
    [IN_REDUCE] = {2.0, 0},     [IN_SPMV_BARRIER] = {1.75, 0}, [IN_AXPY] = {0.75, 20},
    [IN_IDLE] = {1.5, 0},       [IN_CHECKPOINT] = {1.0, 10},   [IN_DOT_2] = {1.5, 14},
    [IN_AXPY_2] = {0.75, 20},   [IN_REDUCE_2] = {2.0, 0},
};

#define NODE(at_depth, of_kind, of_function, of_file, with_text, of_line, in_leaf)                           \
    {                                                                                                        \
        .at = {(of_file), (with_text), (of_line)}, .function = (of_function), .leaf = (in_leaf),             \
        .depth = (at_depth), .kind = (of_kind)                                                               \
    }
#define ENTERS(depth, type, name)           NODE(depth, ENTRY, 0, NO_FILE, name, type, 0)
#define CALLS(depth, function)              NODE(depth, CALL, function, NO_FILE, NULL, 0, 0)
#define AT(depth, file, text)               NODE(depth, LINE, 0, file, text, 0, 0)
#define AT_LINE(depth, file, line)          NODE(depth, LINE, 0, file, NULL, line, 0)
#define IN_LOOP(depth, file, text)          NODE(depth, LOOP, 0, file, text, 0, 0)
#define IN_LINE(depth, function)            NODE(depth, INLINED, function, NO_FILE, NULL, 0, 0)
#define SPENT(depth, file, text, leaf)      NODE(depth, LINE, 0, file, text, 0, leaf)
#define SPENT_LINE(depth, file, line, leaf) NODE(depth, LINE, 0, file, NULL, line, leaf)
#define WAITS(depth, function, leaf)        NODE(depth, CALL, function, NO_FILE, NULL, 0, leaf)

/* A scalar product, called from a line at `depth`. */
#define DOT_BELOW(depth, local, reduce)                                                                      \
    CALLS((depth) + 1, F_DOT), AT((depth) + 2, CG_C, "#pragma omp"), CALLS((depth) + 3, F_DOT_OMP),          \
        IN_LOOP((depth) + 4, CG_C, "for (long i"), SPENT((depth) + 5, CG_C, "local +=", local),              \
        AT((depth) + 2, CG_C, "MPI_Allreduce("), CALLS((depth) + 3, F_ALLREDUCE),                            \
        AT_LINE((depth) + 4, ALLREDUCE_C, 113), CALLS((depth) + 5, F_RECURSIVE),                             \
        AT_LINE((depth) + 6, COLL_C, 219), CALLS((depth) + 7, F_PROGRESS),                                   \
        SPENT_LINE((depth) + 8, PROGRESS_C, 231, reduce)

/* y += a x, called from a line at `depth`. */
#define AXPY_BELOW(depth, leaf)                                                                              \
    IN_LINE((depth) + 1, F_AXPY), AT((depth) + 2, CG_C, "#pragma omp"), CALLS((depth) + 3, F_AXPY_OMP),      \
        IN_LOOP((depth) + 4, CG_C, "for (long i"), SPENT((depth) + 5, CG_C, "y[i] +=", leaf)

/* clang-format off */
static const struct node nodes[] = {
    ENTERS(0, LODE_ENTRY_MAIN_THREAD, "main thread"),
    CALLS(1, F_MAIN),
      AT(2, MAIN_C, "MPI_Init("),
        CALLS(3, F_INIT),
          SPENT_LINE(4, INIT_C, 96, IN_INIT),
      AT(2, MAIN_C, "read_matrix("),
        CALLS(3, F_READ_MATRIX),
          IN_LOOP(4, MATRIX_C, "for (long row"),
            AT(5, MATRIX_C, "read_row("),
              CALLS(6, F_READ_ROW),
                AT_LINE(7, IO_C, 47),
                  CALLS(8, F_FREAD),
                    SPENT_LINE(9, IOFREAD_C, 38, IN_READ),
      IN_LOOP(2, MAIN_C, "for (int step"),
        AT(3, MAIN_C, "assemble_rhs("),
          CALLS(4, F_RHS),
            AT(5, MATRIX_C, "#pragma omp"),
              CALLS(6, F_RHS_OMP),
                IN_LOOP(7, MATRIX_C, "for (long row"),
                  SPENT(8, MATRIX_C, "b[row] =", IN_RHS),
                    IN_LINE(9, F_SOURCE),
                      SPENT_LINE(10, HEAT_H, 74, IN_SOURCE),
        AT(3, MAIN_C, "cg_solve("),
          CALLS(4, F_CG),
            IN_LOOP(5, CG_C, "while (rho"),
              AT(6, CG_C, "spmv("),
                CALLS(7, F_SPMV),
                  AT(8, MATRIX_C, "exchange_halo("),
                    CALLS(9, F_HALO),
                      IN_LOOP(10, HALO_C, "for (int i = 0; i < A->neighbours; i++) {"),
                        AT(11, HALO_C, "pack("),
                          IN_LINE(12, F_PACK),
                            SPENT_LINE(13, HEAT_H, 91, IN_PACK),
                      AT(10, HALO_C, "MPI_Waitall("),
                        CALLS(11, F_WAITALL),
                          AT_LINE(12, WAITALL_C, 78),
                            CALLS(13, F_PROGRESS),
                              SPENT_LINE(14, PROGRESS_C, 231, IN_WAITALL),
                  AT(8, MATRIX_C, "#pragma omp"),
                    CALLS(9, F_SPMV_OMP),
                      IN_LOOP(10, MATRIX_C, "for (long row"),
                        IN_LOOP(11, MATRIX_C, "for (long k"),
                          SPENT(12, MATRIX_C, "sum += A->value", IN_PRODUCT),
                        SPENT(11, MATRIX_C, "y[row] = sum", IN_STORE),
                    WAITS(9, F_BARRIER, IN_SPMV_BARRIER),
              AT(6, CG_C, "dot(n, p, q)"),
                DOT_BELOW(6, IN_DOT, IN_REDUCE),
              AT(6, CG_C, "axpy(n, alpha, p, x)"),
                AXPY_BELOW(6, IN_AXPY),
              AT(6, CG_C, "axpy(n, -alpha, q, r)"),
                AXPY_BELOW(6, IN_AXPY_2),
              AT(6, CG_C, "next = dot("),
                DOT_BELOW(6, IN_DOT_2, IN_REDUCE_2),
        AT(3, MAIN_C, "write_checkpoint("),
          CALLS(4, F_CHECKPOINT),
            AT(5, CHECKPOINT_C, "fwrite("),
              CALLS(6, F_FWRITE),
                AT_LINE(7, IOFWRITE_C, 39),
                  CALLS(8, F_WRITE),
                    SPENT_LINE(9, WRITE_C, 26, IN_CHECKPOINT),
    ENTERS(0, LODE_ENTRY_APPLICATION_THREAD, "application thread"),
      WAITS(1, F_IDLE, IN_IDLE),
};
/* clang-format on */
enum {
    NODES = sizeof nodes / sizeof *nodes,
    DEPTHS = 24
};

#endif
