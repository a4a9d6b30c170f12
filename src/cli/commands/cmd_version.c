/* SPDX-License-Identifier: BSD-3-Clause */
/* lode version: what this program is made of, and what it finds on this machine. */
#include "command.h"
#include "job.h"
#include "output/out.h"
#include "output/report.h"
#include "plugin.h"
#include "runs/catalogue.h"

#include <lode/name.h>
#include <lode/private/libraries.h>
#include <stdio.h>
#include <string.h>

typedef struct version_options {
    shared_options shared;
    int is_short;
} version_options;

static const char *const state_names[] = {"found", "missing", "refused"};

enum {
    LIST_SIZE = 1024,
    VERSION_SIZE = 64
};

/* ---- text ---- */

static void say_libraries(out *o)
{
    const char *sqlite = catalogue_library();
    char list[LIST_SIZE] = "", version[VERSION_SIZE];
    const char *name;
    size_t length = 0;
    for (uint32_t i = 0; (name = lode_library_name(i)) != NULL && length < sizeof list; i++) {
        lode_library_version(i, version, sizeof version);
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s %s", i > 0 ? ", " : "", name,
                                   version);
    }
    out_entry(o, "Libraries", "%s%s%s", list, sqlite ? ", sqlite " : "", sqlite ? sqlite : "");
    if (!sqlite)
        out_entry(o, "Catalogue", "none: this program was built without SQLite");
}

/* The demangler is loaded when a name needs it (src/model/names/demangler.c). */
static void say_demangler(out *o)
{
    char name[VERSION_SIZE];
    lode_simple_name("_ZN1a1bEv", name, sizeof name);
    if (strcmp(name, "a::b") != 0)
        out_entry(o, "C++ names", "as in the files: libstdc++.so.6 is not installed");
}

static void say_plugins(out *o)
{
    static plugin found;
    if (!plugin_is_possible())
        out_entry(o, "MPI", "no plug-ins: this program is static");
    for (size_t i = JOB_OPENMPI; job_choices[i] && plugin_is_possible(); i++) {
        plugin_find_mpi(job_choices[i], &found);
        if (found.state == PLUGIN_FOUND)
            out_entry(o, "MPI", "%s: %s", job_choices[i], found.path);
        else if (found.state == PLUGIN_MISSING)
            out_entry(o, "MPI", "%s: not installed", job_choices[i]);
        else
            out_entry(o, "MPI", "%s: refused: %s", job_choices[i], found.reason);
    }
}

static void say_version(out *o)
{
    char path[PATH_MAX];
    out_print(o, "lode %s\n\n", lode_version());
    out_labels(o, sizeof "Plug-ins from" + 1);
    if (plugin_program(path))
        out_entry(o, "Program", "%s", path);
    say_libraries(o);
    say_demangler(o);
    say_plugins(o);
    for (size_t i = 0; plugin_directory(i, path); i++)
        out_entry(o, i == 0 ? "Plug-ins from" : "", "%s", path);
}

/* ---- JSON ---- */

static void write_library(out *o, const char *name, const char *version)
{
    OUT_OBJECT(o, NULL, "name", name, "version", version);
}

static void write_libraries(out *o)
{
    char version[VERSION_SIZE];
    const char *name;
    out_array(o, "libraries");
    for (uint32_t i = 0; (name = lode_library_name(i)) != NULL; i++) {
        lode_library_version(i, version, sizeof version);
        write_library(o, name, version);
    }
    if (catalogue_library())
        write_library(o, "sqlite", catalogue_library());
    out_array_end(o);
}

static void write_plugins(out *o)
{
    static plugin found;
    out_array(o, "mpi_plugins");
    for (size_t i = JOB_OPENMPI; job_choices[i]; i++) {
        plugin_find_mpi(job_choices[i], &found);
        OUT_OBJECT(o, NULL, "name", job_choices[i], "state", state_names[found.state], "path",
                   found.state == PLUGIN_MISSING ? NULL : found.path, "reason",
                   found.state == PLUGIN_REFUSED ? found.reason : NULL);
    }
    out_array_end(o);
}

static void write_version(out *o)
{
    char path[PATH_MAX];
    out_begin(o, SCHEMA_VERSION, NULL);
    OUT_FIELDS(o, "version", lode_version(), "program", plugin_program(path) ? path : NULL);
    write_libraries(o);
    write_plugins(o);
    out_array(o, "plugin_directories");
    for (size_t i = 0; plugin_directory(i, path); i++)
        OUT_ELEMENTS(o, path);
    out_array_end(o);
    out_end(o);
}

/* ---- the command ---- */

static int run_version(const invocation *call)
{
    const version_options *options = call->options;
    if (call->shared->json)
        write_version(call->out);
    else if (options->is_short)
        out_print(call->out, "lode %s\n", lode_version());
    else
        say_version(call->out);
    return EXIT_DONE;
}

static const option_spec version_own[] = {
    {"short", 0, OPTION_FLAG, NULL, NULL, offsetof(version_options, is_short)},
    {0},
};

const command_spec command_version = {
    .name = "version",
    .operands = "",
    .options = {.own = version_own, .shared = SHARED_JSON},
    .options_size = sizeof(version_options),
    .run = run_version,
};
