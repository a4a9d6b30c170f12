/* heat: implicit heat conduction on an unstructured grid, with MPI and OpenMP. */
#include "heat.h"

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    struct options options = parse_options(argc, argv);

    struct matrix *A = read_matrix(options.grid, rank, ranks);
    double *x = new_vector(A->rows), *b = new_vector(A->rows);
    for (int step = 0; step < options.steps; step++) {
        assemble_rhs(A, x, b);
        cg_solve(A, b, x, options.tolerance);
        if (step % options.checkpoint == 0)
            write_checkpoint(x, A->rows, step);
    }
    MPI_Finalize();
    return 0;
}
