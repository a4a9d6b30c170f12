/* SPDX-License-Identifier: BSD-3-Clause */
/* The companion files: the metric taxonomy, a note on formats, source files. */
#include "base/io/beneath.h"
#include "format/hpctoolkit/write/write.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    COPY_BUFFER = 1 << 16
};

static const char formats_text[] =
    "# The files of this database\n"
    "\n"
    "This is a performance database in the format of HPCToolkit 4.0.\n"
    "\n"
    "| file | holds |\n"
    "|---|---|\n"
    "| meta.db | metrics, load modules, source files, functions and the calling context tree |\n"
    "| profile.db | values by profile: one profile per thread, and their summary |\n"
    "| cct.db | the same values by context, without the summary |\n"
    "| trace.db | what each profile did over time; not in every database |\n"
    "| metrics/default.yaml | how viewers present the metrics |\n"
    "| metrics/METRICS.yaml.ex | an example of such a file, with comments |\n"
    "| src/ | source files, if they were copied |\n"
    "\n"
    "Numbers are little-endian. Each *.db file begins with HPCTOOLKIT and four letters that name it, and ends with a\n"
    "footer of eight; between them are sections, which the header lists. The documentation of HPCToolkit and of Lode\n"
    "describe every structure.\n";

static const char example_text[] =
    "# How viewers present the metrics of a database: an example. The file that is used is default.yaml.\n"
    "version: 0\n"
    "# Statistics of the summary profile in profile.db. Each is found in meta.db by these four.\n"
    "inputs:\n"
    "  - &time-execution\n"
    "    metric: time (s)\n"
    "    scope: execution   # the context and all below it\n"
    "    formula: $$        # of the value of one profile: $$, 1 or ($$^2)\n"
    "    combine: sum       # over profiles: sum, min or max\n"
    "  - &time-function\n"
    "    metric: time (s)\n"
    "    scope: function    # what is inside the function itself\n"
    "    formula: $$\n"
    "    combine: sum\n"
    "  - &time-lex_aware\n"
    "    metric: time (s)\n"
    "    scope: lex_aware   # the same; of a loop without the loops inside\n"
    "    formula: $$\n"
    "    combine: sum\n"
    "# Metrics as they are shown. A metric may have children, which are metrics too.\n"
    "roots:\n"
    "  - name: time (s)\n"
    "    description: Seconds of processor time.\n"
    "    visible by default: true\n"
    "    variants:\n"
    "      Sum:\n"
    "        render: [number, percent]\n"
    "        formula:\n"
    "          inclusive:\n"
    "            standard: *time-execution\n"
    "          exclusive:\n"
    "            custom: *time-lex_aware\n"
    "            standard: *time-function\n"
    "      Minutes:\n"
    "        render: [number]\n"
    "        format: \"%.2f\"\n"
    "        formula:\n"
    "          inclusive:\n"
    "            standard: {\"/\": [*time-execution, 60]}   # an operator, and what it is applied to\n"
    "          exclusive:\n"
    "            standard: {\"/\": [*time-function, 60]}\n";

/* ---- text files ---- */

struct text_file {
    struct lode_output_file file;
    lode_status status;
    lode_error *error;
};

static void put(struct text_file *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct text_file *self, const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) {
        self->status = lode_fail_memory(self->error);
        return;
    }
    if (self->status == LODE_OK)
        self->status = lode_output_write(&self->file, text, (size_t)length, self->error);
    free(text);
}

static lode_status end_text(struct text_file *self)
{
    if (self->status == LODE_OK)
        return lode_output_file_close(&self->file, self->error);
    lode_output_file_abandon(&self->file);
    return self->status;
}

/* A YAML string in double quotes. */
static void put_quoted(struct text_file *self, const char *text)
{
    put(self, "\"");
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\')
            put(self, "\\%c", byte);
        else if (byte < 0x20 || byte == 0x7f)
            put(self, "\\x%02x", byte);
        else
            put(self, "%c", byte);
    }
    put(self, "\"");
}

/* ---- the taxonomy ---- */

static const lode_metric_statistic *find_statistic(const struct lode_metric *metric, int type,
                                                   const char *formula, int combine)
{
    for (size_t i = 0; i < metric->statistic_count; i++) {
        const lode_metric_statistic *statistic = &metric->statistics[i];
        if (statistic->scope->type == type && statistic->combine == combine &&
            strcmp(statistic->formula, formula) == 0)
            return statistic;
    }
    return NULL;
}

/* Every statistic is an input, with its id as anchor. */
static void put_inputs(struct text_file *self, const struct lode_description *about)
{
    put(self, "version: 0\ninputs:%s\n", about->statistic_ids ? "" : " []");
    for (uint32_t m = 0; m < about->metric_count; m++) {
        const struct lode_metric *metric = &about->metrics[m];
        for (size_t i = 0; i < metric->statistic_count; i++) {
            const lode_metric_statistic *statistic = &metric->statistics[i];
            put(self, "  - &s%u\n    metric: ", statistic->id);
            put_quoted(self, metric->name);
            put(self, "\n    scope: ");
            put_quoted(self, statistic->scope->name);
            put(self, "\n    formula: ");
            put_quoted(self, statistic->formula);
            put(self, "\n    combine: %s\n", lode_combine_name(statistic->combine));
        }
    }
}

/* A variant of a metric: one statistic, or (alone == NULL) a formula of several. */
struct variant {
    const char *name, *render;
    const char *alone; /* its formula */
    int combine;
};

static const struct variant variants[] = {
    {"Sum", "[number, percent]", "$$", LODE_COMBINE_SUM},
    {"Mean", "[number]", NULL, 0},
    {"StdDev", "[number]", NULL, 0},
    {"Min", "[number]", "$$", LODE_COMBINE_MIN},
    {"Max", "[number]", "$$", LODE_COMBINE_MAX},
};
#define VARIANTS (sizeof variants / sizeof *variants)

/* Prints a variant if a scope of this type has all its inputs. */
static bool put_formula(struct text_file *self, const struct lode_metric *metric,
                        const struct variant *variant, int type, const char *prefix)
{
    if (variant->alone) {
        const lode_metric_statistic *alone = find_statistic(metric, type, variant->alone, variant->combine);
        if (alone)
            put(self, "%s*s%u\n", prefix, alone->id);
        return alone != NULL;
    }
    const lode_metric_statistic *sum = find_statistic(metric, type, "$$", LODE_COMBINE_SUM);
    const lode_metric_statistic *count = find_statistic(metric, type, "1", LODE_COMBINE_SUM);
    const lode_metric_statistic *squares = find_statistic(metric, type, "($$^2)", LODE_COMBINE_SUM);
    if (sum == NULL || count == NULL || squares == NULL)
        return false;
    put(self, "%s", prefix);
    if (strcmp(variant->name, "Mean") == 0)
        put(self, "{\"/\": [*s%u, *s%u]}\n", sum->id, count->id);
    else
        put(self, "{\"sqrt\": [{\"-\": [{\"/\": [*s%u, *s%u]}, {\"^\": [{\"/\": [*s%u, *s%u]}, 2]}]}]}\n",
            squares->id, count->id, sum->id, count->id);
    return true;
}

static bool has_variant(const struct lode_metric *metric, const struct variant *variant)
{
    int type = LODE_SCOPE_EXECUTION;
    if (variant->alone)
        return find_statistic(metric, type, variant->alone, variant->combine) != NULL;
    return find_statistic(metric, type, "1", LODE_COMBINE_SUM) != NULL &&
           find_statistic(metric, type, "($$^2)", LODE_COMBINE_SUM) != NULL &&
           find_statistic(metric, type, "$$", LODE_COMBINE_SUM) != NULL;
}

static void put_variant(struct text_file *self, const struct lode_metric *metric,
                        const struct variant *variant)
{
    static const char standard[] = "            standard: ";
    put(self, "      %s:\n        render: %s\n        formula:\n          inclusive:\n", variant->name,
        variant->render);
    put_formula(self, metric, variant, LODE_SCOPE_EXECUTION, standard);
    put(self, "          exclusive:\n");
    put_formula(self, metric, variant, LODE_SCOPE_CUSTOM, "            custom: ");
    if (!put_formula(self, metric, variant, LODE_SCOPE_TRANSITIVE, standard))
        put_formula(self, metric, variant, LODE_SCOPE_POINT, standard);
}

static void put_root(struct text_file *self, const struct lode_metric *metric)
{
    put(self, "  - name: ");
    put_quoted(self, metric->name);
    put(self, "\n    description: ");
    put_quoted(self, metric->name);
    put(self, "\n    variants:\n");
    for (size_t i = 0; i < VARIANTS; i++)
        if (has_variant(metric, &variants[i]))
            put_variant(self, metric, &variants[i]);
}

/* Metrics without a variant are hidden: hpcviewer requires one of each listed metric. */
static bool has_variants(const struct lode_metric *metric)
{
    for (size_t i = 0; i < VARIANTS; i++)
        if (has_variant(metric, &variants[i]))
            return true;
    return false;
}

static void put_roots(struct text_file *self, const struct lode_description *about)
{
    uint32_t shown = 0;
    put(self, "roots:");
    for (uint32_t m = 0; m < about->metric_count; m++) {
        const struct lode_metric *metric = &about->metrics[m];
        if (!has_variants(metric))
            continue;
        put(self, "%s", shown++ == 0 ? "\n" : "");
        put_root(self, metric);
    }
    put(self, "%s", shown == 0 ? " []\n" : "");
}

static lode_status put_taxonomy(struct hpct_sink *sink, lode_error *error)
{
    struct text_file self = {.error = error};
    LODE_TRY(lode_output_mkdir(&sink->base.output, "metrics", error));
    LODE_TRY(lode_output_file_create(&self.file, &sink->base.output, "metrics/default.yaml", error));
    if (sink->taxonomy.size > 0) {
        self.status = lode_output_write(&self.file, sink->taxonomy.bytes, sink->taxonomy.size, error);
    } else if (sink->base.about->taxonomy) {
        const char *text = sink->base.about->taxonomy;
        self.status = lode_output_write(&self.file, text, strlen(text), error);
    } else {
        put_inputs(&self, sink->base.about);
        put_roots(&self, sink->base.about);
    }
    return end_text(&self);
}

lode_status lode_hpct_take_taxonomy(struct hpct_sink *sink, lode_error *error)
{
    static const char path[] = "metrics/default.yaml";
    lode_error reason = {0};
    lode_status status = lode_companion_read(&sink->taxonomy, sink->origin.directory, path, &reason);
    if (status == LODE_OK || status == LODE_ABSENT)
        return LODE_OK;
    lode_blob_free(&sink->taxonomy);
    return lode_origin_leave_out(&sink->origin, path, &reason, error);
}

static lode_status put_text(struct hpct_sink *sink, const char *name, const char *text, lode_error *error)
{
    struct text_file self = {.error = error};
    LODE_TRY(lode_output_file_create(&self.file, &sink->base.output, name, error));
    self.status = lode_output_write(&self.file, text, strlen(text), error);
    return end_text(&self);
}

/* ---- sources ---- */

lode_status lode_origin_open(struct written_origin *origin, const char *path, lode_finding_fn on_finding,
                             void *user, lode_error *error)
{
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *origin = (struct written_origin){.directory = directory, .on_finding = on_finding, .user = user};
    /* A store that is a file has no source files and no taxonomy. */
    if (directory < 0 && errno == ENOTDIR)
        return LODE_OK;
    return directory < 0 ? lode_fail_errno(error, path, "cannot open the directory") : LODE_OK;
}

void lode_origin_close(struct written_origin *origin)
{
    if (origin->directory >= 0)
        close(origin->directory);
    origin->directory = -1;
}

/* Errors of the machine, not of the file. */
static bool is_of_machine(const lode_error *reason)
{
    int code = reason->os_errno;
    return reason->status == LODE_ERR_MEMORY || code == EIO || code == EMFILE || code == ENFILE;
}

lode_status lode_origin_leave_out(const struct written_origin *origin, const char *path,
                                  const lode_error *reason, lode_error *error)
{
    if (is_of_machine(reason)) {
        if (error)
            *error = *reason;
        return reason->status;
    }
    char text[sizeof reason->text + 64];
    snprintf(text, sizeof text, "%s; the file is omitted", reason->text);
    lode_finding finding = {"companion-file", LODE_WARNING, path, LODE_NO_OFFSET, text};
    if (origin->on_finding == NULL || origin->on_finding(origin->user, &finding) == 0)
        return LODE_OK;
    return lode_fail(error, LODE_ERR_CANCELLED, NULL, LODE_NO_OFFSET, "cancelled by the callback");
}

static bool is_below_src(const char *path)
{
    return strncmp(path, "src/", 4) == 0;
}

/* A path of the caller: it may be a link, but no pipe. */
static lode_status open_own(int *fd, const char *source, lode_error *error)
{
    struct stat status;
    *fd = open(source, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (*fd < 0)
        return lode_fail_errno(error, source, "cannot open the source file");
    if (fstat(*fd, &status) == 0 && S_ISREG(status.st_mode))
        return LODE_OK;
    close(*fd);
    *fd = -1;
    return lode_fail(error, LODE_ERR_IO, source, LODE_NO_OFFSET, "the source file is not a regular file");
}

/* Distinguishes errors of reading and of writing. */
struct copying {
    int from;
    struct lode_output_file to;
    const char *source;
    lode_error *error;  /* of writing */
    lode_error *reason; /* of reading */
    bool is_unreadable;
};

static lode_status copy_bytes(struct copying *self)
{
    char buffer[COPY_BUFFER];
    for (;;) {
        ssize_t got = read(self->from, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR)
            continue;
        self->is_unreadable = got < 0 || self->to.size > LODE_COMPANION_MAX;
        if (got < 0)
            return lode_fail_errno(self->reason, self->source, "cannot read");
        if (self->is_unreadable)
            return lode_fail(self->reason, LODE_ERR_LIMIT, self->source, LODE_NO_OFFSET,
                             "larger than the limit of %d MiB", LODE_COMPANION_MAX >> 20);
        if (got == 0)
            return LODE_OK;
        LODE_TRY(lode_output_write(&self->to, buffer, (size_t)got, self->error));
    }
}

static lode_status make_folder(struct lode_output *output, const char *path, lode_error *error)
{
    char *folder = strdup(path);
    if (folder == NULL)
        return lode_fail_memory(error);
    *strrchr(folder, '/') = '\0';
    lode_status status = lode_output_mkdir(output, folder, error);
    free(folder);
    return status;
}

/* Nobody may read the copy who may not read the original. */
static lode_status narrow(struct copying *self, const char *path)
{
    struct stat original;
    self->is_unreadable = fstat(self->from, &original) != 0;
    if (self->is_unreadable)
        return lode_fail_errno(self->reason, self->source, "cannot stat");
    return lode_access_narrow(self->to.fd, lode_access_of(&original), path, self->error);
}

static lode_status copy_file(struct copying *self, struct lode_output *output, const char *path)
{
    LODE_TRY(make_folder(output, path, self->error));
    LODE_TRY(lode_output_file_create(&self->to, output, path, self->error));
    lode_status status = narrow(self, path);
    if (status == LODE_OK)
        status = copy_bytes(self);
    if (status == LODE_OK)
        return lode_output_file_close(&self->to, self->error);
    lode_output_file_abandon(&self->to);
    if (self->is_unreadable)
        lode_output_file_remove(output, path);
    return status;
}

lode_status lode_hpct_copy_source_file(struct lode_output *output, const struct written_origin *origin,
                                       const char *path, const char *source, lode_error *error)
{
    lode_error reason = {0};
    bool is_own = origin->directory < 0 && origin->open == NULL;
    struct copying copying = {.source = source, .error = error, .reason = is_own ? error : &reason};
    if (!is_below_src(path) || (is_own && !lode_is_beneath(path)) || lode_output_has(output, path))
        return LODE_OK;
    lode_status status = is_own ? open_own(&copying.from, source, error)
                         : origin->open
                             ? origin->open(origin->opener, source, &copying.from, &reason)
                             : lode_companion_open(&copying.from, origin->directory, source, &reason);
    if (status == LODE_ABSENT)
        return LODE_OK;
    copying.is_unreadable = status != LODE_OK;
    if (status == LODE_OK) {
        status = copy_file(&copying, output, path);
        close(copying.from);
    }
    return copying.is_unreadable && !is_own ? lode_origin_leave_out(origin, path, &reason, error) : status;
}

/* From where the source opens it, from the sink's origin, or from that of the file. */
static lode_status put_source(struct hpct_sink *sink, const struct lode_file *file, lode_error *error)
{
    const struct lode_sink_options *options = &sink->base.options;
    struct written_origin origin = {.directory = -1,
                                    .on_finding = options->on_finding,
                                    .user = options->user,
                                    .open = options->open_source,
                                    .opener = options->opener};
    if (options->open_source)
        return lode_hpct_copy_source_file(&sink->base.output, &origin, file->path, file->source, error);
    if (options->origins == NULL)
        return lode_hpct_copy_source_file(&sink->base.output, &sink->origin, file->path, file->source, error);
    LODE_TRY(
        lode_origin_open(&origin, options->origins[file->origin], options->on_finding, options->user, error));
    lode_status status =
        lode_hpct_copy_source_file(&sink->base.output, &origin, file->path, file->source, error);
    lode_origin_close(&origin);
    return status;
}

lode_status lode_hpct_put_companions(struct hpct_sink *sink, lode_error *error)
{
    LODE_TRY(put_taxonomy(sink, error));
    LODE_TRY(put_text(sink, "metrics/METRICS.yaml.ex", example_text, error));
    LODE_TRY(put_text(sink, "FORMATS.md", formats_text, error));
    for (uint32_t i = 0; i < sink->base.about->file_count; i++) {
        const struct lode_file *file = &sink->base.about->files[i];
        if (file->copied && file->source)
            LODE_TRY(put_source(sink, file, error));
    }
    return LODE_OK;
}
