/* The matrix: compressed sparse rows, a block of rows for each rank. */
#include "heat.h"

/* The rows of a rank. All ranks have as many rows, whatever these rows hold. */
static void partition(long rows, int rank, int ranks, long *first, long *end)
{
    *first = rows * rank / ranks;
    *end = rows * (rank + 1) / ranks;
}

struct matrix *read_matrix(const char *path, int rank, int ranks)
{
    long first, end;
    FILE *file = fopen(path, "rb");
    long rows = read_header(file);
    partition(rows, rank, ranks, &first, &end);
    struct matrix *A = new_matrix(end - first);
    for (long row = first; row < end; row++)
        read_row(file, A, row);
    fclose(file);
    find_neighbours(A);
    return A;
}

/* y = A x. Rows where the grid is refined have many entries. */
void spmv(const struct matrix *A, double *x, double *y)
{
    exchange_halo(A, x);
#pragma omp parallel for schedule(static)
    for (long row = 0; row < A->rows; row++) {
        double sum = 0;
        for (long k = A->start[row]; k < A->start[row + 1]; k++)
            sum += A->value[k] * x[A->column[k]];
        y[row] = sum;
    }
}

/* The right-hand side: sources, and the temperatures of the last step. */
void assemble_rhs(const struct matrix *A, const double *x, double *b)
{
#pragma omp parallel for schedule(static)
    for (long row = 0; row < A->rows; row++)
        b[row] = A->capacity[row] * x[row] + heat_source(A, row);
}
