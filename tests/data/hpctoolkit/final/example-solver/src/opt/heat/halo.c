/* The values that neighbouring ranks have. */
#include "heat.h"

void exchange_halo(const struct matrix *A, double *x)
{
    for (int i = 0; i < A->neighbours; i++)
        MPI_Irecv(A->inbox[i], A->inbox_size[i], MPI_DOUBLE, A->peer[i], 0, MPI_COMM_WORLD, &A->request[i]);
    for (int i = 0; i < A->neighbours; i++) {
        pack(A, i, x);
        MPI_Send(A->outbox[i], A->outbox_size[i], MPI_DOUBLE, A->peer[i], 0, MPI_COMM_WORLD);
    }
    MPI_Waitall(A->neighbours, A->request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < A->neighbours; i++)
        unpack(A, i, x);
}
