/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cost/selection.h"

#include "base/error.h"
#include "base/memory/array.h"
#include <ctype.h>
#include <lode/profile.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    SELECTION_MAX_RANGES = 4096,
    SELECTION_MAX_IDS = 64,
    KIND_PROFILE = -1 /* the profile index instead of one of its ids */
};

/* Ranges of a term are alternatives; all terms must hold. */
struct range {
    unsigned term;
    int kind;
    uint64_t first, last;
};

struct lode_selection {
    struct lode_array ranges;
    unsigned terms;
};

struct parser {
    const char *at;
    const lode_database *db;
    lode_selection *selection;
    lode_error *error;
};

static lode_status syntax_error(struct parser *parser, const char *what)
{
    return lode_fail(parser->error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                     "%s at '%s' in the selection of profiles; write it like rank=0-15+20,thread=0", what,
                     parser->at);
}

static lode_status parse_kind(struct parser *parser, int *kind)
{
    size_t length = strcspn(parser->at, "=,");
    if (parser->at[length] != '=')
        return syntax_error(parser, "'=' is missing");
    if (length == 7 && strncasecmp(parser->at, "profile", 7) == 0) {
        *kind = KIND_PROFILE;
        parser->at += length + 1;
        return LODE_OK;
    }
    for (unsigned i = 0; i < lode_database_id_kind_count(parser->db); i++) {
        const char *name = lode_database_id_kind_name(parser->db, i);
        if (strlen(name) != length || strncasecmp(name, parser->at, length) != 0)
            continue;
        *kind = (int)i;
        parser->at += length + 1;
        return LODE_OK;
    }
    return syntax_error(parser, "this database has no such kind of id");
}

static lode_status parse_number(struct parser *parser, uint64_t *number)
{
    char *end;
    if (!isdigit((unsigned char)*parser->at))
        return syntax_error(parser, "a number is missing");
    *number = strtoull(parser->at, &end, 10);
    parser->at = end;
    return LODE_OK;
}

static lode_status parse_range(struct parser *parser, int kind)
{
    struct range *range = lode_array_push(&parser->selection->ranges);
    if (range == NULL)
        return syntax_error(parser, "too many ranges");
    range->term = parser->selection->terms;
    range->kind = kind;
    LODE_TRY(parse_number(parser, &range->first));
    range->last = range->first;
    if (*parser->at != '-')
        return LODE_OK;
    const char *last = ++parser->at;
    LODE_TRY(parse_number(parser, &range->last));
    if (range->last >= range->first)
        return LODE_OK;
    parser->at = last;
    return syntax_error(parser, "the range ends before it begins");
}

static lode_status parse_term(struct parser *parser)
{
    int kind = KIND_PROFILE;
    LODE_TRY(parse_kind(parser, &kind));
    LODE_TRY(parse_range(parser, kind));
    while (*parser->at == '+') {
        parser->at++;
        LODE_TRY(parse_range(parser, kind));
    }
    parser->selection->terms++;
    return LODE_OK;
}

static lode_status parse_terms(struct parser *parser)
{
    LODE_TRY(parse_term(parser));
    while (*parser->at == ',') {
        parser->at++;
        LODE_TRY(parse_term(parser));
    }
    return *parser->at ? syntax_error(parser, "unexpected text") : LODE_OK;
}

lode_status lode_selection_parse(lode_selection **out, const lode_database *db, const char *text,
                                 lode_error *error)
{
    *out = NULL;
    lode_selection *selection = calloc(1, sizeof *selection);
    LODE_TRY_ALLOC(selection, error);
    lode_array_init(&selection->ranges, sizeof(struct range), SELECTION_MAX_RANGES);
    struct parser parser = {.at = text, .db = db, .selection = selection, .error = error};
    lode_status status = parse_terms(&parser);
    if (status == LODE_OK)
        *out = selection;
    else
        lode_selection_free(selection);
    return status;
}

void lode_selection_free(lode_selection *selection)
{
    if (selection == NULL)
        return;
    lode_array_free(&selection->ranges);
    free(selection);
}

lode_status lode_selection_copy(lode_selection **out, const lode_selection *selection, lode_error *error)
{
    *out = NULL;
    if (selection == NULL)
        return LODE_OK;
    lode_selection *copy = calloc(1, sizeof *copy);
    LODE_TRY_ALLOC(copy, error);
    lode_array_init(&copy->ranges, sizeof(struct range), SELECTION_MAX_RANGES);
    copy->terms = selection->terms;
    for (size_t i = 0; i < selection->ranges.count; i++) {
        struct range *range = lode_array_push(&copy->ranges);
        if (range == NULL) {
            lode_selection_free(copy);
            return lode_fail_memory(error);
        }
        *range = *LODE_ARRAY_AT(&selection->ranges, struct range, i);
    }
    *out = copy;
    return LODE_OK;
}

bool lode_selection_equal(const lode_selection *a, const lode_selection *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    size_t count = a->ranges.count;
    return count == b->ranges.count &&
           (count == 0 || memcmp(a->ranges.items, b->ranges.items, count * sizeof(struct range)) == 0);
}

static int range_has(const struct range *range, uint32_t profile, const lode_id *ids, uint32_t count)
{
    if (range->kind == KIND_PROFILE)
        return profile >= range->first && profile <= range->last;
    for (uint32_t i = 0; i < count; i++)
        if (ids[i].kind == (unsigned)range->kind && ids[i].logical >= range->first &&
            ids[i].logical <= range->last)
            return 1;
    return 0;
}

lode_status lode_selection_has(const lode_selection *selection, const lode_database *db, uint32_t profile,
                               int *selected, lode_error *error)
{
    *selected = !lode_profile_is_summary(db, profile);
    if (selection == NULL || !*selected)
        return LODE_OK;
    lode_id ids[SELECTION_MAX_IDS];
    uint32_t count;
    LODE_TRY(lode_profile_ids(db, profile, ids, SELECTION_MAX_IDS, &count, error));
    count = count < SELECTION_MAX_IDS ? count : SELECTION_MAX_IDS;
    unsigned held = 0; /* terms so far, which come in order */
    for (size_t i = 0; i < selection->ranges.count; i++) {
        const struct range *range = LODE_ARRAY_AT(&selection->ranges, struct range, i);
        if (range->term == held && range_has(range, profile, ids, count))
            held++;
    }
    *selected = held == selection->terms;
    return LODE_OK;
}
