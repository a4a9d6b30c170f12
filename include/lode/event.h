/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of a track, and cursors that return them. */
#ifndef LODE_EVENT_H
#define LODE_EVENT_H

#include <lode/recording.h>

LODE_BEGIN_DECLS

typedef enum lode_event_kind {
    LODE_EVENT_ENTER,     /* a call begins */
    LODE_EVENT_LEAVE,     /* it ends; `function` is the one that was entered */
    LODE_EVENT_SCHED_OUT, /* the thread goes off-CPU; `function` is a pseudo function */
    LODE_EVENT_SCHED_IN,  /* it runs again */
    LODE_EVENT_INSTANT,   /* something happened; lode_event_name says what */
    LODE_EVENT_LOST       /* records were lost here */
} lode_event_kind;

enum {
    LODE_EVENT_MADE = 1,      /* is not in the recording: added by a repair */
    LODE_EVENT_MOVED = 2,     /* has another time in the recording: it went backwards */
    LODE_EVENT_PREEMPTED = 4, /* SCHED_OUT and SCHED_IN: the thread would have gone on */
    LODE_EVENT_FAILED = 8     /* LEAVE: the call ended with an error */
};

/*
 * One event. On a track that is read from its beginning to its end ENTER and LEAVE, SCHED_OUT and
 * SCHED_IN are balanced and nested, and times do not go back.
 */
typedef struct lode_event {
    uint64_t time; /* nanoseconds, in the clock of the recording */
    union {
        const lode_function *function; /* ENTER, LEAVE, SCHED_OUT, SCHED_IN */
        /* INSTANT: its kind; LOST: how many records, 0 if that is not known */
        uint64_t id;
    };
    uint32_t depth; /* callers, as the recorder counted them */
    uint8_t kind;   /* lode_event_kind */
    uint8_t flags;  /* LODE_EVENT_MADE... */
    uint16_t data_size;
    const void *data; /* arguments, result or data of an instant event, as recorded; NULL: none */
} lode_event;

typedef struct lode_cursor lode_cursor;

typedef struct lode_cursor_options {
    size_t size;
    /*
     * A time window; `to` is exclusive, and 0 is the end. It is found by binary search, so calls
     * that began before it have a LEAVE only.
     */
    uint64_t from, to;
    int strict;                 /* fail at the first error, instead of repairing it */
    size_t buffer;              /* bytes to read at once; 0: as many as are good for reading all */
    lode_finding_fn on_finding; /* repairs; may be NULL */
    void *user;
} lode_cursor_options;
#define LODE_CURSOR_OPTIONS_INIT                                                                             \
    {                                                                                                        \
        sizeof(lode_cursor_options), 0, 0, 0, 0, NULL, NULL                                                  \
    }

/* Reads one track. `options` may be NULL. A cursor belongs to one thread. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_cursor_open(lode_cursor **out, const lode_recording *recording,
                                                   uint32_t track, const lode_cursor_options *options,
                                                   lode_error *error);
/*
 * The next events, at least one, valid until the next call; LODE_END after the last. MT: one
 * thread.
 */
LODE_API LODE_CHECKED lode_status lode_cursor_next(lode_cursor *cursor, const lode_event **events,
                                                   size_t *count, lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_cursor_close(lode_cursor *cursor);

typedef struct lode_merge lode_merge;

/* The track of what concerns the recording as a whole, such as messages of the user. */
#define LODE_NO_TRACK UINT32_MAX

/*
 * Reads the tracks of a slice in chronological order; events with equal times in the order of
 * tracks, but off-CPU events last. Only from, to and tracks of the slice apply. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_merge_open(lode_merge **out, const lode_recording *recording,
                                                  const lode_slice *slice, const lode_cursor_options *options,
                                                  lode_error *error);
/* The next event, valid until the next call; LODE_END after the last. MT: one thread. */
LODE_API LODE_CHECKED lode_status lode_merge_next(lode_merge *merge, const lode_event **event,
                                                  uint32_t *track, lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_merge_close(lode_merge *merge);

/* What an INSTANT is called, such as "read:page-fault"; never NULL. MT: any thread. */
LODE_API const char *lode_event_name(const lode_recording *recording, const lode_event *event);

/* What an INSTANT says of the call that it is in. */
typedef enum lode_instant {
    LODE_INSTANT_OTHER, /* something happened */
    /* it has an attribute: lode_event_name is the key, the arguments are the value */
    LODE_INSTANT_ATTRIBUTE,
    /*
     * It threw an exception. Arguments: "class", "message" and for each frame of the stack "at",
     * "method", "file", "line"; then the same with "cause" instead of "class" for each exception
     * that was the cause of the one before it.
     */
    LODE_INSTANT_EXCEPTION,
    LODE_INSTANT_NUMBERS /* numbers of the recorder: arguments with names */
} lode_instant;
/* LODE_INSTANT_OTHER for events that are no INSTANT. MT: any thread. */
LODE_API lode_instant lode_event_instant(const lode_recording *recording, const lode_event *event);

typedef enum lode_value_kind {
    LODE_VALUE_SIGNED,
    LODE_VALUE_UNSIGNED, /* hexadecimal if it is large and has no unit */
    LODE_VALUE_HEX,
    LODE_VALUE_OCTAL,
    LODE_VALUE_AUTO, /* signed, or hexadecimal if it is large */
    LODE_VALUE_CHARACTER,
    LODE_VALUE_REAL,
    LODE_VALUE_TEXT,
    LODE_VALUE_POINTER, /* `label` names what is there, if that is known */
    LODE_VALUE_ENUM,
    LODE_VALUE_BYTES,    /* a structure; `label` names its type, if that is known */
    LODE_VALUE_CHANGE,   /* signed, by how much something changed */
    LODE_VALUE_STRUCTURE /* lists and maps: lode_argument_text formats them */
} lode_value_kind;

/* An argument, a result, or a field of an instant event. */
typedef struct lode_argument {
    const char *name; /* "" if it has none */
    lode_value_kind kind;
    unsigned bits; /* of the value as recorded */
    union {
        int64_t signed_value;    /* SIGNED, AUTO, CHARACTER, ENUM, CHANGE */
        uint64_t unsigned_value; /* UNSIGNED, HEX, OCTAL, POINTER */
        double real;
    };
    const char *label; /* of a number, its unit; of TEXT, a suffix after the quotes; NULL: none */
    const void *bytes; /* TEXT, BYTES: not terminated; NULL: a TEXT that is none */
    size_t length;
    const void *type; /* of ENUM and STRUCTURE: for lode_argument_text */
} lode_argument;

/*
 * Decodes the data of an event: writes at most `capacity` values; `count` is their number. Labels
 * are borrowed from the recording, bytes from the event. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_event_arguments(const lode_recording *recording, uint32_t track,
                                                       const lode_event *event, lode_argument *arguments,
                                                       size_t capacity, size_t *count, lode_error *error);
/*
 * A value for people, such as `"name"`, `0x7ffe` or `PROT_WRITE|PROT_READ`; lengths as in
 * lode/name.h. In strings, characters that name.h shows as '?' are escaped: \n, \x1b, \u202e. MT:
 * any thread.
 */
LODE_API size_t lode_argument_text(const lode_argument *argument, char *buffer, size_t capacity);

LODE_END_DECLS
#endif
