/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a database with a profile for each of four ranks: write DATABASE */
#include <lode/lode.h>
#include <stdio.h>

#define TRY(call)                                                                                            \
    if ((call) != LODE_OK)                                                                                   \
    return error->status

/* main calls solve: a metric in seconds, whose own cost is given and whose inclusive cost is computed. */
static lode_status describe(lode_writer *writer, uint32_t *metric, uint32_t *solve, lode_error *error)
{
    lode_writer_function functions[] = {{"main", LODE_NONE, LODE_NONE, 0, 0},
                                        {"solve", LODE_NONE, LODE_NONE, 0, 0}};
    lode_writer_context entry = LODE_WRITER_CONTEXT_INIT, call = LODE_WRITER_CONTEXT_INIT;
    uint32_t scope;
    TRY(lode_writer_add_id_kind(writer, "SUMMARY", NULL, error));
    TRY(lode_writer_add_id_kind(writer, "RANK", NULL, error));
    TRY(lode_writer_add_scope(writer, "execution", LODE_SCOPE_EXECUTION, 0, &scope, error));
    TRY(lode_writer_add_metric(writer, "TIME (sec)", metric, error));
    TRY(lode_writer_add_metric_scope(writer, *metric, scope, NULL, error));
    TRY(lode_writer_add_statistic(writer, *metric, scope, "$$", LODE_COMBINE_SUM, error));
    entry.entry = LODE_ENTRY_MAIN_THREAD, entry.entry_name = "main thread";
    TRY(lode_writer_add_context(writer, &entry, &call.parent, error));
    call.lexical = LODE_LEXICAL_FUNCTION, call.relation = LODE_RELATION_CALL;
    TRY(lode_writer_add_function(writer, &functions[0], &call.function, error));
    TRY(lode_writer_add_context(writer, &call, &call.parent, error));
    TRY(lode_writer_add_function(writer, &functions[1], &call.function, error));
    return lode_writer_add_context(writer, &call, solve, error);
}

static lode_status write_all(lode_writer *writer, lode_profile_builder **builder, lode_error *error)
{
    uint32_t metric, solve;
    TRY(describe(writer, &metric, &solve, error));
    TRY(lode_writer_seal(writer, error));
    TRY(lode_profile_builder_create(builder, writer, error));
    for (uint32_t rank = 0; rank < 4; rank++) {
        TRY(lode_profile_builder_begin(*builder, &(lode_id){1, 0, rank, rank}, 1, error));
        TRY(lode_profile_builder_point(*builder, solve, metric, 1.5 + rank, error));
        TRY(lode_profile_builder_end(*builder, error));
        TRY(lode_writer_append(writer, *builder, error));
    }
    return lode_writer_finish(writer, error);
}

int main(int argc, char **argv)
{
    lode_error error = {.text = "usage: write DATABASE"};
    lode_writer *writer = NULL;
    lode_profile_builder *builder = NULL;
    char text[512];
    lode_status status = argc == 2 ? lode_writer_open(&writer, argv[1], NULL, &error) : LODE_ERR_ARGUMENT;
    if (status == LODE_OK)
        status = write_all(writer, &builder, &error);
    lode_profile_builder_free(builder);
    lode_writer_close(writer); /* removes what was not finished */
    lode_error_text(&error, text, sizeof text);
    return status == LODE_OK ? 0 : fprintf(stderr, "write: %s\n", text) < 0 ? 3 : 2;
}
