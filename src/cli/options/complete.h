/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 'lode complete', which the shells ask what may come next on a command line:
 *
 *     lode complete bash LINE CURSOR WORD   the line, the cursor in it, the word as bash has it
 *     lode complete zsh|fish WORD...        the words after "lode"; the last one is unfinished
 *
 * It prints pairs of lines: a candidate, and its description, which may be empty. Candidates for
 * bash are quoted as the line needs them; zsh and fish quote by themselves. If the first line is
 * empty, the second one is a word for the shell: "files" asks it to complete names of files,
 * "nospace" to add no space.
 */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

/* Prints candidates. Says nothing about what is wrong. Returns the exit status. */
int complete_run(int count, char **arguments);

#endif
