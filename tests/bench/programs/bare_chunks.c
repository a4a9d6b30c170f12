/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lower bound for reading trace stores: a loop over the chunks of a Zorka data file that
 * verifies and inflates each with zlib, and ignores the contents.
 *   bare_chunks FILE THREADS
 * prints the seconds it took and the number of inflated bytes.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

enum {
    MAX_THREADS = 64,
    HEADER = 16,
    BATCH = 16,
    CHUNK_MAX = 32 << 20
};

struct worker {
    pthread_t thread;
    uint64_t bytes;
    int failed;
};

static const uint8_t *data;
static size_t size;
static size_t *chunks;
static size_t chunk_count;
static atomic_size_t next_chunk;

static uint32_t word(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int find_chunks(void)
{
    size_t room = 0;
    for (size_t at = HEADER; at + HEADER <= size; at += HEADER + word(data + at + 4)) {
        if (chunk_count == room) {
            room = room ? 2 * room : 1024;
            chunks = realloc(chunks, room * sizeof *chunks);
            if (chunks == NULL)
                return 1;
        }
        if (memcmp(data + at, "ZCH0", 4) != 0 || word(data + at + 4) > size - at - HEADER)
            return 1;
        chunks[chunk_count++] = at;
    }
    return chunk_count == 0;
}

static int read_chunk(z_stream *stream, const uint8_t *at, uint8_t *room, uint64_t *bytes)
{
    uint32_t packed = word(at + 4), unpacked = word(at + 8);
    if (unpacked > CHUNK_MAX || crc32_z(0, at + HEADER, packed) != word(at + 12))
        return 1;
    inflateReset(stream);
    stream->next_in = (z_const Bytef *)(uintptr_t)(at + HEADER);
    stream->avail_in = packed;
    stream->next_out = room;
    stream->avail_out = CHUNK_MAX;
    int status = inflate(stream, Z_SYNC_FLUSH);
    *bytes += CHUNK_MAX - stream->avail_out;
    return status != Z_OK || stream->avail_out != CHUNK_MAX - unpacked;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    z_stream stream = {0};
    uint8_t *room = malloc(CHUNK_MAX);
    worker->failed = room == NULL || inflateInit2(&stream, -MAX_WBITS) != Z_OK;
    for (size_t i; !worker->failed && (i = atomic_fetch_add(&next_chunk, BATCH)) < chunk_count;)
        for (size_t k = i; k < i + BATCH && k < chunk_count && !worker->failed; k++)
            worker->failed = read_chunk(&stream, data + chunks[k], room, &worker->bytes);
    inflateEnd(&stream);
    free(room);
    return NULL;
}

static int map_file(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &status) != 0)
        return 1;
    size = (size_t)status.st_size;
    void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    data = map;
    return map == MAP_FAILED;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int count, char **arguments)
{
    static struct worker workers[MAX_THREADS];
    unsigned threads = count == 3 ? (unsigned)strtoul(arguments[2], NULL, 10) : 0;
    if (threads < 1 || threads > MAX_THREADS || map_file(arguments[1]) != 0) {
        fprintf(stderr, "usage: bare_chunks FILE THREADS\n");
        return 2;
    }
    double begin = seconds();
    uint64_t bytes = 0;
    int failed = find_chunks();
    for (unsigned i = 0; i < threads && !failed; i++)
        failed = pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0;
    for (unsigned i = 0; i < threads && !failed; i++) {
        pthread_join(workers[i].thread, NULL);
        failed = workers[i].failed;
        bytes += workers[i].bytes;
    }
    if (failed) {
        fprintf(stderr, "bare_chunks: a chunk is damaged\n");
        return 1;
    }
    printf("%.3f s\n%" PRIu64 " bytes\n", seconds() - begin, bytes);
    free(chunks);
    return 0;
}
