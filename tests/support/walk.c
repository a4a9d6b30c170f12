/* SPDX-License-Identifier: BSD-3-Clause */
#include "walk.h"

#include <lode/private/columns.h>
#include <lode/unstable.h>
#include <pthread.h>
#include <string.h>

static void mix(uint64_t *hash, uint64_t number)
{
    *hash = (*hash ^ number) * UINT64_C(0x100000001b3);
    *hash ^= *hash >> 29;
}

static void mix_text(uint64_t *hash, const char *text)
{
    /* Strings may overlap in hostile files: the first bytes of each are enough. */
    for (size_t i = 0; text && text[i] && i < 256; i++)
        mix(hash, (unsigned char)text[i]);
}

static void mix_double(uint64_t *hash, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    mix(hash, bits);
}

static void walk_names(uint64_t *hash, const lode_database *db)
{
    char label[128];
    mix_text(hash, lode_database_title(db));
    mix_text(hash, lode_database_description(db));
    for (unsigned i = 0; i < lode_database_id_kind_count(db); i++)
        mix_text(hash, lode_database_id_kind_name(db, i));
    for (uint32_t i = 0; i < lode_database_module_count(db); i++)
        mix_text(hash, lode_module_path(lode_database_module(db, i)));
    for (uint32_t i = 0; i < lode_database_file_count(db); i++)
        mix_text(hash, lode_file_path(lode_database_file(db, i)));
    for (uint32_t i = 0; i < lode_database_function_count(db); i++) {
        lode_function_label(lode_database_function(db, i), label, sizeof label);
        mix_text(hash, label);
    }
}

static void walk_metrics(uint64_t *hash, const lode_database *db)
{
    for (uint32_t i = 0; i < lode_database_scope_count(db); i++)
        mix_text(hash, lode_scope_name(lode_database_scope(db, i)));
    for (uint32_t i = 0; i < lode_database_metric_count(db); i++) {
        const lode_metric *metric = lode_database_metric(db, i);
        lode_metric_scope scope;
        lode_metric_statistic statistic;
        mix_text(hash, lode_metric_name(metric));
        for (uint32_t k = 0; lode_metric_scope_at(metric, k, &scope) == LODE_OK; k++)
            mix(hash, scope.id + (uint64_t)lode_scope_index(scope.scope) * 65536);
        for (uint32_t k = 0; lode_metric_statistic_at(metric, k, &statistic) == LODE_OK; k++)
            mix_text(hash, statistic.formula);
    }
}

static void walk_contexts(uint64_t *hash, const lode_database *db)
{
    char label[128];
    for (uint32_t i = 0; i < lode_database_context_count(db); i++) {
        const lode_context *context = lode_database_context_at(db, i);
        const lode_context *parent = lode_context_parent(context);
        lode_context_label(context, label, sizeof label);
        mix_text(hash, label);
        mix(hash, lode_context_id(context));
        mix(hash, parent ? lode_context_index(parent) : UINT32_MAX);
        mix(hash, lode_context_propagation(context));
        mix(hash, lode_context_next_sibling(context) != NULL);
        mix(hash, lode_database_context(db, lode_context_id(context)) == context);
    }
}

static void walk_block(uint64_t *hash, const lode_block *block)
{
    lode_group group;
    for (uint32_t i = 0; lode_block_group(block, i, &group, NULL) == LODE_OK; i++) {
        mix(hash, group.key);
        for (uint64_t k = 0; k < group.count; k++) {
            lode_value value;
            if (lode_block_read(block, group.first + k, 1, &value) == LODE_OK) {
                mix(hash, value.key);
                mix_double(hash, value.value);
            }
        }
    }
}

static void walk_values(uint64_t *hash, const lode_database *db)
{
    lode_block block;
    lode_id ids[8];
    uint32_t count;
    char label[128];
    for (uint32_t i = 0; i < lode_database_profile_count(db); i++) {
        lode_status status = lode_profile_ids(db, i, ids, 8, &count, NULL);
        mix(hash, (uint64_t)status + count);
        lode_profile_label(db, i, label, sizeof label);
        mix_text(hash, label);
        if (lode_profile_block(db, i, &block, NULL) == LODE_OK)
            walk_block(hash, &block);
    }
    for (uint32_t i = 0; i < lode_database_context_block_count(db); i++)
        if (lode_context_block(db, i, &block, NULL) == LODE_OK)
            walk_block(hash, &block);
}

static void walk_traces(uint64_t *hash, const lode_database *db)
{
    lode_trace_line line;
    lode_sample sample;
    for (uint32_t i = 0; i < lode_database_trace_count(db); i++) {
        if (lode_database_trace_line(db, i, &line, NULL) != LODE_OK)
            continue;
        for (uint64_t k = 0; lode_trace_line_sample(&line, k, &sample) == LODE_OK; k++)
            mix(hash, sample.time * 31 + sample.context_id);
        mix(hash, lode_trace_line_seek(&line, sample.time));
    }
}

static uint64_t element(const lode_column *column, uint64_t index)
{
    static const size_t sizes[] = {1, 2, 4, 8, 8, 0};
    uint64_t number = 0;
    const unsigned char *at = (const unsigned char *)column->data + index * column->stride;
    memcpy(&number, at, sizes[column->type]);
    return number;
}

static void walk_table(uint64_t *hash, lode_table *table)
{
    lode_column column;
    for (unsigned i = 0; i < lode_table_columns(table); i++) {
        for (uint64_t first = 0; lode_table_read(table, i, first, 100, &column, NULL) == LODE_OK;
             first += 100)
            for (uint64_t k = 0; k < column.count; k++)
                mix(hash, element(&column, k));
    }
    lode_table_free(table);
}

static void walk_tables(uint64_t *hash, const lode_database *db)
{
    lode_table *table;
    lode_block block;
    lode_trace_line line;
    for (int kind = 0; kind < LODE_TABLE_COUNT; kind++)
        if (lode_database_table(&table, db, (lode_table_kind)kind, NULL) == LODE_OK)
            walk_table(hash, table);
    for (uint32_t i = 0; i < 2 && lode_profile_block(db, i, &block, NULL) == LODE_OK; i++) {
        if (lode_block_groups_table(&table, &block, NULL) == LODE_OK)
            walk_table(hash, table);
        if (lode_block_values_table(&table, &block, NULL) == LODE_OK)
            walk_table(hash, table);
    }
    if (lode_database_trace_line(db, 0, &line, NULL) == LODE_OK &&
        lode_trace_line_table(&table, &line, NULL) == LODE_OK)
        walk_table(hash, table);
}

static void walk_cursor(uint64_t *hash, const lode_database *db, lode_values_path path, int metric)
{
    lode_values_options options = LODE_VALUES_OPTIONS_INIT;
    lode_values *values;
    lode_column columns[LODE_VALUES_COLUMNS];
    options.path = path;
    options.metric = metric;
    if (lode_values_open(&values, db, &options, NULL) != LODE_OK)
        return;
    while (lode_values_next(values, columns, NULL) == LODE_OK)
        for (uint64_t k = 0; k < columns[0].count; k++)
            for (size_t i = 0; i < LODE_VALUES_COLUMNS; i++)
                mix(hash, element(&columns[i], k));
    mix(hash, lode_values_bytes_read(values));
    lode_values_close(values);
}

static void walk_hotspots(uint64_t *hash, const lode_cost *cost)
{
    for (unsigned by = LODE_BY_FUNCTION; by <= LODE_BY_FILE; by++) {
        lode_hotspots *hotspots;
        if (lode_hotspots_compute(&hotspots, cost, (lode_group_by)by, LODE_SORT_EXCLUSIVE, NULL) != LODE_OK)
            continue;
        for (size_t i = 0; i < lode_hotspots_count(hotspots); i++) {
            const lode_hotspot *row = lode_hotspots_at(hotspots, i);
            mix_double(hash, row->inclusive);
            mix_double(hash, row->exclusive);
            mix(hash, lode_context_id(row->sample));
        }
        lode_hotspots_free(hotspots);
    }
}

static void walk_views(uint64_t *hash, const lode_cost *cost)
{
    for (unsigned mode = LODE_VIEW_TOP_DOWN; mode <= LODE_VIEW_CALLERS; mode++) {
        lode_view_options options = LODE_VIEW_OPTIONS_INIT;
        lode_view *view;
        options.mode = (lode_view_mode)mode;
        options.depth = 30;
        options.max_rows = 2000;
        if (lode_view_build(&view, cost, &options, NULL) != LODE_OK)
            continue;
        for (size_t i = 0; i < lode_view_count(view); i++) {
            mix_double(hash, lode_view_at(view, i)->inclusive);
            mix(hash, lode_view_at(view, i)->depth);
        }
        lode_view_free(view);
    }
}

/* Expands all there is, in an order of its own. */
static void walk_outline(uint64_t *hash, const lode_cost *cost, lode_view_mode mode)
{
    lode_view_options options = LODE_VIEW_OPTIONS_INIT;
    lode_outline *outline;
    lode_view_row row;
    uint32_t first, count, known = 1;
    options.mode = mode;
    if (lode_outline_open(&outline, cost, &options, NULL) != LODE_OK)
        return;
    for (uint32_t node = 0; node < known && node < 1000; node++) {
        if (lode_outline_expand(outline, node, &first, &count, NULL) != LODE_OK)
            break;
        known = first + count > known ? first + count : known;
        for (uint32_t i = first; i < first + count; i++)
            if (lode_outline_row(outline, i, &row, sizeof row, NULL) == LODE_OK)
                mix_double(hash, row.inclusive + row.exclusive);
    }
    lode_outline_close(outline);
}

static void walk_costs(uint64_t *hash, const lode_database *db, unsigned threads)
{
    lode_selection *selection = NULL;
    if (lode_selection_parse(&selection, db, "thread=0-3", NULL) != LODE_OK)
        selection = NULL;
    for (unsigned i = 0; i < 2; i++) {
        lode_cost_options options = LODE_COST_OPTIONS_INIT;
        lode_cost *cost;
        options.threads = threads;
        options.selection = i == 0 ? NULL : selection;
        if (lode_cost_compute(&cost, db, &options, NULL) != LODE_OK)
            continue;
        mix(hash, lode_cost_unlisted_values(cost));
        walk_hotspots(hash, cost);
        walk_views(hash, cost);
        for (int mode = LODE_VIEW_TOP_DOWN; mode <= LODE_VIEW_FLAT; mode++)
            walk_outline(hash, cost, (lode_view_mode)mode);
        lode_cost_free(cost);
    }
    lode_selection_free(selection);
}

static void walk_efficiencies(uint64_t *hash, const lode_database *db, unsigned threads)
{
    static const unsigned kind = 2;
    const uint64_t phases[] = {0, 3};
    for (size_t p = 0; p < 2; p++) {
        lode_efficiency_options options = LODE_EFFICIENCY_OPTIONS_INIT;
        lode_efficiencies *efficiencies;
        options.threads = threads;
        options.phases = phases[p];
        options.by = &kind;
        options.by_count = 1;
        if (lode_efficiencies_compute(&efficiencies, db, &options, NULL) != LODE_OK)
            continue;
        for (size_t i = 0; i < lode_efficiencies_count(efficiencies); i++) {
            mix_double(hash, lode_efficiencies_at(efficiencies, i)->useful);
            mix_double(hash, lode_efficiencies_at(efficiencies, i)->efficiency->parallel);
        }
        lode_efficiencies_free(efficiencies);
    }
}

static void walk_diagnosis(uint64_t *hash, const lode_database *db, unsigned threads)
{
    lode_diagnose_options options = LODE_DIAGNOSE_OPTIONS_INIT;
    lode_diagnosis *diagnosis;
    const lode_statement *statement;
    const lode_quality_note *note;
    options.threads = threads;
    if (lode_diagnose(&diagnosis, db, &options, NULL) != LODE_OK)
        return;
    for (size_t i = 0; (note = lode_diagnosis_note(diagnosis, i)) != NULL; i++)
        mix_text(hash, note->text);
    for (size_t i = 0; (statement = lode_diagnosis_statement(diagnosis, i)) != NULL; i++) {
        mix_text(hash, statement->text);
        mix_double(hash, statement->gain);
        for (size_t e = 0; e < statement->evidence_count; e++)
            mix_text(hash, statement->evidence[e].text);
    }
    for (int i = 0; i <= LODE_ACTIVITY_COUNT; i++)
        mix_double(hash, lode_diagnosis_activity(diagnosis, i));
    lode_diagnosis_free(diagnosis);
}

static void walk_timeline(uint64_t *hash, const lode_database *db, unsigned threads)
{
    lode_timeline_options options = LODE_TIMELINE_OPTIONS_INIT;
    lode_timeline *timeline;
    options.threads = threads;
    options.columns = 20;
    if (lode_timeline_compute(&timeline, db, &options, NULL) != LODE_OK)
        return;
    for (size_t i = 0; i < lode_timeline_share_count(timeline); i++)
        mix(hash, lode_timeline_share_at(timeline, i)->nanoseconds);
    for (uint32_t row = 0; row < lode_timeline_row_count(timeline); row++)
        for (unsigned column = 0; column < 20; column++)
            mix(hash, (uint64_t)lode_timeline_cell(timeline, row, column));
    lode_timeline_free(timeline);
}

static void walk_picture(uint64_t *hash, const lode_database *db, unsigned threads)
{
    lode_picture_options options = LODE_PICTURE_OPTIONS_INIT;
    lode_picture *picture;
    options.threads = threads;
    options.columns = 20;
    options.rows = 3;
    options.idle = LODE_PICTURE_IDLE_LAST;
    for (int quality = LODE_PICTURE_EXACT; quality <= LODE_PICTURE_PROBES; quality++) {
        options.quality = (lode_picture_quality)quality;
        if (lode_picture_compute(&picture, db, &options, NULL) != LODE_OK)
            return;
        for (size_t i = 0; i < lode_picture_share_count(picture); i++)
            mix(hash, lode_picture_share_at(picture, i)->nanoseconds);
        for (size_t i = 0; i < (size_t)lode_picture_rows(picture) * options.columns; i++)
            mix(hash, lode_picture_keys(picture)[i] + UINT64_C(256) * lode_picture_fills(picture)[i]);
        lode_picture_free(picture);
    }
}

uint64_t walk_database(const lode_database *db, unsigned threads)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    walk_names(&hash, db);
    walk_metrics(&hash, db);
    walk_contexts(&hash, db);
    walk_values(&hash, db);
    walk_traces(&hash, db);
    walk_tables(&hash, db);
    walk_cursor(&hash, db, LODE_VALUES_BY_PROFILES, -1);
    walk_cursor(&hash, db, LODE_VALUES_BY_CONTEXTS, -1);
    walk_cursor(&hash, db, LODE_VALUES_CHEAPER, 1);
    walk_costs(&hash, db, threads);
    walk_diagnosis(&hash, db, threads);
    walk_efficiencies(&hash, db, threads);
    walk_timeline(&hash, db, threads);
    walk_picture(&hash, db, threads);
    return hash;
}

struct walker {
    pthread_t thread;
    const lode_database *db;
    uint64_t result;
};

static void *walk(void *argument)
{
    struct walker *walker = argument;
    walker->result = walk_database(walker->db, 2);
    return NULL;
}

bool walk_with_threads(const lode_database *db, unsigned count)
{
    struct walker walkers[64];
    uint64_t alone = walk_database(db, 1);
    unsigned started = 0, agreed = 0;
    for (; started < count && started < 64; started++) {
        walkers[started] = (struct walker){.db = db};
        if (pthread_create(&walkers[started].thread, NULL, walk, &walkers[started]) != 0)
            break;
    }
    for (unsigned i = 0; i < started; i++) {
        pthread_join(walkers[i].thread, NULL);
        agreed += walkers[i].result == alone;
    }
    return agreed == count;
}
