/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A content tree of many contexts: bytes per context with its order, and nanoseconds per lookup,
 * compared with a bare hash table of the same keys and hash. Nodes have one cache line, as when a
 * database is built.
 *
 * Usage: tree [CONTEXTS [LIMIT]]
 *
 * Exits with 1 if a context takes more than LIMIT bytes.
 */
#include "model/database/tree.h"
#include "base/memory/hash.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    FRAMES = 5000,
    CHILDREN = 12, /* of a node, on average that of programs whose trees are wide */
    NODE = 64
};

struct key {
    uint32_t parent, frame;
};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Bytes of a line of /proc/self/status. */
static double memory(const char *name)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    double kilobytes = 0;
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, name, strlen(name)) == 0)
            kilobytes = strtod(line + strlen(name) + 1, NULL);
    if (status)
        fclose(status);
    return kilobytes * 1024;
}

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* The context that comes as number `number`. */
static struct key key_at(uint32_t number)
{
    return (struct key){(number - 1) / CHILDREN, (number * UINT32_C(2654435761) >> 7) % FRAMES};
}

static double find_in_tree(struct lode_content_tree *tree, uint32_t count, uint64_t *sum)
{
    uint64_t random = 1;
    double start = seconds();
    for (uint32_t i = 0; i < count; i++) {
        const struct lode_tree_node *node = lode_tree_node(tree, 1 + next_random(&random) % (count - 1));
        *sum += lode_content_tree_child(tree, node->parent, node->frame);
    }
    return (seconds() - start) / count * 1e9;
}

/* The same lookups in a bare hash table. */
static double find_in_table(const struct lode_content_tree *tree, uint32_t count, uint64_t *sum)
{
    uint32_t mask = tree->slot_count - 1;
    struct slot {
        struct key key;
        uint32_t number;
    } *slots = calloc(tree->slot_count, sizeof *slots);
    struct key *keys = calloc(count, sizeof *keys);
    uint64_t random = 1;
    if (slots == NULL || keys == NULL)
        exit(2);
    for (uint32_t i = 1; i < count; i++) {
        const struct lode_tree_node *node = lode_tree_node(tree, i);
        uint32_t at = (uint32_t)lode_hash_pair(node->parent, node->frame) & mask;
        while (slots[at].number > 0)
            at = (at + 1) & mask;
        keys[i] = (struct key){node->parent, node->frame};
        slots[at] = (struct slot){keys[i], i};
    }
    double start = seconds();
    for (uint32_t i = 0; i < count; i++) {
        struct key key = keys[1 + next_random(&random) % (count - 1)];
        uint32_t at = (uint32_t)lode_hash_pair(key.parent, key.frame) & mask;
        while (memcmp(&slots[at].key, &key, sizeof key) != 0)
            at = (at + 1) & mask;
        *sum -= slots[at].number;
    }
    double nanoseconds = (seconds() - start) / count * 1e9;
    free(slots);
    free(keys);
    return nanoseconds;
}

int main(int argc, char **argv)
{
    uint32_t wanted = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000000;
    double limit = argc > 2 ? strtod(argv[2], NULL) : 100;
    static uint32_t ranks[FRAMES];
    struct lode_content_tree tree;
    struct lode_tree_order order;
    uint64_t sum = 0;
    double before = memory("RssAnon:"), start = seconds();
    if (!lode_content_tree_open(&tree, NODE))
        return 2;
    for (uint32_t i = 1; tree.count <= wanted; i++) {
        struct key key = key_at(i);
        if (key.parent >= tree.count || lode_content_tree_child(&tree, key.parent, key.frame) == 0)
            return 2;
    }
    double grown = (seconds() - start) / wanted * 1e9, bytes = (memory("RssAnon:") - before) / wanted;
    double peak = (memory("VmHWM:") - before) / wanted;
    double tree_time = find_in_tree(&tree, tree.count, &sum),
           table_time = find_in_table(&tree, tree.count, &sum);
    lode_content_tree_compact(&tree, sizeof(struct lode_tree_node));
    for (uint32_t i = 0; i < FRAMES; i++)
        ranks[i] = FRAMES - 1 - i;
    start = seconds();
    if (!lode_tree_order_make(&order, &tree, ranks, FRAMES))
        return 2;
    double ordered = (seconds() - start) / wanted * 1e9, with_order = (memory("RssAnon:") - before) / wanted;
    printf("%u contexts: %.1f bytes each, %.1f at the peak, %.1f in order\n", wanted, bytes, peak,
           with_order);
    printf("%.0f ns to add, %.0f ns to find (%.2f times a bare hash table's %.0f ns), %.0f ns to order\n",
           grown, tree_time, tree_time / table_time, table_time, ordered);
    lode_tree_order_free(&order);
    lode_content_tree_close(&tree);
    return sum != 0 || bytes > limit || peak > limit || with_order > limit;
}
