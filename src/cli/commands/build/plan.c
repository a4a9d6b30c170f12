/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/build/plan.h"

#include "output/report.h"

#include <lode/unstable/measurements.h>
#include <string.h>
#include <unistd.h>

enum {
    /* Bytes of a database, measured on small ones: right but for a factor of three. */
    BYTES_BASE = 4096,
    BYTES_PER_NODE = 300,
    BYTES_PER_SAMPLE = 12
};

/* What would be built of all measurements. */
typedef struct plan_sum {
    uint64_t profiles, left_out, bytes, traces, samples, nodes;
    uint64_t modules, used, with_file, from_binaries, absent;
    uint64_t files, damaged;
} plan_sum;

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int is_wanted(const build_plan *plan, const lode_measured_profile *profile)
{
    for (size_t i = 0; i < plan->programs->count; i++)
        if (strcmp(last_part(plan->programs->items[i]), last_part(profile->program)) == 0)
            return 1;
    return plan->programs->count == 0;
}

static void add_profiles(const build_plan *plan, const lode_measurements *m, plan_sum *sum)
{
    for (uint32_t i = 0; i < lode_measurements_profile_count(m); i++) {
        const lode_measured_profile *profile = lode_measurements_profile(m, i);
        if (!profile->file || !is_wanted(plan, profile)) {
            sum->left_out++;
            continue;
        }
        sum->profiles++;
        sum->bytes += profile->bytes + profile->trace_bytes;
        sum->traces += profile->trace_file != NULL;
        sum->samples += profile->samples;
        sum->nodes += profile->nodes;
    }
    sum->damaged += lode_measurements_skip_count(m);
}

static int has_file(const lode_measurements *m, const char *path)
{
    for (uint32_t i = 0; i < lode_measurements_structure_count(m); i++)
        if (strcmp(lode_measurements_structure(m, i)->path, path) == 0)
            return 1;
    return 0;
}

/* Where functions and lines of a module would come from. */
static const char *origin_of(const build_plan *plan, const lode_measurements *m, const char *path,
                             plan_sum *sum)
{
    if (!plan->ignores_structures && has_file(m, path)) {
        sum->with_file++;
        return "structure file";
    }
    if (plan->reads_binaries && access(path, R_OK) == 0) {
        sum->from_binaries++;
        return "binary";
    }
    sum->absent++;
    return "none at its path";
}

static void add_modules(out *o, const build_plan *plan, const lode_measurements *m, plan_sum *sum)
{
    for (uint32_t i = 0; i < lode_measurements_module_count(m); i++) {
        const lode_measured_module *module = lode_measurements_module(m, i);
        sum->modules++;
        if (module->nodes == 0)
            continue;
        sum->used++;
        const char *origin = origin_of(plan, m, module->path, sum);
        if (plan->is_verbose)
            out_line(o, "%s: %s, %s", module->path, COUNTED(module->nodes, "node", "nodes"), origin);
    }
}

static void count_files(const build_plan *plan, const lode_measurements *m, plan_sum *sum)
{
    const char *last = "";
    for (uint32_t i = 0; i < lode_measurements_structure_count(m) && !plan->ignores_structures; i++) {
        const char *file = lode_measurements_structure(m, i)->file;
        sum->files += strcmp(file, last) != 0;
        last = file;
    }
}

static void print_sum(out *o, const build_plan *plan, const plan_sum *sum)
{
    char bytes[NUMBER_SIZE], size[NUMBER_SIZE], files[COUNTED_SIZE];
    format_bytes(bytes, sum->bytes);
    format_bytes(size, BYTES_BASE + BYTES_PER_NODE * sum->nodes + BYTES_PER_SAMPLE * sum->samples);
    format_counted(files, sum->files + plan->structures->count, "structure file", "structure files");
    out_labels(o, sizeof "Structure" + 1);
    out_entry(o, "Profiles", "%s, %s; left out: %s", COUNTED(sum->profiles, "profile", "profiles"), bytes,
              COUNTED(sum->left_out + sum->damaged, "file", "files"));
    out_entry(o, "Traces", "%s with %s", COUNTED(sum->traces, "trace", "traces"),
              COUNTED(sum->samples, "sample", "samples"));
    out_entry(o, "Modules", "%s, %s with contexts", COUNTED(sum->modules, "module", "modules"),
              COUNTED(sum->used, "module", "modules"));
    out_entry(o, "Structure", "%s; %s", files, COUNTED(sum->with_file, "module has one", "modules have one"));
    out_entry(o, "Binaries", "%s read, %s not at their paths",
              COUNTED(sum->from_binaries, "binary", "binaries"), COUNTED(sum->absent, "binary", "binaries"));
    out_entry(o, "Database", "about %s without source files; nothing was written", size);
}

int build_print_plan(const invocation *call, const build_plan *plan)
{
    plan_sum sum = {0};
    for (size_t i = 0; i < call->operand_count; i++) {
        lode_measurements *m;
        lode_error error = {0};
        if (lode_measurements_open(&m, call->operands[i], &error) != LODE_OK)
            return report("%s", error.text);
        add_profiles(plan, m, &sum);
        add_modules(call->out, plan, m, &sum);
        count_files(plan, m, &sum);
        lode_measurements_close(m);
    }
    if (sum.profiles == 0)
        return report("%s: no profile is of a program that --only names", call->operands[0]);
    print_sum(call->out, plan, &sum);
    return EXIT_DONE;
}
