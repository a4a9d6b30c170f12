// SPDX-License-Identifier: BSD-3-Clause
/* Writes orders to a journal file before they are confirmed in batches. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ORDERS 4500
#define BATCH 50

struct order {
    uint32_t number, customer, item, count;
    char note[112];
};

static int journal = -1;

__attribute__((noinline)) static void fill_order(struct order *o, uint32_t n)
{
    memset(o, 0, sizeof *o);
    o->number = n;
    o->customer = n * 7919 % 1000;
    o->item = n * 31 % 77;
    o->count = n % 5 + 1;
    snprintf(o->note, sizeof o->note, "order %u for customer %u", n, o->customer);
}

__attribute__((noinline)) static void commit_journal(void)
{
    if (fsync(journal))
        perror("fsync");
}

__attribute__((noinline)) static void append_order(const struct order *o)
{
    if (write(journal, o, sizeof *o) != sizeof *o)
        perror("write");
#ifndef FIX
    commit_journal();
#endif
}

__attribute__((noinline)) static uint64_t accept_batch(uint32_t first)
{
    uint64_t sum = 0;
    for (uint32_t n = first; n < first + BATCH; n++) {
        struct order o;
        fill_order(&o, n);
        append_order(&o);
        sum += o.customer * o.count;
    }
#ifdef FIX
    commit_journal();
#endif
    return sum;      /* the whole batch is confirmed to the customers here */
}

int main(void)
{
    char name[] = "/tmp/journalXXXXXX";
    journal = mkstemp(name);
    if (journal < 0)
        return 1;
    unlink(name);
    uint64_t sum = 0;
    for (uint32_t n = 0; n < ORDERS; n += BATCH)
        sum += accept_batch(n);
    close(journal);
    printf("sum %lu\n", (unsigned long)sum);
    return 0;
}
