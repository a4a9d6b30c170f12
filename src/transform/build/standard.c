/* SPDX-License-Identifier: BSD-3-Clause */
#include "transform/build/standard.h"

#include "base/error.h"
#include <lode/metric.h>

lode_status lode_standard_begin(lode_writer *writer, uint32_t scopes[LODE_STANDARD_SCOPES], lode_error *error)
{
    static const char *const kinds[] = {"SUMMARY", "NODE", "RANK", "THREAD"};
    static const struct {
        const char *name;
        int type;
    } standard[LODE_STANDARD_SCOPES] = {{"point", LODE_SCOPE_POINT},
                                        {"function", LODE_SCOPE_TRANSITIVE},
                                        {"lex_aware", LODE_SCOPE_CUSTOM},
                                        {"execution", LODE_SCOPE_EXECUTION}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        LODE_TRY(lode_writer_add_id_kind(writer, kinds[i], NULL, error));
    for (size_t i = 0; i < LODE_STANDARD_SCOPES; i++)
        LODE_TRY(lode_writer_add_scope(writer, standard[i].name, standard[i].type, 0, &scopes[i], error));
    return LODE_OK;
}

lode_status lode_standard_metric(lode_writer *writer, const uint32_t scopes[LODE_STANDARD_SCOPES],
                                 const char *name, uint32_t *metric, lode_error *error)
{
    uint16_t id;
    LODE_TRY(lode_writer_add_metric(writer, name, metric, error));
    for (size_t i = 0; i < LODE_STANDARD_SCOPES; i++)
        LODE_TRY(lode_writer_add_metric_scope(writer, *metric, scopes[i], &id, error));
    for (size_t i = 0; i < LODE_STANDARD_SCOPES; i++)
        LODE_TRY(lode_writer_add_statistic(writer, *metric, scopes[i], "$$", LODE_COMBINE_SUM, error));
    return LODE_OK;
}
