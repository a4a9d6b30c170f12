/* SPDX-License-Identifier: BSD-3-Clause */
/* Two call trees as one: the nodes that changed, with both costs. */
#include "lodepy.h"

#include <math.h>

typedef struct tree_question {
    int form;
    double min_share;
    int is_all; /* also what did not change */
} tree_question;

typedef struct node_list {
    const lode_compared_tree *tree;
    uint32_t *nodes;
    size_t count;
} node_list;

static lode_compare_node node_at(const lode_compared_tree *tree, uint32_t index)
{
    lode_compare_node node = {0};
    /* Indices come from the tree itself. */
    (void)!lode_compared_tree_node(tree, index, &node, sizeof node);
    return node;
}

static double size_of(const lode_compare_node *node)
{
    return fmax(fabs(node->inclusive[LODE_BASE]), fabs(node->inclusive[LODE_NEW]));
}

static bool is_shown(const lode_compare_node *node, double least, int is_all)
{
    return (node->gross >= least && node->gross > 0) ||
           (is_all && size_of(node) >= least && size_of(node) > 0);
}

/* The nodes below the root that are shown: parents come before children. False without memory. */
static bool list_nodes(node_list *list, const lode_compared_tree *tree, const tree_question *question)
{
    uint32_t count = lode_compared_tree_count(tree);
    double least = question->min_share * fabs(lode_compared_tree_total(tree, LODE_BASE));
    *list = (node_list){tree, malloc(((size_t)count + 1) * sizeof *list->nodes), 0};
    for (uint32_t i = 1; list->nodes && i < count; i++) {
        lode_compare_node node = node_at(tree, i);
        if (is_shown(&node, least, question->is_all))
            list->nodes[list->count++] = i;
    }
    return list->nodes != NULL;
}

static void add_name(lp_frame *frame, const lode_context *context, int form)
{
    if (context)
        lp_frame_label(frame, lp_label_of_context, context, form);
    else
        lp_frame_text(frame, NULL);
}

static void add_node(lp_frame *frame, const lode_compared_tree *tree, uint32_t index, int form)
{
    lode_compare_node node = node_at(tree, index);
    unsigned marks = node.marks;
    const double numbers[] = {node.inclusive[LODE_NEW] - node.inclusive[LODE_BASE],
                              node.gross,
                              node.inclusive[LODE_BASE],
                              node.inclusive[LODE_NEW],
                              node.own[LODE_BASE],
                              node.own[LODE_NEW],
                              node.calls[LODE_BASE],
                              node.calls[LODE_NEW]};
    add_name(frame, node.new_context ? node.new_context : node.base_context, form);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        lp_frame_real(frame, numbers[i]);
    lp_frame_text(frame, marks & LODE_ONLY_IN_BASE ? "base" : marks & LODE_ONLY_IN_NEW ? "new" : NULL);
    add_name(frame, node.base_context, form);
    add_name(frame, node.new_context, form);
    lp_frame_u64(frame, index);
    lp_frame_u64(frame, node.parent);
}

static PyObject *tree_frame(PyObject *module, const node_list *list, int form)
{
    static const lp_field fields[] = {
        {"name", 's'},      {"difference", 'd'}, {"gross", 'd'},      {"base", 'd'},      {"new", 'd'},
        {"base_own", 'd'},  {"new_own", 'd'},    {"base_calls", 'd'}, {"new_calls", 'd'}, {"only_in", 's'},
        {"base_name", 's'}, {"new_name", 's'},   {"node", 'I'},       {"parent", 'I'},
    };
    lp_frame frame;
    if (!lp_frame_open(&frame, fields, sizeof fields / sizeof *fields, list->count))
        return NULL;
    for (size_t i = 0; i < list->count; i++)
        add_node(&frame, list->tree, list->nodes[i], form);
    return lp_frame_close(&frame, module);
}

static PyObject *tree_answer(PyObject *module, const lode_compared_tree *tree, const tree_question *question)
{
    node_list list;
    PyObject *dict =
        list_nodes(&list, tree, question) ? tree_frame(module, &list, question->form) : PyErr_NoMemory();
    free(list.nodes);
    lode_compare_node root = node_at(tree, 0);
    return dict ? Py_BuildValue("N(dd)d(dd)", dict, lode_compared_tree_total(tree, LODE_BASE),
                                lode_compared_tree_total(tree, LODE_NEW), root.gross,
                                lode_compared_tree_matched(tree, LODE_BASE),
                                lode_compared_tree_matched(tree, LODE_NEW))
                : NULL;
}

/* compare_tree(base, new, form, scale, scale, share, all) -> (dict, totals, gross, matched shares) */
PyObject *lp_module_compare_tree(PyObject *module, PyObject *arguments)
{
    PyObject *base, *new_argument, *result = NULL;
    tree_question question;
    double base_scale, new_scale;
    lode_compared_tree *tree = NULL;
    lode_error error;
    if (!PyArg_ParseTuple(arguments, "OOidddp:compare_tree", &base, &new_argument, &question.form,
                          &base_scale, &new_scale, &question.min_share, &question.is_all))
        return NULL;
    lp_cost *sides[2] = {lp_cost_of(module, base), lp_cost_of(module, new_argument)};
    if (!sides[0] || !sides[1])
        return NULL;
    const lode_cost *base_cost = sides[0]->cost, *new_cost = sides[1]->cost;
    lode_compare_tree_options options = LODE_COMPARE_TREE_OPTIONS_INIT;
    options.base_scales = &base_scale;
    options.new_scales = &new_scale;
    lode_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = lode_compare_trees(&tree, &base_cost, 1, &new_cost, 1, &options, &error);
    Py_END_ALLOW_THREADS;
    result = status == LODE_OK ? tree_answer(module, tree, &question) : lp_raise(module, &error);
    lode_compared_tree_free(tree);
    return result;
}
