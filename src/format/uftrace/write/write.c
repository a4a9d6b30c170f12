/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a recording, from creation to completion. */
#include "format/uftrace/write/write.h"

#include "format/replace.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

lode_status lode_uft_writer_create(struct uft_writer *writer, const char *path, bool force, lode_error *error)
{
    *writer = (struct uft_writer){.output = LODE_OUTPUT_INIT};
    return lode_output_create(&writer->output, path, force ? &lode_replace_recording : NULL, error);
}

void lode_uft_writer_close(struct uft_writer *writer)
{
    lode_output_close(&writer->output);
}

/* ---- tracks ---- */

lode_status lode_uft_track_create(struct uft_track_writer *track, struct uft_writer *writer, int32_t tid,
                                  lode_error *error)
{
    *track = (struct uft_track_writer){.file = {.fd = -1}, .chunk = malloc(UFT_CHUNK)};
    LODE_TRY_ALLOC(track->chunk, error);
    snprintf(track->name, sizeof track->name, "%" PRId32 ".dat", tid);
    return lode_output_file_create(&track->file, &writer->output, track->name, error);
}

lode_status lode_uft_track_flush(struct uft_track_writer *track, lode_error *error)
{
    size_t used = track->used;
    track->used = 0;
    return lode_output_write(&track->file, track->chunk, used, error);
}

lode_status lode_uft_track_close(struct uft_track_writer *track, lode_error *error)
{
    lode_status status = lode_uft_track_flush(track, error);
    if (status == LODE_OK)
        status = lode_output_file_close(&track->file, error);
    lode_uft_track_abandon(track);
    return status;
}

void lode_uft_track_abandon(struct uft_track_writer *track)
{
    lode_output_file_abandon(&track->file);
    free(track->chunk);
    track->chunk = NULL;
}

/* ---- files of lines ---- */

void lode_uft_text_open(struct uft_text_file *text, struct uft_writer *writer, const char *name,
                        lode_error *error)
{
    *text = (struct uft_text_file){.writer = writer, .error = error};
    text->status = lode_output_file_create(&text->file, &writer->output, name, error);
}

void lode_uft_text_open_hidden(struct uft_text_file *text, struct uft_writer *writer, const char *name,
                               lode_error *error)
{
    *text = (struct uft_text_file){.writer = writer, .is_hidden = true, .error = error};
    text->status = lode_output_file_create_hidden(&text->file, &writer->output, name, error);
}

void lode_uft_text_put_bytes(struct uft_text_file *text, const void *bytes, size_t size)
{
    if (text->status == LODE_OK)
        text->status = lode_output_write(&text->file, bytes, size, text->error);
}

void lode_uft_text_put(struct uft_text_file *text, const char *format, ...)
{
    char line[256], *longer = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof line) {
        va_start(arguments, format);
        length = vasprintf(&longer, format, arguments);
        va_end(arguments);
        longer = length < 0 ? NULL : longer;
    }
    if (length < 0)
        text->status = text->status == LODE_OK ? lode_fail_memory(text->error) : text->status;
    else
        lode_uft_text_put_bytes(text, longer ? longer : line, (size_t)length);
    free(longer);
}

lode_status lode_uft_text_close(struct uft_text_file *text)
{
    if (text->status == LODE_OK)
        return text->is_hidden ? lode_output_file_show(&text->file, &text->writer->output, text->error)
                               : lode_output_file_close(&text->file, text->error);
    lode_output_file_abandon(&text->file);
    return text->status;
}

/* ---- small files ---- */

static lode_status write_event_names(struct uft_writer *writer, const struct uft_description *description,
                                     lode_error *error)
{
    struct uft_text_file text;
    if (description->event_name_count == 0)
        return LODE_OK;
    lode_uft_text_open(&text, writer, "events.txt", error);
    for (uint32_t i = 0; i < description->event_name_count; i++)
        lode_uft_text_put(&text, "EVENT: %" PRIu64 " %s\n", description->event_names[i].id,
                          description->event_names[i].name);
    return lode_uft_text_close(&text);
}

static lode_status write_messages(struct uft_writer *writer, const struct uft_description *description,
                                  lode_error *error)
{
    struct uft_text_file text;
    if (description->message_count == 0)
        return LODE_OK;
    lode_uft_text_open(&text, writer, "extern.dat", error);
    for (size_t i = 0; i < description->message_count; i++) {
        const lode_event *message = &description->messages[i];
        lode_uft_text_put(&text, "%" PRIu64 ".%09" PRIu64 " %.*s\n", message->time / 1000000000,
                          message->time % 1000000000, (int)message->data_size,
                          message->data ? (const char *)message->data : "");
    }
    return lode_uft_text_close(&text);
}

static lode_status write_note(struct uft_writer *writer, const struct uft_description *description,
                              lode_error *error)
{
    struct uft_text_file text;
    if (description->note.size == 0)
        return LODE_OK;
    lode_uft_text_open(&text, writer, "note.txt", error);
    lode_uft_text_put_bytes(&text, description->note.data, (size_t)description->note.size);
    return lode_uft_text_close(&text);
}

static lode_status write_options(struct uft_writer *writer, lode_error *error)
{
    struct uft_text_file text;
    lode_uft_text_open(&text, writer, "default.opts", error);
    return lode_uft_text_close(&text);
}

/* The last three files make the directory a recording: write them when all else is complete. */
lode_status lode_uft_writer_finish(struct uft_writer *writer, const struct uft_description *description,
                                   lode_error *error)
{
    LODE_TRY(lode_uft_write_symbols(writer, description, error));
    LODE_TRY(lode_uft_write_maps(writer, description, error));
    LODE_TRY(write_event_names(writer, description, error));
    LODE_TRY(write_messages(writer, description, error));
    LODE_TRY(write_note(writer, description, error));
    LODE_TRY(lode_uft_write_perf(writer, description, error));
    LODE_TRY(lode_uft_write_tasks(writer, description, error));
    LODE_TRY(write_options(writer, error));
    LODE_TRY(lode_uft_write_info(writer, description, error));
    return lode_output_commit(&writer->output, error);
}
