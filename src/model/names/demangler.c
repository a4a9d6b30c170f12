/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads the demangler for the first mangled name: to link it would take a third of the time that
 * the program takes to start.
 */
#include "model/names/demangler.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static lode_demangle_fn demangler;
static pthread_once_t demangler_once = PTHREAD_ONCE_INIT;

static void load_demangler(void)
{
    static const char *const names[] = {"libstdc++.so.6", "libc++abi.so.1"};
    for (size_t i = 0; i < sizeof names / sizeof *names && demangler == NULL; i++) {
        void *library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
        void *found = library ? dlsym(library, "__cxa_demangle") : NULL;
        memcpy(&demangler, &found, sizeof found);
    }
}

lode_demangle_fn lode_demangler(void)
{
    (void)pthread_once(&demangler_once, load_demangler);
    return demangler;
}
