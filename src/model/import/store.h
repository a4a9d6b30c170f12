/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores of formats of samples, which are read at once: how they are opened and checked. */
#ifndef LODE_MODEL_IMPORT_STORE_H
#define LODE_MODEL_IMPORT_STORE_H

#include "base/io/input.h"
#include "model/finding.h"
#include "model/import/import.h"

struct lode_import_form {
    size_t reader_size; /* of the reader that the functions get, zeroed before */
    /* False if out of memory; close is due in every case. */
    bool (*open)(void *reader, struct lode_report *report);
    /* LODE_END: after a finding that leaves nothing to read, or if the level asks for no more. */
    lode_status (*read)(void *reader, const struct lode_folder *folder, lode_check_level level,
                        lode_database **out);
    uint64_t (*samples)(const void *reader); /* that were read */
    void (*close)(void *reader);
};

lode_status lode_import_open_store(lode_database **out, const struct lode_folder *folder,
                                   const struct lode_import_form *form, const lode_rule *rules,
                                   size_t rule_count, lode_error *error);
lode_status lode_import_check_store(const struct lode_folder *folder, const lode_check_options *options,
                                    lode_check_result *result, const struct lode_import_form *form,
                                    const lode_rule *rules, size_t rule_count, lode_error *error);

#endif
