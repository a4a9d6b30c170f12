// SPDX-License-Identifier: BSD-3-Clause
/* Searches a synthetic game tree with OpenMP tasks. */
#include <stdint.h>
#include <stdio.h>
#include <omp.h>

#define BRANCH 3
#define MAX_DEPTH 12
#ifdef FIX
#define TASK_DEPTH 4
#else
#define TASK_DEPTH MAX_DEPTH
#endif

struct position {
    uint32_t hash;
    int depth;
};

static inline int evaluate_position(const struct position *p)
{
    uint32_t h = p->hash;
    for (int i = 0; i < 650; i++)
        h = h * 2654435761u + (h >> 13);
    return (int)(h % 2001) - 1000;
}

static struct position make_move(const struct position *p, int move)
{
    struct position next;
    next.hash = p->hash * 31u + (uint32_t)move * 7919u + 17u;
    next.depth = p->depth + 1;
    return next;
}

__attribute__((noinline)) static int search(struct position p)
{
    if (p.depth == MAX_DEPTH)
        return evaluate_position(&p);
    int score[BRANCH];
    if (p.depth < TASK_DEPTH) {
        for (int m = 0; m < BRANCH; m++) {
#pragma omp task shared(score) firstprivate(p, m)
            score[m] = -search(make_move(&p, m));
        }
#pragma omp taskwait
    } else {
        for (int m = 0; m < BRANCH; m++)
            score[m] = -search(make_move(&p, m));
    }
    int best = score[0];
    for (int m = 1; m < BRANCH; m++)
        if (score[m] > best)
            best = score[m];
    return best;
}

int main(void)
{
    int best = 0;
    struct position root = { 12345u, 0 };
    omp_set_num_threads(2);
#pragma omp parallel
#pragma omp single
    best = search(root);
    printf("best %d\n", best);
    return 0;
}
