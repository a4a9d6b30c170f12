/* SPDX-License-Identifier: BSD-3-Clause */
/* `lode search` on databases: what has a name that matches a text. */
#include "commands/shared/recording.h"
#include "output/report.h"
#include "stores/session.h"
#include "text/label.h"

#include <string.h>

#define LIMIT_MAX 1000

/* In the order of lode_found_kind. */
static const struct found_kind {
    const char *name, *count_key;
} kinds[] = {{"function", "function_count"},
             {"file", "file_count"},
             {"module", "module_count"},
             {"metric", "metric_count"},
             {"profile", "profile_count"}};

/* In the order of lode_match. */
static const char *const match_names[] = {"none", "pattern", "part", "part", "whole", "whole", "whole"};

static const out_column columns[] = {
    {"kind", "Kind", OUT_STRING, OUT_ALWAYS},      {"index", "#", OUT_NUMBER, OUT_ALWAYS},
    {"match", "Match", OUT_STRING, OUT_DATA_ONLY}, {"name", "Name", OUT_STRING, OUT_ALWAYS},
    {"module", "", OUT_STRING, OUT_DATA_ONLY},     {"file", "", OUT_STRING, OUT_DATA_ONLY},
    {"line", "", OUT_NUMBER, OUT_DATA_ONLY},
};

static const char *name_of(label *l, const session *s, const lode_found_row *row, int names)
{
    switch (row->kind) {
    case LODE_FOUND_FUNCTION:
        return label_name(l, lode_database_function(s->db, row->index), names);
    case LODE_FOUND_FILE:
        return lode_file_path(lode_database_file(s->db, row->index));
    case LODE_FOUND_MODULE:
        return lode_module_path(lode_database_module(s->db, row->index));
    case LODE_FOUND_METRIC:
        return lode_metric_name(lode_database_metric(s->db, row->index));
    case LODE_FOUND_PROFILE:
        break;
    }
    return label_profile(l, s->db, row->index);
}

static void print_row(out *o, const session *s, const lode_found_row *row, label *l)
{
    const lode_function *function =
        row->kind == LODE_FOUND_FUNCTION ? lode_database_function(s->db, row->index) : NULL;
    uint32_t line = function ? lode_function_line(function) : 0;
    OUT_ROW(o, STYLE_PLAIN, kinds[row->kind].name, row->index, match_names[row->how],
            name_of(l, s, row, names_of_database(s->db, s->shared->names)),
            function ? path_of_module(lode_function_module(function)) : NULL,
            function ? path_of_file(lode_function_file(function)) : NULL, out_u64_if(line > 0, line));
}

static void print_found(out *o, const session *s, const lode_found *found, const char *text)
{
    uint64_t count = 0;
    size_t listed = 0;
    label l = {0};
    out_begin(o, SCHEMA_SEARCH_DATABASE, s->path);
    OUT_FIELDS(o, "text", text);
    for (int kind = 0; kind < LODE_FOUND_KINDS; kind++) {
        OUT_FIELDS(o, kinds[kind].count_key, lode_found_count(found, (lode_found_kind)kind));
        count += lode_found_count(found, (lode_found_kind)kind);
        listed += lode_found_listed(found, (lode_found_kind)kind);
    }
    out_fact_rows(o, listed, count);
    if (count == 0)
        out_say(o, "Nothing matches '%s'.", text);
    out_table(o, OUT_MAIN, "rows", columns, 7, UNIT_COUNT);
    for (int kind = 0; kind < LODE_FOUND_KINDS; kind++)
        for (size_t i = 0; i < lode_found_listed(found, (lode_found_kind)kind); i++)
            print_row(o, s, lode_found_at(found, (lode_found_kind)kind, i), &l);
    out_table_end(o);
    out_shown(o, listed, count, "matches");
    out_end(o);
    label_free(&l);
}

int search_database(const invocation *call)
{
    session s;
    lode_found *found = NULL;
    lode_error error = {0};
    if (call->operand_count < 2)
        return report("missing argument: TEXT (see 'lode help search')");
    uint64_t limit = call->shared->limit ? call->shared->limit : LIMIT_MAX;
    int status = session_open(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE &&
        lode_find(&found, s.db, call->operands[1], name_form(names_of_database(s.db, call->shared->names)),
                  limit < LIMIT_MAX ? (size_t)limit : LIMIT_MAX, &error) != LODE_OK)
        status = session_error(&s, &error);
    if (status == EXIT_DONE)
        print_found(call->out, &s, found, call->operands[1]);
    lode_found_free(found);
    session_close(&s);
    return status;
}
