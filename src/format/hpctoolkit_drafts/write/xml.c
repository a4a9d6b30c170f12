/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes experiment.xml: the document and its tables of names. */
#include "format/hpctoolkit_drafts/write/xml.h"
#include "format/replace.h"

#include "base/error.h"
#include "base/text/count.h"
#include "base/text/xml.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- strings ---- */

static void put_bytes(struct xml_writer *self, const char *bytes, size_t size)
{
    if (self->status == LODE_OK)
        self->status = lode_output_write(&self->file, bytes, size, self->error);
}

void lode_xml_put(struct xml_writer *self, const char *format, ...)
{
    char text[512]; /* names are written by lode_xml_put_text */
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0)
        put_bytes(self, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

static void put_part(void *user, const char *bytes, size_t size)
{
    put_bytes(user, bytes, size);
}

void lode_xml_put_text(struct xml_writer *self, const char *text)
{
    lode_xml_escape(text, put_part, self);
}

uint32_t lode_xml_number(struct xml_writer *self, struct lode_interner *interner, const void *item)
{
    uint32_t number = lode_interner_add(interner, item, NULL);
    if (number == LODE_NO_NUMBER && self->status == LODE_OK)
        self->status = lode_fail_memory(self->error);
    return number == LODE_NO_NUMBER ? 0 : number;
}

/* ---- tables ---- */

static void put_identifiers(struct xml_writer *self)
{
    lode_xml_put(self, "<IdentifierNameTable>\n");
    for (uint32_t i = 0; i < self->about->id_kind_count; i++) {
        lode_xml_put(self, "<Identifier i=\"%" PRIu32 "\" n=\"", i);
        lode_xml_put_text(self, self->about->id_kinds[i]);
        lode_xml_put(self, "\"/>\n");
    }
    lode_xml_put(self, "</IdentifierNameTable>\n");
}

static void put_trace_table(struct xml_writer *self)
{
    lode_xml_put(self, "<TraceDBTable>\n");
    if (self->out->base.options.traces)
        lode_xml_put(self,
                     "<TraceDB i=\"0\" db-min-time=\"%" PRIu64 "\" db-max-time=\"%" PRIu64
                     "\" u=\"1000000000\"/>\n",
                     self->about->trace_min, self->about->trace_max);
    lode_xml_put(self, "</TraceDBTable>\n");
}

static void put_modules(struct xml_writer *self)
{
    lode_xml_put(
        self,
        "<LoadModuleTable>\n<LoadModule i=\"%d\" n=\"&lt;unknown module&gt;\"/>\n<LoadModule i=\"%d\" n=\"&lt;no module&gt;\"/>\n",
        XML_UNKNOWN_MODULE, XML_NO_MODULE);
    for (uint32_t i = 0; i < self->about->module_count; i++) {
        lode_xml_put(self, "<LoadModule i=\"%" PRIu32 "\" n=\"", XML_FIRST_MODULE + i);
        lode_xml_put_text(self, self->about->modules[i].path);
        lode_xml_put(self, "\"/>\n");
    }
    lode_xml_put(self, "</LoadModuleTable>\n");
}

static void put_files(struct xml_writer *self)
{
    lode_xml_put(self, "<FileTable>\n<File i=\"%d\" n=\"&lt;unknown file&gt;\"/>\n", XML_UNKNOWN_FILE);
    for (uint32_t i = 0; i < self->about->file_count; i++) {
        const lode_file *file = &self->about->files[i];
        lode_xml_put(self, "<File i=\"%" PRIu32 "\" n=\"%s", i, file->copied ? "./" : "");
        lode_xml_put_text(self, file->path);
        lode_xml_put(self, "\"/>\n");
    }
    lode_xml_put(self, "</FileTable>\n");
}

/* ---- the document ---- */

static void put_document(struct xml_writer *self)
{
    const char *title = self->about->title;
    lode_xml_put(self, "<?xml version=\"1.0\"?>\n<HPCToolkitExperiment version=\"4.0\">\n<Header n=\"");
    lode_xml_put_text(self, title);
    lode_xml_put(self, "\">\n<Info/>\n</Header>\n<SecCallPathProfile i=\"0\" n=\"");
    lode_xml_put_text(self, title);
    lode_xml_put(self, "\">\n<SecHeader>\n");
    put_identifiers(self);
    lode_xml_put_metrics(self);
    put_trace_table(self);
    put_modules(self);
    put_files(self);
    lode_xml_put_procedures(self);
    lode_xml_put(self, "<Info/>\n</SecHeader>\n<SecCallPathProfileData>\n");
    lode_xml_put_contexts(self);
    lode_xml_put(self, "</SecCallPathProfileData>\n</SecCallPathProfile>\n</HPCToolkitExperiment>\n");
}

/* One remark on what was in the source and is not in the draft. */
static lode_status say_what_is_lost(struct xml_writer *self)
{
    const struct drafts_sink *out = self->out;
    uint64_t scopes = 0, statistics = 0;
    char text[4 * LODE_COUNTED_SIZE];
    for (uint32_t m = 0; m < self->about->metric_count; m++) {
        const lode_metric *metric = &self->about->metrics[m];
        for (uint32_t i = 0; i < metric->scope_count; i++)
            scopes += !out->values[metric->scopes[i].id];
        for (uint32_t i = 0; i < metric->statistic_count; i++)
            statistics += !out->statistics[metric->statistics[i].id];
    }
    if (out->base.options.on_finding == NULL || scopes + statistics + self->misplaced == 0)
        return LODE_OK;
    (void)snprintf(text, sizeof text,
                   "this draft cannot hold %s and %s of metrics, and %s of lines, loops and instructions",
                   LODE_COUNTED(scopes, "scope", "scopes"),
                   LODE_COUNTED(statistics, "statistic", "statistics"),
                   LODE_COUNTED(self->misplaced, "load module", "load modules"));
    const lode_finding finding = {"draft-lost", LODE_NOTE, "experiment.xml", LODE_NO_OFFSET, text};
    if (out->base.options.on_finding(out->base.options.user, &finding) != 0)
        return lode_fail(self->error, LODE_ERR_CANCELLED, NULL, LODE_NO_OFFSET, "cancelled");
    return LODE_OK;
}

static lode_status put_all(struct xml_writer *self)
{
    lode_error *error = self->error;
    if (self->about->file_count >= XML_UNKNOWN_FILE)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "there are more files than ids");
    self->procedure_of = calloc((size_t)self->about->tree.count + 1, sizeof *self->procedure_of);
    if (self->procedure_of == NULL)
        return lode_fail_memory(error);
    LODE_TRY(lode_output_file_create(&self->file, &self->out->base.output, "experiment.xml", error));
    put_document(self);
    LODE_TRY(self->status);
    LODE_TRY(say_what_is_lost(self));
    return lode_output_file_close(&self->file, error);
}

static lode_status put_meta(struct drafts_sink *out, lode_error *error)
{
    struct xml_writer self = {.out = out, .about = out->base.about, .file.fd = -1, .error = error};
    lode_interner_init(&self.instructions, sizeof(struct xml_instruction));
    lode_interner_init(&self.static_scopes, sizeof(struct xml_static_scope));
    lode_status status = put_all(&self);
    lode_interner_free(&self.instructions);
    lode_interner_free(&self.static_scopes);
    lode_output_file_abandon(&self.file);
    free(self.procedure_of);
    return status;
}

static lode_status create(struct lode_sink *base, lode_error *error)
{
    static const struct drafts_writer writer = {.choose = lode_xml_choose, .put_meta = put_meta};
    return lode_drafts_create(base, &writer, error);
}

const struct lode_sink_ops lode_drafts_xml_sink = DRAFTS_SINK(create);
