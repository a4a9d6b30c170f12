/* The conjugate gradient method. */
#include "heat.h"

static inline void axpy(long n, double a, const double *x, double *y)
{
#pragma omp parallel for simd
    for (long i = 0; i < n; i++)
        y[i] += a * x[i];
}

/* The scalar product over all ranks: everyone waits for the slowest. */
static double dot(long n, const double *x, const double *y)
{
    double local = 0, global;
#pragma omp parallel for simd reduction(+ : local)
    for (long i = 0; i < n; i++)
        local += x[i] * y[i];
    MPI_Allreduce(&local, &global, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return global;
}

int cg_solve(const struct matrix *A, const double *b, double *x, double tolerance)
{
    long n = A->rows;
    double *r = A->work[0], *p = A->work[1], *q = A->work[2];
    int iterations = 0;
    residual(A, b, x, r);
    copy(n, r, p);
    double rho = dot(n, r, r);
    while (rho > tolerance * tolerance) {
        spmv(A, p, q);
        double alpha = rho / dot(n, p, q);
        axpy(n, alpha, p, x);
        axpy(n, -alpha, q, r);
        double next = dot(n, r, r);
        scale_add(n, r, next / rho, p);
        rho = next;
        iterations++;
    }
    return iterations;
}
