/* SPDX-License-Identifier: BSD-3-Clause */
/* From a database to any format that databases can be written in. */
#include "base/options.h"
#include "base/pool.h"
#include "format/format.h"
#include "transform/database_source.h"
#include "transform/pump.h"

lode_status lode_convert(const lode_database *db, const char *path, const lode_convert_options *given,
                         lode_error *error)
{
    lode_convert_options options = LODE_CONVERT_OPTIONS_INIT;
    struct lode_database_source source;
    LODE_TRY(lode_options_take(&options, given, error));
    const struct lode_target *target = lode_target_of_databases(options.to);
    if (target == NULL)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "there is no format '%s' to write databases in", options.to);
    struct lode_pump pump = {.source = &source.base,
                             .to = target->sink,
                             .path = path,
                             .options = {.force = options.force,
                                         .traces = lode_database_has(db, LODE_PART_TRACE),
                                         .threads = lode_pool_asked(options.threads, options.pool),
                                         .pool = options.pool,
                                         .memory = options.memory,
                                         .origin = options.sources,
                                         .on_finding = options.on_finding,
                                         .on_progress = options.on_progress,
                                         .user = options.user}};
    lode_status status = lode_database_source_open(&source, db, &options, error);
    if (status == LODE_OK)
        status = lode_pump(&pump, error);
    lode_database_source_close(&source);
    return status;
}
