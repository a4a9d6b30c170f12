// SPDX-License-Identifier: BSD-3-Clause
/* Signal processor whose transfer functions come from a shared library. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS 6000
#define SAMPLES 800

typedef double (*transfer_fn)(double);

struct stage {
    const char *library;
    const char *symbol;
    void *handle;
    transfer_fn fn;
};

static struct stage stages[] = {
    { "libm.so.6", "tanh" },
    { "libm.so.6", "atan" },
    { "libm.so.6", "cbrt" },
};

__attribute__((noinline)) static void stage_load(struct stage *s)
{
#ifdef FIX
    if (s->handle)
        return;
#endif
    s->handle = dlopen(s->library, RTLD_NOW | RTLD_LOCAL);
    if (!s->handle) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    s->fn = (transfer_fn)dlsym(s->handle, s->symbol);
    if (!s->fn)
        exit(1);
}

__attribute__((noinline)) static void stage_unload(struct stage *s)
{
    if (s->handle)
        dlclose(s->handle);
    s->handle = NULL;
    s->fn = NULL;
}

__attribute__((noinline)) static void stage_apply(struct stage *s, double *v, int n)
{
    transfer_fn f = s->fn;

    for (int i = 0; i < n; i++)
        v[i] = f(v[i]);
}

__attribute__((noinline)) static double process_item(struct stage *s, int item)
{
    double v[SAMPLES], sum = 0;
    uint32_t x = item;

    for (int i = 0; i < SAMPLES; i++) {
        x = x * 1664525u + 1013904223u;
        v[i] = (x >> 16) / 65536.0 - 0.5;
    }
    stage_load(s);
    stage_apply(s, v, SAMPLES);
#ifndef FIX
    stage_unload(s);
#endif
    for (int i = 0; i < SAMPLES; i++)
        sum += v[i];
    return sum;
}

int main(void)
{
    double total = 0;

    for (int i = 0; i < ITEMS; i++)
        total += process_item(&stages[i % 3], i);
    for (int i = 0; i < 3; i++)
        stage_unload(&stages[i]);
    printf("total %.9f\n", total);
    return 0;
}
