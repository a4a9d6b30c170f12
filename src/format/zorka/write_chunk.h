/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks of traces, packed. */
#ifndef LODE_ZORKA_WRITE_CHUNK_H
#define LODE_ZORKA_WRITE_CHUNK_H

#include "format/zorka/write.h"

enum {
    ZOR_PAYLOAD_SIZE = 1 << 20, /* bytes of payload behind which a trace goes on in another chunk */
    ZOR_QMETA_SIZE = 64         /* of the header of qmeta.idx, and of a record */
};

/* Writes the number of a trace as it is in the payload; returns the end. */
uint8_t *lode_zor_put_trace_id(uint8_t *at, struct zor_id id);
/* Packs what was encoded of the trace, and puts it aside; behind it the trace goes on or, if that was the last, is done. */
lode_status lode_zor_pack(struct zor_encoder *encoder, bool is_last, lode_error *error);

#endif
