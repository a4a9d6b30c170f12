/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/shared/plots.h"

#include "alloc.h"
#include "commands/shared/id_tuple.h"
#include "commands/shared/recording.h"
#include "commands/shared/spread.h"
#include "output/report.h"
#include "text/label.h"

#include <stdlib.h>
#include <string.h>

const char *const profile_sort_choices[] = {[LODE_PROFILES_BY_VALUE] = "value",
                                            [LODE_PROFILES_BY_IDS] = "name",
                                            [LODE_PROFILES_BY_INDEX] = "index",
                                            NULL};

int plots_usage(const plot_options *options, const char *command)
{
    if (options->bins > PLOT_BINS_MAX)
        return report("--bins must not be above %d (see 'lode help %s')", PLOT_BINS_MAX, command);
    return EXIT_DONE;
}

int plots_find_kinds(session *s, const plot_options *options, unsigned kinds[2])
{
    unsigned found[LODE_GROUP_KINDS];
    size_t count;
    lode_error error = {0};
    kinds[0] = kinds[1] = 0;
    if (!options->matrix)
        return EXIT_DONE;
    if (lode_database_find_kinds(s->db, options->matrix, found, &count, &error) != LODE_OK)
        return session_error(s, &error);
    if (count != 2)
        return report("--matrix takes two kinds of ids, such as rank,thread, not '%s'", options->matrix);
    kinds[0] = found[0];
    kinds[1] = found[1];
    return EXIT_DONE;
}

/* Whose values they are: profiles of a database or, if it is NULL, tracks of a recording. */
typedef struct subject {
    const lode_database *db;
    const lode_recording *recording;
} subject;

static const char *name_of(label *l, const subject *of, uint32_t index)
{
    return of->db ? label_profile(l, of->db, index) : lode_recording_track(of->recording, index)->name;
}

enum {
    BIN_INDEX = 5,
    BIN_NAME = 6,
    BIN_COLUMNS = 7
};

static const out_column all_bin_columns[BIN_COLUMNS] = {
    {"first", "First", OUT_INTEGER, OUT_ALWAYS}, {"count", "Count", OUT_INTEGER, OUT_ALWAYS},
    {"min", "Min", OUT_REAL, OUT_ALWAYS},        {"mean", "Mean", OUT_REAL, OUT_ALWAYS},
    {"max", "Max", OUT_REAL, OUT_ALWAYS},        {"profile", "#", OUT_NUMBER, OUT_ALWAYS},
    {"name", "Profile", OUT_STRING, OUT_ALWAYS},
};

static void print_bins(out *o, const subject *of, const plot_options *options,
                       const lode_profile_value *values, size_t count, metric_unit unit)
{
    lode_profile_bin *bins = alloc_array(options->bins, sizeof *bins);
    size_t used = lode_profile_bins(bins, options->bins, values, count);
    out_column columns[BIN_COLUMNS];
    label l = {0};
    memcpy(columns, all_bin_columns, sizeof columns);
    if (!of->db) {
        columns[BIN_INDEX].key = "track";
        columns[BIN_NAME].title = "Name";
    }
    out_gap(o);
    out_table(o, OUT_SIDE, "bins", columns, BIN_COLUMNS, unit);
    for (size_t i = 0; i < used; i++) {
        OUT_ROW(o, STYLE_PLAIN, bins[i].first, bins[i].count, bins[i].min, bins[i].mean, bins[i].max,
                bins[i].profile, name_of(&l, of, bins[i].profile));
    }
    out_table_end(o);
    label_free(&l);
    free(bins);
}

static const out_column outlier_columns[] = {
    {"profile", "#", OUT_NUMBER, OUT_ALWAYS},
    {"value", "Value", OUT_REAL, OUT_ALWAYS},
    {"deviation", "From median", OUT_REAL, OUT_ALWAYS},
    {"name", "Outlier", OUT_STRING, OUT_ALWAYS},
    ID_TUPLE_COLUMN,
};

/* They have no ids. */
static const out_column track_outlier_columns[] = {
    {"track", "#", OUT_NUMBER, OUT_ALWAYS},
    {"value", "Value", OUT_REAL, OUT_ALWAYS},
    {"deviation", "From median", OUT_REAL, OUT_ALWAYS},
    {"name", "Outlier", OUT_STRING, OUT_ALWAYS},
};

/* The farthest ones; moves them to the front. */
static void print_outliers(out *o, const subject *of, lode_profile_value *values, size_t count,
                           const lode_distribution *d, metric_unit unit)
{
    size_t outliers = lode_profile_outliers(values, count, d);
    label l = {0};
    OUT_FIELDS(o, "outlier_count", outliers);
    out_gap(o);
    if (!outliers)
        out_say(o, "No outliers (more than 1.5 interquartile ranges beyond the quartiles)");
    out_table(o, OUT_SIDE, "outliers", of->db ? outlier_columns : track_outlier_columns, of->db ? 5 : 4,
              unit);
    for (size_t i = 0; i < outliers && i < PLOT_OUTLIERS; i++) {
        out_row(o, STYLE_PLAIN);
        OUT_CELLS(o, values[i].profile, values[i].value, values[i].deviation,
                  name_of(&l, of, values[i].profile));
        if (of->db)
            id_tuple_cell(o, of->db, values[i].profile);
        out_row_end(o);
    }
    out_table_end(o);
    label_free(&l);
}

static void print_histogram(out *o, const plot_options *options, const lode_distribution *d,
                            const double *sorted, size_t count, metric_unit unit)
{
    size_t bins = options->bins < PLOT_HISTOGRAM_MAX ? (size_t)options->bins : PLOT_HISTOGRAM_MAX;
    if (d->max <= d->min)
        return;
    out_gap(o);
    spread_histogram(o, "value_histogram", d, sorted, count, bins, unit);
}

static void print_parts(out *o, const subject *of, const plot_options *options, lode_profile_value *values,
                        size_t count, metric_unit unit)
{
    double *sorted = alloc_array(count, sizeof *sorted);
    lode_distribution d;
    print_bins(o, of, options, values, count, unit);
    for (size_t i = 0; i < count; i++)
        sorted[i] = values[i].value;
    lode_distribution_of(&d, sorted, count);
    print_histogram(o, options, &d, sorted, count, unit);
    print_outliers(o, of, values, count, &d, unit);
    free(sorted);
}

static const out_column cell_columns[] = {
    {"row_first", "Row from", OUT_NUMBER, OUT_ALWAYS},
    {"row_last", "to", OUT_NUMBER, OUT_ALWAYS},
    {"column_first", "Column from", OUT_NUMBER, OUT_ALWAYS},
    {"column_last", "to", OUT_NUMBER, OUT_ALWAYS},
    {"profiles", "Profiles", OUT_INTEGER, OUT_ALWAYS},
    {"min", "Min", OUT_REAL, OUT_ALWAYS},
    {"mean", "Mean", OUT_REAL, OUT_ALWAYS},
    {"max", "Max", OUT_REAL, OUT_ALWAYS},
    {"profile", "#", OUT_NUMBER, OUT_ALWAYS},
};

static void print_cell(out *o, const lode_id_range *row, const lode_id_range *column,
                       const lode_matrix_cell *cell)
{
    if (cell->profiles == 0)
        return;
    OUT_ROW(o, STYLE_PLAIN, row->first, row->last, column->first, column->last, cell->profiles, cell->min,
            cell->mean, cell->max, cell->profile);
}

static void print_matrix(out *o, const session *s, const lode_profile_matrix *matrix, const unsigned kinds[2],
                         metric_unit unit)
{
    const char *rows = lode_database_id_kind_name(s->db, kinds[0]);
    const char *columns = lode_database_id_kind_name(s->db, kinds[1]);
    OUT_FIELDS(o, "matrix_rows", rows, "matrix_columns", columns, "matrix_profiles_without_ids",
               lode_profile_matrix_without(matrix));
    out_say(o, "\nRows: %s, columns: %s", rows, columns);
    out_table(o, OUT_SIDE, "matrix", cell_columns, 9, unit);
    for (size_t r = 0; r < lode_profile_matrix_rows(matrix); r++)
        for (size_t c = 0; c < lode_profile_matrix_columns(matrix); c++)
            print_cell(o, lode_profile_matrix_row(matrix, r), lode_profile_matrix_column(matrix, c),
                       lode_profile_matrix_cell(matrix, r, c));
    out_table_end(o);
}

int plots_print(out *o, session *s, const plot_options *options, const unsigned kinds[2],
                lode_profile_value *values, size_t count, lode_profile_order sort)
{
    metric_unit unit = unit_of_metric(lode_metric_name(s->metric));
    lode_profile_matrix *matrix = NULL;
    lode_error error = {0};
    if (options->matrix) {
        if (lode_profile_matrix_make(&matrix, s->db, values, count, kinds, PLOT_MATRIX_MAX, &error) !=
            LODE_OK)
            return session_error(s, &error);
        print_matrix(o, s, matrix, kinds, unit);
        lode_profile_matrix_free(matrix);
    }
    if (options->bins == 0)
        return EXIT_DONE;
    if (lode_profile_values_sort(values, count, s->db, sort, &error) != LODE_OK)
        return session_error(s, &error);
    print_parts(o, &(subject){.db = s->db}, options, values, count, unit);
    return EXIT_DONE;
}

void plots_print_tracks(out *o, const lode_recording *recording, const plot_options *options,
                        lode_profile_value *values, size_t count)
{
    if (options->bins)
        print_parts(o, &(subject){.recording = recording}, options, values, count, UNIT_NANOSECONDS);
}
