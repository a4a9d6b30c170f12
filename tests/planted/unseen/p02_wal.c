// SPDX-License-Identifier: BSD-3-Clause
/* Write-ahead log for a small order database. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORDS 400
#define GROUP   50

struct wal {
    int fd;
    int pending;
    char path[64];
    size_t used;
    char buf[65536];
};

struct order {
    uint32_t id;
    uint32_t qty;
    uint64_t price;
    char note[200];
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static uint32_t crc_table[256];

static void crc_init(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
        crc_table[i] = c;
    }
}

__attribute__((noinline)) static uint32_t crc32_of(const void *p, size_t n)
{
    const unsigned char *s = p;
    uint32_t c = ~0u;
    while (n--)
        c = crc_table[(c ^ *s++) & 255] ^ (c >> 8);
    return ~c;
}

__attribute__((noinline)) static void wal_flush(struct wal *w)
{
    size_t off = 0;
    while (off < w->used) {
        ssize_t r = write(w->fd, w->buf + off, w->used - off);
        if (r < 0)
            die("write");
        off += r;
    }
    w->used = 0;
    w->pending = 0;
    if (fdatasync(w->fd) < 0)
        die("fdatasync");
}

__attribute__((noinline)) static void wal_append(struct wal *w, const struct order *o)
{
    uint32_t crc = crc32_of(o, sizeof(*o));
    memcpy(w->buf + w->used, &crc, 4);
    memcpy(w->buf + w->used + 4, o, sizeof(*o));
    w->used += 4 + sizeof(*o);
    w->pending++;
#ifdef FIX
    if (w->pending >= GROUP)        /* group commit */
#endif
        wal_flush(w);
}

__attribute__((noinline)) static void make_order(struct order *o, uint32_t i)
{
    memset(o, 0, sizeof(*o));
    o->id = i;
    o->qty = i * 7 % 13 + 1;
    o->price = (uint64_t)i * 2654435761u % 100000;
    snprintf(o->note, sizeof(o->note), "order %u for customer %u", i, i % 97);
}

__attribute__((noinline)) static uint64_t apply(uint64_t state, const struct order *o)
{
    for (int i = 0; i < 100000; i++)
        state = (state ^ (o->qty * o->price + i)) * 1099511628211ull;
    return state;
}

int main(void)
{
    static struct wal w;
    struct order o;
    uint64_t state = 14695981039346656037ull;

    crc_init();
    strcpy(w.path, "./wal_XXXXXX");
    w.fd = mkstemp(w.path);
    if (w.fd < 0)
        die("mkstemp");
    for (uint32_t i = 0; i < RECORDS; i++) {
        make_order(&o, i);
        wal_append(&w, &o);
        state = apply(state, &o);
    }
    if (w.pending)
        wal_flush(&w);
    printf("size %ld state %016lx\n", (long)lseek(w.fd, 0, SEEK_END), state);
    close(w.fd);
    unlink(w.path);
    return 0;
}
