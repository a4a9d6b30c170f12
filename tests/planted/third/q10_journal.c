// SPDX-License-Identifier: BSD-3-Clause
// Order entry: each order of the incoming batches is validated and written to
// a journal. The batch is confirmed to the sender as a whole.
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NBATCHES 28
#define BATCH 40

struct order {
    uint32_t id;
    uint32_t customer;
    int32_t amount;
    char text[100];
    uint32_t crc;
};

struct journal {
    int fd;
    long records;
};

__attribute__((noinline)) static uint32_t order_crc(const struct order *o)
{
    const unsigned char *p = (const unsigned char *)o;
    uint32_t crc = ~0u;

    for (size_t i = 0; i < offsetof(struct order, crc); i++) {
        crc ^= p[i];
        for (int b = 0; b < 8; b++)
            crc = (crc >> 1) ^ (0x82f63b78u & -(crc & 1));
    }
    return ~crc;
}

static void make_order(struct order *o, uint32_t id)
{
    memset(o, 0, sizeof(*o));
    o->id = id;
    o->customer = (id * 2654435761u) >> 20;
    o->amount = (int)(id * 37 % 5000) + 1;
    snprintf(o->text, sizeof(o->text), "order %u for customer %u", id, o->customer);
}

__attribute__((noinline)) static int validate_order(struct order *o)
{
    if (o->amount <= 0 || o->customer > 1u << 20)
        return 0;
    o->crc = order_crc(o);
    return 1;
}

__attribute__((noinline)) static void journal_append(struct journal *j, const struct order *o)
{
    if (write(j->fd, o, sizeof(*o)) != (ssize_t)sizeof(*o))
        abort();
#ifndef FIX
    fsync(j->fd);
#endif
    j->records++;
}

__attribute__((noinline)) static void confirm_batch(struct journal *j)
{
#ifdef FIX
    fsync(j->fd);
#else
    (void)j;
#endif
}

__attribute__((noinline)) static uint64_t process_batch(struct journal *j, int batch)
{
    struct order o;
    uint64_t sum = 0;

    for (int i = 0; i < BATCH; i++) {
        make_order(&o, batch * BATCH + i + 1);
        if (!validate_order(&o))
            continue;
        journal_append(j, &o);
        sum += o.crc ^ (uint32_t)o.amount;
    }
    confirm_batch(j);
    return sum;
}

int main(void)
{
    char path[] = "/tmp/journalXXXXXX";
    struct journal j = { mkstemp(path), 0 };
    uint64_t sum = 0;

    if (j.fd < 0)
        return 1;
    for (int b = 0; b < NBATCHES; b++)
        sum += process_batch(&j, b);
    printf("records %ld sum %llx\n", j.records, (unsigned long long)sum);
    close(j.fd);
    unlink(path);
    return 0;
}
