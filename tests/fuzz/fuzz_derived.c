/* SPDX-License-Identifier: BSD-3-Clause */
/* Formulas as people write them (first byte even), and taxonomies (odd), over a small database. */
#include "minidb.h"
#include "model/database/derived.h"
#include <lode/unstable.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct minidb mini;
static lode_database *db;

static void open_database(void)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    lode_memory_file files[HPCT_FILES];
    minidb_make(&mini, &options);
    minidb_files(&mini, files);
    if (lode_database_open_memory(&db, files, HPCT_FILES, NULL) != LODE_OK)
        abort();
}

static void evaluate(const lode_derived *derived)
{
    double values[32] = {1.5, -2.0}, value;
    if (lode_derived_metric_count(derived) > 32)
        abort();
    if (lode_derived_value(derived, values, &value) && !(value - value == 0.0))
        abort();
}

static void read_formula(const char *text)
{
    lode_derived *derived;
    lode_error error;
    if (lode_derived_parse(&derived, db, NULL, text, &error) == LODE_OK)
        evaluate(derived);
    else if (derived || error.text[0] == '\0')
        abort();
    lode_derived_free(derived);
}

static void read_taxonomy(const char *text, size_t size)
{
    lode_derived_list *list;
    if (lode_derived_list_open(&list, db, NULL, NULL) != LODE_OK)
        return;
    if (lode_taxonomy_read(list, db, text, size, NULL) != LODE_OK)
        abort();
    for (size_t i = 0; i < lode_derived_list_count(list); i++)
        evaluate(lode_derived_list_at(list, i));
    lode_derived_list_close(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (db == NULL)
        open_database();
    if (size == 0)
        return 0;
    /* An exact copy, so that a sanitizer sees what is read beyond it. */
    char *text = malloc(size);
    if (text == NULL)
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (data[0] % 2)
        read_taxonomy(text, size - 1);
    else
        read_formula(text);
    free(text);
    return 0;
}
