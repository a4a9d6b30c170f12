/* SPDX-License-Identifier: BSD-3-Clause */
/* What a format of stores provides. The registry tries all formats in the order of its list. */
#ifndef LODE_FORMAT_FORMAT_H
#define LODE_FORMAT_FORMAT_H

#include "base/source.h"
#include "model/sink.h"
#include <lode/check.h>
#include <lode/convert.h>
#include <lode/recording.h>
#include <stdbool.h>

/* The formats that stores can be written in. */
struct lode_target {
    const char *name;                 /* selects it */
    const struct lode_sink_ops *sink; /* of databases */
};

struct lode_format {
    const char *name;
    /* Whether the folder has any file of this format, valid or damaged. */
    bool (*probe)(const struct lode_folder *folder);
    /* One of these is NULL: a format holds either databases or recordings. */
    lode_status (*open)(lode_database **out, const struct lode_folder *folder, lode_error *error);
    lode_status (*open_recording)(lode_recording **out, const struct lode_folder *folder,
                                  const lode_recording_options *options, lode_error *error);
    lode_status (*check)(const struct lode_folder *folder, const lode_check_options *options,
                         lode_check_result *result, lode_error *error);
    const lode_rule *rules;
    size_t rule_count;
    const struct lode_target *targets;
    size_t target_count;
};

extern const struct lode_format *const lode_formats[];
extern const size_t lode_format_count;

/* The format of a folder's content, or NULL. */
const struct lode_format *lode_format_of(const struct lode_folder *folder);
/* The target for databases of this name, or NULL if there is none. NULL as a name: the first. */
const struct lode_target *lode_target_of_databases(const char *name);

#endif
