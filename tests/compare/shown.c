/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints what the library says of two stores: shown BASE NEW [strong|weak BASE-RANKS NEW-RANKS].
 * JSON, one document: matched shares, nodes of the tree and, if asked for, scaling losses.
 */
#include <lode/unstable.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct store {
    lode_database *db;
    lode_recording *recording;
    lode_cost *cost;
    lode_calltree *calls;
};

static void stop(const char *what, const lode_error *error)
{
    fprintf(stderr, "%s: %s\n", what, error->text);
    exit(1);
}

static const lode_cost *open_store(struct store *store, const char *path)
{
    lode_error error = {0};
    if (lode_database_open(&store->db, path, &error) == LODE_OK) {
        if (lode_cost_compute(&store->cost, store->db, NULL, &error) != LODE_OK)
            stop(path, &error);
        return store->cost;
    }
    if (lode_recording_open(&store->recording, path, NULL, &error) != LODE_OK ||
        lode_calltree_compute(&store->calls, store->recording, NULL, NULL, &error) != LODE_OK)
        stop(path, &error);
    return lode_calltree_cost(store->calls);
}

static void close_store(struct store *store)
{
    lode_cost_free(store->cost);
    lode_calltree_free(store->calls);
    lode_database_close(store->db);
    lode_recording_close(store->recording);
}

static void print_text(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('"');
}

static void print_name(const lode_compared_tree *tree, uint32_t node)
{
    char name[16384];
    lode_compared_tree_name(tree, node, name, sizeof name);
    print_text(name);
}

static void print_nodes(const lode_compared_tree *tree, const lode_scaling_options *scaling)
{
    printf("\"nodes\": [\n");
    for (uint32_t i = 0; i < lode_compared_tree_count(tree); i++) {
        lode_compare_node node;
        lode_scaling_loss loss;
        lode_error error;
        if (lode_compared_tree_node(tree, i, &node, sizeof node) != LODE_OK ||
            lode_scaling_loss_of(tree, i, scaling, &loss, &error) != LODE_OK)
            stop("node", &error);
        printf("%s{\"name\": ", i ? ",\n" : "");
        print_name(tree, i);
        printf(", \"parent\": %u, \"depth\": %u, \"marks\": %u, \"own\": [%.17g, %.17g], \"inclusive\": "
               "[%.17g, %.17g], \"gross\": %.17g, \"loss\": [%.17g, %.17g], \"renamed\": %lld}",
               node.parent, node.depth, node.marks, node.own[0], node.own[1], node.inclusive[0],
               node.inclusive[1], node.gross, loss.own, loss.inclusive,
               node.marks & LODE_PERHAPS_RENAMED ? (long long)node.renamed : -1LL);
    }
    printf("]");
}

static void print_losses(const lode_compared_tree *tree, const lode_scaling_options *scaling,
                         const char *name)
{
    lode_scaling_table *table;
    lode_error error;
    if (lode_scaling_compute(&table, tree, scaling, &error) != LODE_OK)
        stop("scaling", &error);
    printf(",\n\"%s\": [", name);
    for (size_t i = 0; i < lode_scaling_table_count(table); i++) {
        const lode_scaling_row *row = lode_scaling_table_at(table, i);
        printf("%s{\"name\": ", i ? ",\n" : "");
        print_name(tree, row->node);
        printf(", \"caller\": ");
        print_name(tree, row->caller);
        printf(", \"own\": %.17g, \"inclusive\": %.17g, \"nodes\": %u}", row->own, row->inclusive,
               row->nodes);
    }
    printf("]");
    lode_scaling_table_free(table);
}

static void print_path(const lode_compared_tree *tree, const lode_scaling_options *scaling)
{
    uint32_t nodes[256];
    size_t count;
    lode_error error;
    if (lode_scaling_hot_path(tree, scaling, nodes, 256, &count, &error) != LODE_OK)
        stop("hot path", &error);
    printf(",\n\"hot_path\": [");
    for (size_t i = 0; i < count && i < 256; i++)
        printf("%s%u", i ? ", " : "", nodes[i]);
    printf("]");
}

static void print_flat(const lode_cost *base, const lode_cost *new_cost)
{
    lode_comparison *flat;
    lode_error error;
    if (lode_compare(&flat, &base, 1, &new_cost, 1, 1, NULL, &error) != LODE_OK)
        stop("compare", &error);
    printf("\"flat\": [%.17g, %.17g],\n\"rows\": [", lode_comparison_matched(flat, LODE_BASE, 0),
           lode_comparison_matched(flat, LODE_NEW, 0));
    for (size_t i = 0; i < lode_comparison_count(flat); i++) {
        printf("%s{\"name\": ", i ? ",\n" : "");
        print_text(lode_comparison_at(flat, i)->key.name);
        printf(", \"marks\": %u, \"exclusive\": [%.17g, %.17g]}", lode_comparison_at(flat, i)->marks,
               lode_comparison_exclusive(flat, i, LODE_BASE, 0, 0),
               lode_comparison_exclusive(flat, i, LODE_NEW, 0, 0));
    }
    printf("],\n");
    lode_comparison_free(flat);
}

int main(int argc, char **argv)
{
    struct store stores[2] = {{0}};
    lode_scaling_options scaling = LODE_SCALING_OPTIONS_INIT;
    lode_compared_tree *tree;
    lode_error error;
    if (argc != 3 && argc != 6)
        return 2;
    const lode_cost *base = open_store(&stores[0], argv[1]), *new_cost = open_store(&stores[1], argv[2]);
    if (argc == 6) {
        scaling.how = strcmp(argv[3], "weak") == 0 ? LODE_SCALING_WEAK : LODE_SCALING_STRONG;
        scaling.base_ranks = strtod(argv[4], NULL);
        scaling.new_ranks = strtod(argv[5], NULL);
    }
    printf("{");
    print_flat(base, new_cost);
    if (lode_compare_trees(&tree, &base, 1, &new_cost, 1, NULL, &error) != LODE_OK)
        stop("compare", &error);
    printf("\"tree\": [%.17g, %.17g],\n", lode_compared_tree_matched(tree, LODE_BASE),
           lode_compared_tree_matched(tree, LODE_NEW));
    print_nodes(tree, &scaling);
    print_losses(tree, &scaling, "losses");
    scaling.by_callers = 1;
    print_losses(tree, &scaling, "losses_by_callers");
    print_path(tree, &scaling);
    printf("}\n");
    lode_compared_tree_free(tree);
    close_store(&stores[0]);
    close_store(&stores[1]);
    return 0;
}
