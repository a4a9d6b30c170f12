/* SPDX-License-Identifier: BSD-3-Clause */
/* Structure files without hpcstruct: what lode-symbols finds of all code of binaries. */
#include "format/hpcrun/scopes/module_file.h"
#include "format/hpcrun/scopes/structure_write.h"

#include <stdlib.h>

struct making {
    const lode_structure_options *options;
    struct hpcrun_asking asking;
    struct hpcstruct_writer *writer; /* NULL: nothing is written */
    lode_structure_result *result;
    lode_error *error;
};

static const struct hpcstruct_scope *scope_at(const struct hpcstruct_module *module, uint32_t number)
{
    return LODE_ARRAY_AT(&module->scopes, struct hpcstruct_scope, number);
}

static const char *string_at(const struct hpcstruct_module *module, uint32_t number)
{
    return number == LODE_NO_NUMBER ? NULL : lode_strings_at(module->strings, number);
}

/* A loop, with the function or inlined function that it is in. */
static lode_status tell_loop(const struct making *self, const struct hpcstruct_module *module,
                             uint32_t number)
{
    const struct hpcstruct_scope *loop = scope_at(module, number);
    lode_structure_loop told = {.binary = module->path,
                                .file = string_at(module, loop->file),
                                .line = loop->line,
                                .depth = 1,
                                .address = loop->address};
    bool has_function = false;
    for (uint32_t at = loop->parent; at != LODE_NO_NUMBER; at = scope_at(module, at)->parent) {
        const struct hpcstruct_scope *scope = scope_at(module, at);
        bool is_function = scope->kind == HPCSTRUCT_FUNCTION || scope->kind == HPCSTRUCT_INLINED;
        told.depth += scope->kind == HPCSTRUCT_LOOP;
        if (is_function && !has_function)
            told.function = string_at(module, scope->name);
        has_function |= is_function;
        told.function_address = scope->address;
    }
    return self->options->on_loop(self->options->user, &told)
               ? lode_fail(self->error, LODE_ERR_CANCELLED, module->path, LODE_NO_OFFSET, "cancelled")
               : LODE_OK;
}

static lode_status use_reply(const struct making *self, struct binary_reply *reply, const char *path)
{
    struct hpcstruct_module *module = &reply->module;
    uint64_t functions = self->result->functions;
    module->path = path;
    self->result->lacks_lines |= !reply->has_debug;
    for (uint32_t i = 0; i < module->scopes.count && self->options->on_loop; i++)
        if (scope_at(module, i)->kind == HPCSTRUCT_LOOP)
            LODE_TRY(tell_loop(self, module, i));
    LODE_TRY(lode_hpcstruct_write(self->writer, module, self->result, self->error));
    if (self->result->functions > functions)
        return LODE_OK;
    return lode_report_add(
        self->asking.report, HPCRUN_RULE_BINARY_UNREAD, path, LODE_NO_OFFSET,
        "no function was found: the file has neither symbols nor .eh_frame, or is damaged");
}

static lode_status make_one(const struct making *self, const char *binary)
{
    struct binary_asking asking = {
        .all = &self->asking, .path = binary, .rule = HPCRUN_RULE_BINARY_UNREAD, .error = self->error};
    struct binary_reply reply;
    char *real = realpath(binary, NULL);
    if (real == NULL)
        return lode_fail_errno(self->error, binary, "cannot open");
    bool is_found = lode_module_file_find(&asking.file, &self->asking, real, NULL);
    if (!is_found) {
        free(real);
        return lode_fail(self->error, LODE_ERR_UNSUPPORTED, binary, LODE_NO_OFFSET, "not a regular file");
    }
    asking.request = (struct binary_request){
        .helper = self->asking.binaries.helper, .debug = -1, .has_loops = true, .is_all = true};
    lode_status status = lode_hpcrun_ask_file(&asking, &reply);
    if (status == LODE_OK)
        status = use_reply(self, &reply, real);
    else if (status == LODE_END)
        status = lode_fail(self->error, LODE_ERR_UNSUPPORTED, binary, LODE_NO_OFFSET, "%s", reply.why);
    lode_binary_free(&reply);
    lode_module_file_close(&asking.file);
    free(real);
    return status;
}

static lode_status make_all(struct making *self, const char *const *binaries, size_t count)
{
    struct lode_report report;
    lode_status status = lode_report_begin(&report, lode_hpcrun_rules, HPCRUN_RULE_COUNT, false,
                                           self->options->on_finding, self->options->user, self->error);
    self->asking.report = &report;
    for (size_t i = 0; i < count && status == LODE_OK; i++)
        status = make_one(self, binaries[i]);
    lode_report_close(&report);
    self->asking.report = NULL;
    return status;
}

static lode_status write_file(struct making *self, const char *const *binaries, size_t count)
{
    struct lode_output output = LODE_OUTPUT_INIT;
    struct hpcstruct_writer writer = {.error = self->error};
    lode_status status =
        lode_output_create_file(&output, self->options->target, self->options->force, self->error);
    if (status == LODE_OK)
        status = lode_output_file_single(&writer.file, &output, self->error);
    if (status != LODE_OK) {
        lode_output_close(&output);
        return status;
    }
    self->writer = &writer;
    lode_hpcstruct_begin(&writer);
    status = make_all(self, binaries, count);
    lode_hpcstruct_end(&writer);
    self->writer = NULL;
    if (status == LODE_OK)
        status = writer.status;
    if (status == LODE_OK)
        status = lode_output_file_close(&writer.file, self->error);
    else
        lode_output_file_abandon(&writer.file);
    if (status == LODE_OK)
        status = lode_output_commit(&output, self->error);
    lode_output_close(&output);
    return status;
}

lode_status lode_structure_write(const char *const *binaries, size_t count,
                                 const lode_structure_options *options, lode_structure_result *result,
                                 lode_error *error)
{
    struct binary_helper helper = BINARY_HELPER_INIT(options->symbols_program);
    struct making self = {.options = options,
                          .asking = {.binaries = {.program = options->symbols_program,
                                                  .helper = &helper,
                                                  .debug_size_most = options->debug_size_most}},
                          .result = result,
                          .error = error};
    *result = (lode_structure_result){0};
    if (options->symbols_program == NULL)
        return lode_fail(error, LODE_ERR_UNSUPPORTED, "lode-symbols", LODE_NO_OFFSET,
                         "not found; it reads binaries");
    lode_status status =
        options->target ? write_file(&self, binaries, count) : make_all(&self, binaries, count);
    lode_binary_helper_close(&helper);
    return status;
}
