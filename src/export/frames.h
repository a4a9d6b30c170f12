/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames: functions, and what stands for one in a call stack, each with one number. */
#ifndef LODE_EXPORT_FRAMES_H
#define LODE_EXPORT_FRAMES_H

#include "base/error.h"
#include "base/memory/intern.h"
#include "base/memory/map.h"
#include <lode/name.h>

/* A frame. Strings are valid UTF-8 without control characters; "" where nothing is known. */
struct lode_export_frame {
    const char *name;
    const char *symbol; /* the name in the store, if it differs from `name`; "": it does not */
    const char *file, *module;
    uint32_t line;    /* of the function; 0: not known */
    bool is_code;     /* code of a module without a function, at: */
    uint64_t address; /* in the module */
};

struct lode_export_frames {
    lode_name_form form;
    bool by_name; /* functions of one name are one, without file, module and line */
    struct lode_strings strings;
    struct lode_interner keys;
    struct lode_map by_function; /* address of the function to number of the frame */
    struct lode_array text;      /* char: a label */
};

void lode_export_frames_init(struct lode_export_frames *frames, lode_name_form form);
void lode_export_frames_free(struct lode_export_frames *frames);
uint32_t lode_export_frames_count(const struct lode_export_frames *frames);
struct lode_export_frame lode_export_frames_at(const struct lode_export_frames *frames, uint32_t frame);

/* The frame of a function. Functions that have all of lode_export_frame in common are one. */
lode_status lode_export_frames_function(struct lode_export_frames *frames, const lode_function *function,
                                        uint32_t *frame, lode_error *error);
/* The frame of a context that has no function, named by its label. */
lode_status lode_export_frames_context(struct lode_export_frames *frames, const lode_context *context,
                                       uint32_t *frame, lode_error *error);
/* Replaces what is not UTF-8, and control characters, by '?'. */
void lode_export_clean(char *text);
/* Any other frame, by a name. */
lode_status lode_export_frames_named(struct lode_export_frames *frames, const char *name, uint32_t *frame,
                                     lode_error *error);

#endif
