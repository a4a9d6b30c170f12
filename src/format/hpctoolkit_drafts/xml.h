/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading experiment.xml. */
#ifndef LODE_FORMAT_HPCTOOLKIT_DRAFTS_XML_H
#define LODE_FORMAT_HPCTOOLKIT_DRAFTS_XML_H

#include "format/hpctoolkit_drafts/binary.h"

/* Reads all of experiment.xml into the model. */
lode_status lode_drafts_load_xml(struct drafts_database *db, struct lode_report *report);

#endif
