/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/zorka/write/origin.h"

lode_status lode_zor_origin_open(struct zor_origin *source, const lode_recording *recording,
                                 struct zor_dictionary *strings, uint32_t encoders, lode_error *error)
{
    *source = (struct zor_origin){.recording = recording, .dictionary = strings};
    source->is_store = strcmp(recording->format, "zorka") == 0;
    return source->is_store ? lode_zor_translation_open(source, error)
                            : lode_zor_calls_open(source, encoders, error);
}

void lode_zor_origin_close(struct zor_origin *source)
{
    if (source->recording == NULL)
        return;
    if (source->is_store)
        lode_zor_translation_close(source);
    else
        lode_zor_calls_close(source);
}

lode_status lode_zor_origin_name(struct zor_origin *source, lode_error *error)
{
    return source->is_store ? LODE_OK : lode_zor_calls_name(source, error);
}

lode_status lode_zor_origin_take(struct zor_origin *source, struct zor_encoder *encoder, uint32_t track,
                                 const lode_event *event, lode_error *error)
{
    bool is_end = lode_event_ends(event), is_call = is_end || lode_event_begins(event);
    if (!is_call && event->kind != LODE_EVENT_INSTANT) {
        encoder->left_out++;
        return LODE_OK;
    }
    /* Outside of all calls, or in calls beyond the maximal depth. */
    if ((zor_depth(encoder) == 0 && (is_end || !is_call)) || (encoder->calls.hidden > 0 && !is_call)) {
        encoder->left_out++;
        return LODE_OK;
    }
    return source->is_store ? lode_zor_take_translated(source, encoder, track, event, error)
                            : lode_zor_take_call(source, encoder, track, event, error);
}
