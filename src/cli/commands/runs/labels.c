/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/runs/runs.h"

#include "alloc.h"
#include "output/out.h"
#include "output/report.h"

#include <lode/private/utf8.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LENGTH 64
#define VALUE_MAX       1024

/* Environments that say what is being built. A system is there if its first variable is set. */
static const struct system {
    const char *name; /* of the label "ci"; NULL: none */
    const char *sign;
    struct {
        const char *label, *variable;
    } labels[6];
} systems[] = {
    {"github",
     "GITHUB_ACTIONS",
     {{"commit", "GITHUB_SHA"},
      {"branch", "GITHUB_REF_NAME"},
      {"branch", "GITHUB_HEAD_REF"}, /* of a pull request */
      {"build", "GITHUB_RUN_ID"},
      {"job", "GITHUB_JOB"},
      {"repository", "GITHUB_REPOSITORY"}}},
    {"gitlab",
     "GITLAB_CI",
     {{"commit", "CI_COMMIT_SHA"},
      {"branch", "CI_COMMIT_REF_NAME"},
      {"build", "CI_PIPELINE_ID"},
      {"job", "CI_JOB_NAME"},
      {"repository", "CI_PROJECT_PATH"}}},
    {"jenkins",
     "JENKINS_URL",
     {{"commit", "GIT_COMMIT"},
      {"branch", "GIT_BRANCH"},
      {"branch", "BRANCH_NAME"},
      {"build", "BUILD_NUMBER"},
      {"job", "JOB_NAME"}}},
    {"buildkite",
     "BUILDKITE",
     {{"commit", "BUILDKITE_COMMIT"},
      {"branch", "BUILDKITE_BRANCH"},
      {"build", "BUILDKITE_BUILD_NUMBER"},
      {"job", "BUILDKITE_LABEL"},
      {"repository", "BUILDKITE_PIPELINE_SLUG"}}},
    {"circleci",
     "CIRCLECI",
     {{"commit", "CIRCLE_SHA1"},
      {"branch", "CIRCLE_BRANCH"},
      {"build", "CIRCLE_BUILD_NUM"},
      {"job", "CIRCLE_JOB"},
      {"repository", "CIRCLE_PROJECT_REPONAME"}}},
    {"azure",
     "TF_BUILD",
     {{"commit", "BUILD_SOURCEVERSION"},
      {"branch", "BUILD_SOURCEBRANCHNAME"},
      {"build", "BUILD_BUILDID"},
      {"job", "AGENT_JOBNAME"},
      {"repository", "BUILD_REPOSITORY_NAME"}}},
    {NULL,
     "SLURM_JOB_ID",
     {{"slurm_job", "SLURM_JOB_ID"},
      {"slurm_name", "SLURM_JOB_NAME"},
      {"slurm_cluster", "SLURM_CLUSTER_NAME"},
      {"slurm_nodes", "SLURM_JOB_NUM_NODES"}}},
};

static char *copy(const char *text, size_t most)
{
    size_t length = strnlen(text, most), used = 0;
    char *result = alloc_array(length + 1, 1);
    uint32_t character;
    for (size_t i = 0; i < length;) {
        size_t size = lode_utf8_decode(text + i, length - i, &character);
        if (size == 0)
            result[used++] = '?';
        for (size_t k = 0; k < size; k++)
            result[used++] = text[i + k];
        i += size ? size : 1;
    }
    return result;
}

char *runs_copy(const char *text)
{
    size_t length = strlen(text);
    char *result = alloc_array(length + 1, 1);
    memcpy(result, text, length);
    return result;
}

static void drop(runs_labels *labels, size_t index)
{
    free(labels->texts[index][0]);
    free(labels->texts[index][1]);
}

static void append(runs_labels *labels, const char *name, const char *value)
{
    if (labels->count == RUNS_LABEL_MAX)
        return;
    char **texts = labels->texts[labels->count];
    texts[0] = copy(name, NAME_MAX_LENGTH);
    texts[1] = copy(value, VALUE_MAX);
    labels->items[labels->count++] = (run_label){texts[0], texts[1]};
}

void runs_label_set(runs_labels *labels, const char *name, const char *value)
{
    size_t kept = 0;
    for (size_t i = 0; i < labels->count; i++) {
        if (strcmp(labels->items[i].name, name) == 0) {
            drop(labels, i);
            continue;
        }
        labels->items[kept] = labels->items[i];
        memmove(labels->texts[kept++], labels->texts[i], sizeof *labels->texts);
    }
    labels->count = kept;
    if (value[0])
        append(labels, name, value);
}

void runs_labels_of_environment(runs_labels *labels)
{
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        const char *sign = getenv(systems[i].sign);
        if (!sign || !sign[0])
            continue;
        if (systems[i].name)
            runs_label_set(labels, "ci", systems[i].name);
        for (size_t k = 0; k < 6 && systems[i].labels[k].label; k++) {
            const char *value = getenv(systems[i].labels[k].variable);
            if (value && value[0])
                runs_label_set(labels, systems[i].labels[k].label, value);
        }
    }
}

static int is_name(const char *text, size_t length)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    return length > 0 && length <= NAME_MAX_LENGTH && strspn(text, allowed) == length;
}

int runs_labels_parse(runs_labels *labels, const text_list *texts, int is_filter)
{
    for (size_t i = 0; i < texts->count; i++) {
        const char *text = texts->items[i], *equals = strchr(text, '=');
        char name[NAME_MAX_LENGTH + 1];
        if (!equals || !is_name(text, (size_t)(equals - text)))
            return report("--label is NAME=VALUE, not '%s'; a name has letters, digits, '_', '.' and '-' "
                          "(see 'lode help runs')",
                          text);
        if (strlen(equals + 1) > VALUE_MAX)
            return report("--label: a value has at most %d bytes (see 'lode help runs')", VALUE_MAX);
        snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
        if (is_filter)
            append(labels, name, equals + 1);
        else
            runs_label_set(labels, name, equals + 1);
    }
    return EXIT_DONE;
}

void runs_labels_free(runs_labels *labels)
{
    for (size_t i = 0; i < labels->count; i++)
        drop(labels, i);
    labels->count = 0;
}

void runs_labels_write(out *o, const run_label *labels, size_t count)
{
    if (out_format_of(o) != OUT_JSON)
        return;
    out_object(o, "labels");
    for (size_t i = 0; i < count; i++)
        OUT_FIELDS(o, labels[i].name, labels[i].value);
    out_object_end(o);
}

char *runs_labels_text(const run_label *labels, size_t count)
{
    size_t size = 1, used = 0;
    for (size_t i = 0; i < count; i++)
        size += strlen(labels[i].name) + strlen(labels[i].value) + 3;
    char *text = alloc_array(size, 1);
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s=%s", i ? "; " : "", labels[i].name,
                                 labels[i].value);
    return text;
}
