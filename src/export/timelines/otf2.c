/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OTF2: an archive of event traces, for Vampir, Scalasca and their like, written by the library of
 * the format. That library prints errors to standard error unless the process has a callback.
 */
#include "export/timelines/otf2.h"

#include "base/error.h"
#include "base/text/count.h"
#include "export/formats.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <otf2/OTF2_Pthread_Locks.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ARCHIVE "traces"

enum {
    EVENT_CHUNK = 1 << 20,      /* bytes that each open location holds */
    DEFINITION_CHUNK = 4 << 20, /* bytes */
    CHUNKS_MAX = 2
};

lode_status lode_otf2_check(OTF2_ErrorCode code, const char *what, lode_error *error)
{
    if (code == OTF2_SUCCESS)
        return LODE_OK;
    if (code == OTF2_ERROR_MEM_ALLOC_FAILED || code == OTF2_ERROR_MEM_FAULT)
        return lode_fail_memory(error);
    /* The library has words of its own for errno EIO. */
    const char *why = code == OTF2_ERROR_EIO ? "Input/output error" : OTF2_Error_GetDescription(code);
    return lode_fail(error, LODE_ERR_IO, NULL, LODE_NO_OFFSET, "libotf2 cannot %s: %s", what, why);
}

static OTF2_ErrorCode stay_silent(void *user, const char *file, uint64_t line, const char *function,
                                  OTF2_ErrorCode code, const char *format, va_list values)
{
    (void)user, (void)file, (void)line, (void)function, (void)format, (void)values;
    return code;
}

static OTF2_FlushType flush_always(void *user, OTF2_FileType type, OTF2_LocationRef location, void *caller,
                                   bool is_final)
{
    (void)user, (void)type, (void)location, (void)caller, (void)is_final;
    return OTF2_FLUSH;
}

static const OTF2_FlushCallbacks flushing = {.otf2_pre_flush = flush_always};

/* The memory of a file. When it has no more, the library writes it, and begins again with it. */
struct buffer {
    unsigned used, count;
    void *chunks[CHUNKS_MAX];
};

static void *allocate(void *user, OTF2_FileType type, OTF2_LocationRef location, void **data, uint64_t size)
{
    (void)user, (void)type, (void)location;
    if (*data == NULL)
        *data = calloc(1, sizeof(struct buffer));
    struct buffer *buffer = *data;
    if (buffer == NULL || buffer->used == CHUNKS_MAX)
        return NULL;
    if (buffer->used == buffer->count) {
        void *chunk = malloc(size);
        if (chunk == NULL)
            return NULL;
        buffer->chunks[buffer->count++] = chunk;
    }
    return buffer->chunks[buffer->used++];
}

static void free_chunks(void *user, OTF2_FileType type, OTF2_LocationRef location, void **data, bool is_final)
{
    struct buffer *buffer = *data;
    (void)user, (void)type, (void)location;
    if (buffer)
        buffer->used = 0;
    if (!is_final)
        return;
    while (buffer && buffer->count > 0)
        free(buffer->chunks[--buffer->count]);
    free(buffer);
    *data = NULL;
}

/* Without these, the library holds 128 MiB of each location. */
static const OTF2_MemoryCallbacks memory = {.otf2_allocate = allocate, .otf2_free_all = free_chunks};

static lode_status open_archive(struct otf2 *self, lode_error *error)
{
    char creator[64];
    char *path = lode_output_file_path(self->base.job->output, ".");
    LODE_TRY_ALLOC(path, error);
    OTF2_Error_RegisterCallback(stay_silent, NULL);
    self->archive = OTF2_Archive_Open(path, ARCHIVE, OTF2_FILEMODE_WRITE, EVENT_CHUNK, DEFINITION_CHUNK,
                                      OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    free(path);
    if (self->archive == NULL)
        return lode_fail(error, LODE_ERR_IO, NULL, LODE_NO_OFFSET, "libotf2 cannot create an archive");
    OTF2_Archive *archive = self->archive;
    snprintf(creator, sizeof creator, "lode %s", lode_version());
    LODE_TRY(lode_otf2_check(OTF2_Archive_SetFlushCallbacks(archive, &flushing, NULL), "flush", error));
    LODE_TRY(lode_otf2_check(OTF2_Archive_SetMemoryCallbacks(archive, &memory, NULL), "get memory", error));
    LODE_TRY(
        lode_otf2_check(OTF2_Archive_SetSerialCollectiveCallbacks(archive), "create the archive", error));
    LODE_TRY(lode_otf2_check(OTF2_Pthread_Archive_SetLockingCallbacks(archive, NULL), "lock", error));
    LODE_TRY(lode_otf2_check(OTF2_Archive_SetCreator(archive, creator), "name its creator", error));
    return lode_otf2_check(OTF2_Archive_OpenEvtFiles(archive), "open event files", error);
}

/* ---- syncing ---- */

/* The library does not sync what it writes. */
static lode_status sync_file(const struct lode_output *output, const char *name, lode_error *error)
{
    int fd = openat(output->directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool is_done = fd >= 0 && fsync(fd) == 0;
    int saved = errno;
    if (fd >= 0)
        close(fd);
    errno = saved;
    return is_done ? LODE_OK : lode_fail_errno(error, name, "cannot sync it");
}

static lode_status sync_all(const struct otf2 *self, lode_error *error)
{
    const struct lode_output *output = self->base.job->output;
    char name[64];
    LODE_TRY(sync_file(output, ARCHIVE ".otf2", error));
    LODE_TRY(sync_file(output, ARCHIVE ".def", error));
    for (uint32_t i = 0; i < lode_tracks_line_count(self->base.tracks); i++) {
        snprintf(name, sizeof name, ARCHIVE "/%" PRIu32 ".evt", i);
        LODE_TRY(sync_file(output, name, error));
        snprintf(name, sizeof name, ARCHIVE "/%" PRIu32 ".def", i);
        LODE_TRY(sync_file(output, name, error));
    }
    return sync_file(output, ARCHIVE, error);
}

/* ---- the identifier ---- */

/* Made of what is written: the library takes it from the clock. */
static uint64_t identifier_of(const struct otf2 *self)
{
    const uint64_t prime = UINT64_C(0x100000001b3); /* FNV-1a, by words */
    uint64_t id = UINT64_C(0xcbf29ce484222325);
    id = ((id ^ self->base.base) * prime ^ self->base.last) * prime;
    for (uint32_t i = 0; i < lode_tracks_line_count(self->base.tracks); i++)
        id = (id ^ self->locations[i].events) * prime;
    return id;
}

/* What the library wrote. */
static lode_status read_identifier(const struct otf2 *self, uint64_t *id, lode_error *error)
{
    char *path = lode_output_file_path(self->base.job->output, ARCHIVE ".otf2");
    LODE_TRY_ALLOC(path, error);
    OTF2_Reader *reader = OTF2_Reader_Open(path);
    free(path);
    OTF2_ErrorCode code = reader ? OTF2_Reader_GetTraceId(reader, id) : OTF2_ERROR_INVALID;
    if (reader)
        OTF2_Reader_Close(reader);
    return lode_otf2_check(code, "read the archive", error);
}

/* Replaces the identifier in the anchor file, so that the same store gives the same bytes. */
static lode_status replace_identifier(const struct otf2 *self, lode_error *error)
{
    uint8_t bytes[4096], before[8], after[8];
    uint64_t id = identifier_of(self), old;
    LODE_TRY(read_identifier(self, &old, error));
    struct lode_output_file anchor = {.name = ARCHIVE ".otf2"};
    anchor.fd = openat(self->base.job->output->directory, anchor.name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (anchor.fd < 0)
        return lode_fail_errno(error, anchor.name, "cannot open it");
    ssize_t size = pread(anchor.fd, bytes, sizeof bytes, 0);
    lode_status status = size < 0 ? lode_fail_errno(error, anchor.name, "cannot read it") : LODE_OK;
    for (unsigned i = 0; i < 8; i++) {
        before[i] = (uint8_t)(old >> 8 * i);
        after[i] = (uint8_t)(id >> 8 * i);
    }
    const uint8_t *at = size > 0 ? memmem(bytes, (size_t)size, before, sizeof before) : NULL;
    if (at)
        status = lode_output_write_at(&anchor, (uint64_t)(at - bytes), after, sizeof after, error);
    close(anchor.fd);
    return status;
}

/* ---- the export ---- */

static lode_status write_archive(struct otf2 *self, lode_error *error)
{
    LODE_TRY(open_archive(self, error));
    LODE_TRY(lode_otf2_write_events(self, error));
    LODE_TRY(lode_otf2_check(OTF2_Archive_CloseEvtFiles(self->archive), "close event files", error));
    LODE_TRY(lode_otf2_define(self, error));
    OTF2_Archive *archive = self->archive;
    self->archive = NULL;
    LODE_TRY(lode_otf2_check(OTF2_Archive_Close(archive), "close the archive", error));
    LODE_TRY(replace_identifier(self, error));
    LODE_TRY(sync_all(self, error));
    if (self->lost_texts > 0)
        LODE_TRY(lode_export_lost(self->base.job, "strings", error,
                                  "%" PRIu64
                                  " strings were cut or left out: a thread has up to 1024 of 256 bytes",
                                  (uint64_t)self->lost_texts));
    if (self->lost_instants > 0)
        LODE_TRY(lode_export_lost(self->base.job, "instants", error,
                                  "%s left out that are no calls and have no numbers",
                                  LODE_COUNTED(self->lost_instants, "event was", "events were")));
    return LODE_OK;
}

static void free_all(struct otf2 *self)
{
    uint32_t lines = self->locations ? lode_tracks_line_count(self->base.tracks) : 0;
    for (unsigned table = 0; table < OTF2_TABLES; table++) {
        for (uint32_t i = 0; i < lines; i++)
            free(self->locations[i].numbers[table]);
        lode_strings_free(&self->texts[table]);
        free(self->finals[table]);
    }
    if (self->archive)
        OTF2_Archive_Close(self->archive);
    free(self->locations);
    free(self->frames);
    pthread_mutex_destroy(&self->lock);
    lode_tracks_close(self->base.tracks);
}

static lode_status run(struct lode_export *job, lode_error *error)
{
    struct otf2 self = {.lock = PTHREAD_MUTEX_INITIALIZER};
    for (unsigned i = 0; i < OTF2_TABLES; i++)
        lode_strings_init(&self.texts[i]);
    lode_status status = lode_timeline_open(&self.base, job, error);
    if (status == LODE_OK) {
        self.locations = calloc((size_t)lode_tracks_line_count(self.base.tracks) + 1, sizeof *self.locations);
        status = self.locations ? write_archive(&self, error) : lode_fail_memory(error);
    }
    free_all(&self);
    return status;
}

const struct lode_export_format lode_export_otf2 = {
    .name = "otf2",
    .description = "OTF2 archive (a directory): Vampir, Scalasca, Pipit",
    .suffix = ".otf2",
    .names = "*.otf2",
    .loses = "metrics and values; strings beyond 1024 of a thread; instants without numbers",
    .holds = LODE_EXPORT_TIMELINE,
    .is_directory = true,
    .run = run,
};
