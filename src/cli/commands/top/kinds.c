/* SPDX-License-Identifier: BSD-3-Clause */
/* `lode top --by kind` on recordings: what calls of each kind of function took. */
#include "commands/shared/recording.h"

#include "output/report.h"
#include "stores/damage.h"
#include "stores/rec_session.h"
#include "text/label.h"

enum {
    COLUMN_COUNT = 7
};

static const out_column columns[COLUMN_COUNT] = {
    {"self_ns", "Self", OUT_REAL, OUT_ALWAYS},
    {"self_percent", "%", OUT_PERCENT, OUT_ALWAYS},
    {"total_ns", "Total", OUT_REAL, OUT_ALWAYS},
    {"total_percent", "%", OUT_PERCENT, OUT_ALWAYS},
    {"functions", "Functions", OUT_INTEGER, OUT_ALWAYS},
    {"name", "Kind", OUT_STRING, OUT_ALWAYS},
    {"kind", "", OUT_STRING, OUT_DATA_ONLY},
};

static void write_row(out *o, const lode_hotspot *row, double whole, label *l)
{
    OUT_ROW(o, STYLE_PLAIN, row->exclusive, out_share(row->exclusive, whole), row->inclusive,
            out_share(row->inclusive, whole), row->functions, label_hotspot(l, row),
            kind_of_hotspot(row, LODE_BY_KIND, NULL));
}

static void print_kinds(out *o, rec_session *s, const lode_cost *cost, const lode_hotspots *rows)
{
    label l = {0};
    size_t count = lode_hotspots_count(rows);
    size_t shown = s->shared->limit && s->shared->limit < count ? (size_t)s->shared->limit : count;
    char total[NUMBER_SIZE], tracks[2 * NUMBER_SIZE];
    format_amount(total, lode_cost_total(cost), UNIT_NANOSECONDS);
    rec_say_tracks(tracks, sizeof tracks, s);
    out_begin(o, SCHEMA_TOP_KINDS, s->path);
    rec_write_slice(o, s);
    OUT_FIELDS(o, "total_ns", lode_cost_total(cost));
    out_say(o, "%s in %s\n", total, tracks);
    OUT_FIELDS(o, "by", "kind");
    out_fact_rows(o, shown, count);
    out_table(o, OUT_MAIN, "rows", columns, COLUMN_COUNT, UNIT_NANOSECONDS);
    for (size_t i = 0; i < shown; i++)
        write_row(o, lode_hotspots_at(rows, i), lode_cost_total(cost), &l);
    out_table_end(o);
    out_shown(o, shown, count, "rows");
    rec_say_estimate(o, s);
    if (count == 0)
        out_say(o, "No calls.");
    damage_write(o);
    out_end(o);
    label_free(&l);
}

static int compute_kinds(const invocation *call, rec_session *s, const lode_cost *cost,
                         const lode_hotspot_options *asked)
{
    lode_hotspots *rows = NULL;
    lode_error error = {0};
    if (lode_hotspots_select(&rows, cost, asked, &error) != LODE_OK)
        return rec_error(s, &error);
    print_kinds(call->out, s, cost, rows);
    lode_hotspots_free(rows);
    return EXIT_DONE;
}

int top_kinds(const invocation *call, lode_hotspot_sort sort, top_list *list)
{
    rec_session s;
    lode_hotspot_options asked = LODE_HOTSPOT_OPTIONS_INIT;
    asked.by = LODE_BY_KIND;
    asked.sort = sort;
    asked.kinds = list->kinds;
    int status = rec_open_slice(&s, call->operands[0], call->shared);
    const lode_calltree *tree = status == EXIT_DONE ? rec_calltree(&s) : NULL;
    if (tree == NULL)
        status = EXIT_TROUBLE;
    else if (list->name)
        status = top_list_print(call->out, list, lode_calltree_cost(tree));
    else
        status = compute_kinds(call, &s, lode_calltree_cost(tree), &asked);
    rec_close(&s);
    return status;
}
