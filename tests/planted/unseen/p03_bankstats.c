// SPDX-License-Identifier: BSD-3-Clause
/* Payment processor: C11 threads work through their own account partition,
 * counting events in a statistics module. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>

#define THREADS  4
#define ACCOUNTS 1024
#define TXNS     60000
#define BUCKETS  2048

enum { EV_OK, EV_REJECT, EV_FEE, EV_MAX };

struct stats {
    uint64_t count[EV_MAX];
    uint64_t amount[EV_MAX];
    uint64_t le[EV_MAX][BUCKETS];   /* cumulative: amounts of at most i */
};

struct worker {
    int id;
    int64_t balance[ACCOUNTS];
    struct stats local;
    uint64_t check;
};

static struct stats global_stats;
static mtx_t stats_lock;
static struct worker workers[THREADS];

static void stats_add(struct stats *s, int ev, uint64_t amount)
{
    s->count[ev]++;
    s->amount[ev] += amount;
    for (uint64_t i = 0; i < BUCKETS; i++)
        s->le[ev][i] += amount <= i;
}

__attribute__((noinline)) static void stats_note(struct worker *w, int ev, uint64_t amount)
{
#ifdef FIX
    stats_add(&w->local, ev, amount);
#else
    mtx_lock(&stats_lock);
    stats_add(&global_stats, ev, amount);
    mtx_unlock(&stats_lock);
#endif
}

static void stats_merge(const struct stats *s)
{
    mtx_lock(&stats_lock);
    for (int i = 0; i < EV_MAX; i++) {
        global_stats.count[i] += s->count[i];
        global_stats.amount[i] += s->amount[i];
        for (int k = 0; k < BUCKETS; k++)
            global_stats.le[i][k] += s->le[i][k];
    }
    mtx_unlock(&stats_lock);
}

__attribute__((noinline)) static uint64_t risk_score(uint64_t x)
{
    for (int i = 0; i < 100; i++) {
        x ^= x >> 33;
        x *= 0xff51afd7ed558ccdull;
    }
    return x;
}

static void transfer(struct worker *w, uint32_t from, uint32_t to, int64_t amount)
{
    uint64_t score = risk_score(((uint64_t)from << 32) ^ to ^ amount);

    w->check += score & 0xff;
    if (w->balance[from] < amount || (score & 63) == 0) {
        stats_note(w, EV_REJECT, amount);
        return;
    }
    w->balance[from] -= amount;
    w->balance[to] += amount;
    stats_note(w, EV_OK, amount);
    stats_note(w, EV_FEE, amount / 100);
}

static int run(void *arg)
{
    struct worker *w = arg;
    uint32_t r = 12345u + w->id;

    for (int i = 0; i < ACCOUNTS; i++)
        w->balance[i] = 100000;
    for (int i = 0; i < TXNS; i++) {
        r = r * 1664525u + 1013904223u;
        transfer(w, r >> 22, (r >> 12) & 1023, r % 2000 + 1);
    }
    stats_merge(&w->local);
    return 0;
}

int main(void)
{
    thrd_t t[THREADS];
    uint64_t check = 0;

    mtx_init(&stats_lock, mtx_plain);
    for (int i = 0; i < THREADS; i++) {
        workers[i].id = i;
        thrd_create(&t[i], run, &workers[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        thrd_join(t[i], NULL);
        check += workers[i].check;
    }
    for (int i = 0; i < EV_MAX; i++)
        printf("event %d: %lu amount %lu median bucket %lu\n", i, global_stats.count[i], global_stats.amount[i],
               global_stats.le[i][BUCKETS / 2]);
    printf("check %lu\n", check);
    mtx_destroy(&stats_lock);
    return 0;
}
