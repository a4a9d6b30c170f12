/* SPDX-License-Identifier: BSD-3-Clause */
/* Packed chunks of traces. */
#ifndef LODE_ZORKA_WRITE_CHUNK_H
#define LODE_ZORKA_WRITE_CHUNK_H

#include "format/zorka/write/write.h"

enum {
    ZOR_PAYLOAD_SIZE = 1 << 20, /* bytes of payload before a trace continues in another chunk */
    ZOR_QMETA_SIZE = 64         /* of the header of qmeta.idx, and of a record */
};

/* Writes the id of a trace as in a payload; returns the end. */
uint8_t *lode_zor_put_trace_id(uint8_t *at, struct zor_id id);
/* Packs the encoded part of the trace into the spool; then the trace continues or is done. */
lode_status lode_zor_pack(struct zor_encoder *encoder, bool is_last, lode_error *error);

#endif
