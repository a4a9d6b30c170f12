/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "host.h"
#include "stores/rec_session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TREE_SIZE 128 /* bytes for each context, about */

typedef struct rec_tree {
    lode_calltree *tree;
    tally reading;
} rec_tree;

static void free_tree(void *result)
{
    rec_tree *t = result;
    lode_calltree_free(t->tree);
    tally_free(&t->reading);
    free(t);
}

char *rec_key(const rec_session *s, const char *word)
{
    char *key = NULL;
    const shared_options *shared = s->shared;
    /* Without off-CPU time, it makes no difference whether it is a call. */
    int no_sched = s->slice.no_sched && lode_recording_has_sched(s->recording);
    if (!s->is_borrowed || asprintf(&key, "%s %p %" PRIu64 " %" PRIu64 " %u %" PRIu64 " %d %d\n%s\n%s", word,
                                    (const void *)s->recording, s->slice.from, s->slice.to,
                                    (unsigned)s->slice.depth, s->slice.min_time, no_sched, s->is_running,
                                    shared->tasks ? shared->tasks : "", shared->ids ? shared->ids : "") < 0)
        return NULL;
    return key;
}

static rec_tree *compute_tree(rec_session *s)
{
    lode_error error = {0};
    rec_tree *t = alloc_array(1, sizeof *t);
    lode_calls_options options = rec_calls_options(s);
    lode_status status = lode_calltree_compute(&t->tree, s->recording, &s->slice, &options, &error);
    progress_clear(&s->progress);
    if (status != LODE_OK) {
        free_tree(t);
        rec_error(s, &error);
        return NULL;
    }
    tally_merge(&t->reading, &s->reading, LODE_NOTE);
    return t;
}

const lode_calltree *rec_calltree(rec_session *s)
{
    char *key = rec_key(s, "calltree");
    rec_tree **tree = &s->tree[s->is_running];
    *tree = key ? host_cache_take(key) : NULL;
    if (*tree) {
        (void)rec_calls_options(s); /* how many findings are counted */
        tally_merge(&s->reading, &(*tree)->reading, LODE_NOTE);
        free(key);
        return (*tree)->tree;
    }
    *tree = compute_tree(s);
    if (key && *tree)
        host_cache_put(key, *tree, (size_t)lode_calltree_context_count((*tree)->tree) * TREE_SIZE, free_tree);
    else if (key)
        host_cache_abandon(key);
    free(key);
    return *tree ? (*tree)->tree : NULL;
}

void rec_free_calltree(rec_session *s)
{
    for (int i = 0; i < 2; i++) {
        host_cache_release(s->tree[i], free_tree);
        s->tree[i] = NULL;
    }
}
