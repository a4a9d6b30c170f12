/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of the tree, for those who open them. */
#ifndef CLI_TUI_TREE_H
#define CLI_TUI_TREE_H

#include "tui/app.h"

typedef struct tui_tree_row {
    uint32_t node; /* of the outline; of a rest, the first of them */
    uint32_t depth;
    uint32_t rest; /* how many nodes this row stands for that are too small for one; else 0 */
    unsigned char can_open, is_open;
} tui_tree_row;

/* What a node is; 0 if there is none. */
int tree_node(const tui_app *app, uint32_t node, lode_view_row *row, int *has_more);
const char *tree_name(tui_app *app, const lode_view_row *row);
/* Puts the rows below a row, if there are any. 0, or -1 and a message. */
int tree_open(tui_app *app, size_t index);
/* Goes to the next row that matches, opening what it is in; 0 if there is none. */
int tree_find(tui_app *app, int direction);

#endif
