/* SPDX-License-Identifier: BSD-3-Clause */
/* What rows of costs can be, as choices of --by and as values: X(choice, value). */
#ifndef CLI_GROUP_CHOICES_H
#define CLI_GROUP_CHOICES_H

#define GROUPS_OF_CODE(X)                                                                                    \
    X("function", LODE_BY_FUNCTION)                                                                          \
    X("line", LODE_BY_LINE)                                                                                  \
    X("loop", LODE_BY_LOOP)                                                                                  \
    X("module", LODE_BY_MODULE)                                                                              \
    X("file", LODE_BY_FILE)
#define GROUPS(X)                                                                                            \
    GROUPS_OF_CODE(X)                                                                                        \
    X("symbol", LODE_BY_SYMBOL)                                                                              \
    X("kind", LODE_BY_KIND)

#define GROUP_CHOICE(choice, value) choice,
#define GROUP_VALUE(choice, value)  value,

#endif
