// SPDX-License-Identifier: BSD-3-Clause
// Structural bioinformatics: contact statistics over all residue pairs of a
// set of protein models, computed with OpenMP.
#include <stdio.h>
#include <stdlib.h>
#include <omp.h>

#define NRES 3000
#define NMODELS 32
#define CUTOFF2 64.0f

struct residue {
    float x, y, z;
    int type;
};

static struct residue model[NRES];
static long contacts_per_residue[NRES];
static double energy_per_residue[NRES];

__attribute__((noinline)) static void build_model(int id)
{
    unsigned s = 12345u + id;
    float x = 0, y = 0, z = 0;

    for (int i = 0; i < NRES; i++) {
        s = s * 1664525u + 1013904223u;
        x += ((s >> 8) & 0xff) / 64.0f - 2.0f;
        s = s * 1664525u + 1013904223u;
        y += ((s >> 8) & 0xff) / 64.0f - 2.0f;
        s = s * 1664525u + 1013904223u;
        z += ((s >> 8) & 0xff) / 64.0f - 2.0f;
        model[i].x = x;
        model[i].y = y;
        model[i].z = z;
        model[i].type = (s >> 20) % 20;
    }
}

__attribute__((noinline)) static void residue_contacts(int i)
{
    long n = 0;
    double e = 0;

    for (int j = i + 1; j < NRES; j++) {
        float dx = model[i].x - model[j].x;
        float dy = model[i].y - model[j].y;
        float dz = model[i].z - model[j].z;
        float r2 = dx * dx + dy * dy + dz * dz + 0.01f;

        if (r2 < CUTOFF2)
            n++;
        e += (model[i].type - model[j].type) / (r2 * (1.0f + r2));
    }
    contacts_per_residue[i] += n;
    energy_per_residue[i] += e;
}

__attribute__((noinline)) static void contact_map(void)
{
#ifdef FIX
#pragma omp parallel for schedule(dynamic, 16)
#else
#pragma omp parallel for
#endif
    for (int i = 0; i < NRES; i++)
        residue_contacts(i);
}

__attribute__((noinline)) static void summarize(long *n, double *e)
{
    *n = 0;
    *e = 0;
    for (int i = 0; i < NRES; i++) {
        *n += contacts_per_residue[i];
        *e += energy_per_residue[i];
    }
}

int main(void)
{
    long n;
    double e;

    omp_set_num_threads(2);
    for (int m = 0; m < NMODELS; m++) {
        build_model(m);
        contact_map();
    }
    summarize(&n, &e);
    printf("models %d contacts %ld energy %.6f\n", NMODELS, n, e);
    return 0;
}
