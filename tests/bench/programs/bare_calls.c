/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lower bound for `lode top`: a loop over the mapped records of a uftrace recording without
 * payloads, with stacks and with calls, total and self time by address, and nothing else: no
 * symbols, repairs or percentiles.
 *   bare_calls DIR THREADS
 * prints the seconds it took, and the sums of calls, total and self time over all addresses.
 */
#include <dirent.h>
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

enum {
    MAX_FILES = 1 << 16,
    MAX_THREADS = 64,
    MAX_DEPTH = 1 << 16,
    SLOTS = 1 << 16 /* at least twice the number of addresses */
};

struct record {
    uint64_t time, word;
};

struct slot {
    uint64_t address; /* 0: free */
    uint64_t calls, total, self;
    uint32_t active;
};

struct frame {
    uint64_t begin, inside;
    struct slot *slot;
};

struct worker {
    pthread_t thread;
    struct slot slots[SLOTS];
    struct frame frames[MAX_DEPTH];
    int failed;
};

static char *files[MAX_FILES];
static unsigned file_count;
static atomic_uint next_file;

static struct slot *find_slot(struct worker *worker, uint64_t address)
{
    uint64_t i = address * UINT64_C(0x9e3779b97f4a7c15) >> 48;
    while (worker->slots[i].address != address && worker->slots[i].address != 0)
        i = (i + 1) % SLOTS;
    worker->slots[i].address = address;
    return &worker->slots[i];
}

static int count_calls(struct worker *worker, const struct record *records, size_t count)
{
    struct frame *top = worker->frames, *last = worker->frames + MAX_DEPTH - 1;
    for (const struct record *record = records; record < records + count; record++) {
        unsigned type = record->word & 3;
        if ((record->word & 4) != 0 || type > 1)
            return 1;
        if (type == 0) {
            struct slot *slot = find_slot(worker, record->word >> 16);
            if (top == last)
                return 1;
            slot->active++;
            *++top = (struct frame){record->time, 0, slot};
        } else if (top > worker->frames) {
            struct slot *slot = top->slot;
            uint64_t took = record->time - top->begin;
            slot->calls++;
            slot->total += --slot->active == 0 ? took : 0;
            slot->self += took - top->inside;
            (--top)->inside += took;
        }
    }
    return top != worker->frames;
}

static int count_file(struct worker *worker, const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &status) != 0)
        return 1;
    size_t size = (size_t)status.st_size;
    void *data = size > 0 ? mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0) : NULL;
    close(fd);
    if (data == MAP_FAILED)
        return 1;
    int failed = count_calls(worker, data, size / sizeof(struct record));
    if (size > 0)
        munmap(data, size);
    return failed;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    for (unsigned i; (i = atomic_fetch_add(&next_file, 1)) < file_count && !worker->failed;)
        worker->failed = count_file(worker, files[i]);
    return NULL;
}

static int list_files(const char *folder)
{
    DIR *stream = opendir(folder);
    if (stream == NULL)
        return 1;
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        size_t length = strspn(entry->d_name, "0123456789");
        if (length == 0 || strcmp(entry->d_name + length, ".dat") != 0)
            continue;
        if (file_count == MAX_FILES || asprintf(&files[file_count++], "%s/%s", folder, entry->d_name) < 0)
            return 1;
    }
    closedir(stream);
    return file_count == 0;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int count, char **arguments)
{
    unsigned threads = count == 3 ? (unsigned)strtoul(arguments[2], NULL, 10) : 0;
    if (threads < 1 || threads > MAX_THREADS || list_files(arguments[1]) != 0) {
        fprintf(stderr, "usage: bare_calls DIR THREADS\n");
        return 2;
    }
    double begin = seconds();
    struct worker *workers = calloc(threads, sizeof *workers);
    uint64_t calls = 0, total = 0, self = 0;
    int failed = workers == NULL;
    for (unsigned i = 0; i < threads && !failed; i++)
        failed = pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0;
    for (unsigned i = 0; i < threads && !failed; i++) {
        pthread_join(workers[i].thread, NULL);
        failed = workers[i].failed;
        for (unsigned k = 0; k < SLOTS; k++) {
            calls += workers[i].slots[k].calls;
            total += workers[i].slots[k].total;
            self += workers[i].slots[k].self;
        }
    }
    if (failed) {
        fprintf(stderr,
                "bare_calls: a record that is not a plain entry or exit, or a call that is not closed\n");
        return 1;
    }
    printf("%.3f s\ncalls %" PRIu64 " total %" PRIu64 " self %" PRIu64 "\n", seconds() - begin, calls, total,
           self);
    free(workers);
    return 0;
}
