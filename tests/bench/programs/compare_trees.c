/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processor time to pair the trees of two databases, beside the time to open both and to compute
 * their costs: compare_trees BASE NEW [LIMIT]. Exits with 1 if pairing takes more than LIMIT (3)
 * times opening.
 */
#include <lode/unstable.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void stop(const char *what, const lode_error *error)
{
    fprintf(stderr, "%s: %s\n", what, error->text);
    exit(2);
}

int main(int argc, char **argv)
{
    lode_database *db[2];
    lode_cost *costs[2];
    lode_comparison *flat;
    lode_compared_tree *tree;
    lode_error error;
    if (argc != 3 && argc != 4)
        return 2;
    double limit = argc == 4 ? strtod(argv[3], NULL) : 3.0, begin = seconds();
    for (int i = 0; i < 2; i++)
        if (lode_database_open(&db[i], argv[1 + i], &error) != LODE_OK ||
            lode_cost_compute(&costs[i], db[i], NULL, &error) != LODE_OK)
            stop(argv[1 + i], &error);
    double opened = seconds();
    const lode_cost *base = costs[0], *new_cost = costs[1];
    if (lode_compare(&flat, &base, 1, &new_cost, 1, 1, NULL, &error) != LODE_OK)
        stop("by function", &error);
    double compared = seconds();
    if (lode_compare_trees(&tree, &base, 1, &new_cost, 1, NULL, &error) != LODE_OK)
        stop("trees", &error);
    double paired = seconds();
    double ratio = (paired - compared) / (opened - begin);
    printf("%u + %u contexts, %zu functions, %u nodes, matched %.1f / %.1f %%\n",
           lode_database_context_count(db[0]), lode_database_context_count(db[1]),
           lode_comparison_count(flat), lode_compared_tree_count(tree),
           100.0 * lode_compared_tree_matched(tree, LODE_BASE),
           100.0 * lode_compared_tree_matched(tree, LODE_NEW));
    printf("open %.2f s, by function %.2f s, trees %.2f s: %.2f times opening\n", opened - begin,
           compared - opened, paired - compared, ratio);
    lode_compared_tree_free(tree);
    lode_comparison_free(flat);
    for (int i = 0; i < 2; i++) {
        lode_cost_free(costs[i]);
        lode_database_close(db[i]);
    }
    return ratio > limit;
}
