/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that are slower than 99 % of them, with their attributes: slow STORE */
#include <lode/lode.h>
#include <stdio.h>
#include <stdlib.h>

static lode_status print(const lode_recording *store, uint32_t request, lode_error *error)
{
    lode_cursor *cursor = NULL;
    const lode_event *events;
    lode_argument value;
    size_t count, values;
    char text[128];
    lode_status status = lode_cursor_open(&cursor, store, request, NULL, error);
    while (status == LODE_OK && (status = lode_cursor_next(cursor, &events, &count, error)) == LODE_OK)
        for (size_t i = 0; i < count && status == LODE_OK; i++)
            if (lode_event_instant(store, &events[i]) == LODE_INSTANT_ATTRIBUTE) {
                status = lode_event_arguments(store, request, &events[i], &value, 1, &values, error);
                if (status == LODE_OK && values > 0 && lode_argument_text(&value, text, sizeof text) > 0)
                    printf("    %s = %s\n", lode_event_name(store, &events[i]), text);
            }
    lode_cursor_close(cursor);
    return status == LODE_END ? LODE_OK : status;
}

static lode_status find(const lode_recording *store, double *times, double *sorted, lode_error *error)
{
    lode_distribution all;
    lode_status status = LODE_OK;
    uint64_t begin, end;
    uint32_t count = lode_recording_track_count(store); /* a track is a request */
    for (uint32_t i = 0; i < count && status == LODE_OK; i++)
        if ((status = lode_track_interval(store, i, &begin, &end, error)) == LODE_OK)
            times[i] = sorted[i] = (double)(end - begin) / 1e6;
    lode_distribution_of(&all, sorted, count);
    for (uint32_t i = 0; i < count && status == LODE_OK; i++)
        if (times[i] > all.p99) {
            printf("%s  %.3f ms\n", lode_recording_track(store, i)->name, times[i]);
            status = print(store, i, error);
        }
    return status;
}

int main(int argc, char **argv)
{
    lode_recording *store = NULL;
    lode_error error = {.text = "usage: slow STORE"};
    char text[512];
    lode_status status = argc == 2 ? lode_recording_open(&store, argv[1], NULL, &error) : LODE_ERR_ARGUMENT;
    size_t count = status == LODE_OK ? lode_recording_track_count(store) : 0;
    double *times = calloc(2 * count + 1, sizeof *times);
    if (status == LODE_OK)
        status = times ? find(store, times, times + count, &error) : LODE_ERR_MEMORY;
    free(times);
    lode_recording_close(store);
    lode_error_text(&error, text, sizeof text);
    return status == LODE_OK ? 0 : fprintf(stderr, "slow: %s\n", text) < 0 ? 3 : 2;
}
