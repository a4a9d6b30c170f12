/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lower bound for `lode export --format otf2`: a loop that gives as many enters and leaves to
 * libotf2, one location after the other, and nothing else: no store is read, nothing is defined.
 *   bare_otf2 DIRECTORY LOCATIONS EVENTS
 */
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    EVENT_CHUNK = 1 << 20, /* bytes, as in the export */
    DEFINITION_CHUNK = 4 << 20,
    DEPTH = 8,
    REGIONS = 1000,
    STEP = 160 /* nanoseconds between events */
};

static OTF2_FlushType flush_always(void *user, OTF2_FileType type, OTF2_LocationRef location, void *caller,
                                   bool is_final)
{
    (void)user, (void)type, (void)location, (void)caller, (void)is_final;
    return OTF2_FLUSH;
}

static const OTF2_FlushCallbacks flushing = {.otf2_pre_flush = flush_always};

/* One chunk of each location: the library writes it when it is full. */
static void *allocate(void *user, OTF2_FileType type, OTF2_LocationRef location, void **data, uint64_t size)
{
    (void)user, (void)type, (void)location;
    if (*data)
        return NULL;
    return *data = malloc(size);
}

static void free_chunk(void *user, OTF2_FileType type, OTF2_LocationRef location, void **data, bool is_final)
{
    (void)user, (void)type, (void)location, (void)is_final;
    free(*data);
    *data = NULL;
}

static const OTF2_MemoryCallbacks memory = {.otf2_allocate = allocate, .otf2_free_all = free_chunk};

/* Calls that go down to a depth and back. */
static int write_location(OTF2_EvtWriter *writer, uint64_t count)
{
    uint32_t stack[DEPTH];
    uint64_t time = UINT64_C(1000000000000);
    int failed = 0;
    for (uint64_t i = 0; i < count; i++, time += STEP) {
        unsigned at = (unsigned)(i % (2 * DEPTH));
        if (at < DEPTH) {
            stack[at] = (uint32_t)(i * 7 % REGIONS);
            failed |= OTF2_EvtWriter_Enter(writer, NULL, time, stack[at]) != OTF2_SUCCESS;
        } else {
            failed |= OTF2_EvtWriter_Leave(writer, NULL, time, stack[2 * DEPTH - 1 - at]) != OTF2_SUCCESS;
        }
    }
    return failed;
}

static int write_all(OTF2_Archive *archive, uint64_t locations, uint64_t events)
{
    int failed = OTF2_Archive_SetFlushCallbacks(archive, &flushing, NULL) != OTF2_SUCCESS ||
                 OTF2_Archive_SetMemoryCallbacks(archive, &memory, NULL) != OTF2_SUCCESS ||
                 OTF2_Archive_SetSerialCollectiveCallbacks(archive) != OTF2_SUCCESS ||
                 OTF2_Archive_OpenEvtFiles(archive) != OTF2_SUCCESS;
    for (uint64_t i = 0; i < locations && !failed; i++) {
        OTF2_EvtWriter *writer = OTF2_Archive_GetEvtWriter(archive, i);
        failed = writer == NULL || write_location(writer, events / locations) ||
                 OTF2_Archive_CloseEvtWriter(archive, writer) != OTF2_SUCCESS;
    }
    return failed || OTF2_Archive_CloseEvtFiles(archive) != OTF2_SUCCESS;
}

int main(int argc, char **argv)
{
    uint64_t locations = argc == 4 ? strtoull(argv[2], NULL, 10) : 0;
    if (locations == 0) {
        fprintf(stderr, "usage: bare_otf2 DIRECTORY LOCATIONS EVENTS\n");
        return 2;
    }
    OTF2_Archive *archive = OTF2_Archive_Open(argv[1], "traces", OTF2_FILEMODE_WRITE, EVENT_CHUNK,
                                              DEFINITION_CHUNK, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (archive == NULL)
        return 1;
    int failed = write_all(archive, locations, strtoull(argv[3], NULL, 10));
    return OTF2_Archive_Close(archive) != OTF2_SUCCESS || failed;
}
