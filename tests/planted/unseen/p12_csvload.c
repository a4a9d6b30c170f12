// SPDX-License-Identifier: BSD-3-Clause
/* Loads a CSV price list and computes the stock value per warehouse. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINES 60000

struct reader {
    int fd;
#ifdef FIX
    unsigned char buf[65536];
    ssize_t pos, len;
#endif
};

static int next_char(struct reader *r)
{
#ifdef FIX
    if (r->pos == r->len) {
        r->len = read(r->fd, r->buf, sizeof(r->buf));
        r->pos = 0;
        if (r->len <= 0)
            return -1;
    }
    return r->buf[r->pos++];
#else
    unsigned char c;
    return read(r->fd, &c, 1) == 1 ? c : -1;
#endif
}

__attribute__((noinline)) static int read_line(struct reader *r, char *line, size_t max)
{
    size_t n = 0;
    int c;

    while ((c = next_char(r)) >= 0 && c != '\n')
        if (n + 1 < max)
            line[n++] = c;
    line[n] = 0;
    return c >= 0 || n;
}

struct item {
    int id, warehouse, qty;
    int cents;
};

__attribute__((noinline)) static int parse_item(char *line, struct item *it)
{
    char *save, *f[4];

    for (int i = 0; i < 4; i++)
        if (!(f[i] = strtok_r(i ? NULL : line, ";", &save)))
            return 0;
    it->id = atoi(f[0]);
    it->warehouse = atoi(f[1]);
    it->qty = atoi(f[2]);
    it->cents = atoi(f[3]);
    return 1;
}

__attribute__((noinline)) static void write_sample(const char *path)
{
    FILE *f = fopen(path, "w");
    uint32_t x = 3;

    for (int i = 0; i < LINES; i++) {
        x = x * 1664525u + 1013904223u;
        fprintf(f, "%06d;%02u;%u;%u\n", i, (x >> 8) % 20, (x >> 12) % 1000, (x >> 4) % 99999);
    }
    fclose(f);
}

int main(void)
{
    char path[] = "./csv_XXXXXX", line[128];
    int fd = mkstemp(path);
    static struct reader r;
    uint64_t value[20] = { 0 };
    struct item it;

    close(fd);
    write_sample(path);
    r.fd = open(path, O_RDONLY);
    while (read_line(&r, line, sizeof(line)))
        if (parse_item(line, &it))
            value[it.warehouse] += (uint64_t)it.qty * it.cents;
    close(r.fd);
    unlink(path);
    for (int i = 0; i < 20; i++)
        printf("warehouse %d: %lu\n", i, value[i]);
    return 0;
}
