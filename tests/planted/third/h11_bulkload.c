// SPDX-License-Identifier: BSD-3-Clause
// Bulk loader: records are generated, sorted by key with a radix sort, encoded
// into pages with a checksum and written through a buffered stream; one fsync
// at the end makes the load durable.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NRECORDS 4000000
#define PAGE 8192

struct record {
    uint32_t key;
    uint32_t value;
};

struct writer {
    FILE *f;
    unsigned char page[PAGE];
    size_t used;
    long pages;
    uint32_t digest;
};

static uint32_t crc_table[256];

static void init_crc_table(void)
{
    for (uint32_t n = 0; n < 256; n++) {
        uint32_t c = n;

        for (int k = 0; k < 8; k++)
            c = (c >> 1) ^ (0xedb88320u & -(c & 1));
        crc_table[n] = c;
    }
}

__attribute__((noinline)) static void generate(struct record *r)
{
    uint32_t s = 2463534242u;

    for (int i = 0; i < NRECORDS; i++) {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        r[i].key = s;
        r[i].value = i;
    }
}

__attribute__((noinline)) static void radix_pass(const struct record *in, struct record *out, int shift)
{
    size_t count[2048] = { 0 }, pos = 0;

    for (int i = 0; i < NRECORDS; i++)
        count[(in[i].key >> shift) & 2047]++;
    for (int b = 0; b < 2048; b++) {
        size_t n = count[b];

        count[b] = pos;
        pos += n;
    }
    for (int i = 0; i < NRECORDS; i++)
        out[count[(in[i].key >> shift) & 2047]++] = in[i];
}

__attribute__((noinline)) static struct record *sort_records(struct record *a, struct record *b)
{
    radix_pass(a, b, 0);
    radix_pass(b, a, 11);
    radix_pass(a, b, 22);
    return b;
}

__attribute__((noinline)) static uint32_t page_checksum(const unsigned char *p)
{
    uint32_t crc = ~0u;

    for (int i = 0; i < PAGE; i++)
        crc = crc >> 8 ^ crc_table[(crc ^ p[i]) & 255];
    return ~crc;
}

__attribute__((noinline)) static void flush_page(struct writer *w)
{
    uint32_t crc;

    memset(w->page + w->used, 0, PAGE - w->used);
    crc = page_checksum(w->page);
    fwrite(w->page, 1, PAGE, w->f);
    w->digest = w->digest * 31 + crc;
    w->pages++;
    w->used = 0;
}

__attribute__((noinline)) static void write_records(struct writer *w, const struct record *r)
{
    for (int i = 0; i < NRECORDS; i++) {
        if (w->used + sizeof(*r) > PAGE)
            flush_page(w);
        memcpy(w->page + w->used, &r[i], sizeof(*r));
        w->used += sizeof(*r);
    }
    flush_page(w);
    fflush(w->f);
    fsync(fileno(w->f));
}

int main(void)
{
    char path[] = "/tmp/bulkloadXXXXXX";
    static struct writer w;
    struct record *a = malloc(sizeof(*a) * NRECORDS), *b = malloc(sizeof(*b) * NRECORDS);

    w.f = fdopen(mkstemp(path), "w");
    if (!w.f || !a || !b)
        return 1;
    init_crc_table();
    setvbuf(w.f, NULL, _IOFBF, 1 << 18);
    generate(a);
    write_records(&w, sort_records(a, b));
    fclose(w.f);
    unlink(path);
    printf("records %d pages %ld digest %08x\n", NRECORDS, w.pages, w.digest);
    free(a);
    free(b);
    return 0;
}
