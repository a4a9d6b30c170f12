/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers of `lode search` about requests of services. */
#ifndef CLI_SEARCH_H
#define CLI_SEARCH_H

#include "commands/shared/recording.h"

/* Critical paths of the requests that were found. */
void search_path(out *o, rec_session *s, const lode_critical_path *path, const lode_search_options *asked);

/* What rates are of. */
typedef struct rates_question {
    const search_keys *keys;
    uint64_t interval; /* 0: one for all */
    uint64_t limit;    /* of groups; 0: all */
    int is_calls;      /* instead of requests */
} rates_question;

void search_rates(out *o, rec_session *s, const lode_rates *rates, const rates_question *question);
/* Rates and percentiles over time as SVG. EXIT_DONE, or EXIT_TROUBLE after a message. */
int search_rates_svg(const char *path, const lode_rates *rates, const rates_question *question);
/* Values of a group with commas between them, for free(). */
char *search_group_name(const lode_rates_group *group, size_t count);

/* The map of services: tables, a picture, or text for Graphviz. */
void search_services(out *o, rec_session *s, const lode_service_map *map, const lode_search_options *asked);
int search_services_svg(const char *path, const lode_service_map *map);
int search_services_dot(const char *path, const lode_service_map *map);

#endif
