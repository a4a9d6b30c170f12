/* SPDX-License-Identifier: BSD-3-Clause */
/* task.txt, and the binary file of the same content that old recorders write. */
#include "base/error.h"
#include "base/io/bytes.h"
#include "format/uftrace/read.h"

static const char text_name[] = "task.txt";
static const char binary_name[] = "task";

enum {
    SESSION_ID_LENGTH = 16,
    MESSAGE_MAGIC = 0xface,
    MESSAGE_HEADER = 8,
    MESSAGE_TASK = 16,         /* u64 time, i32 pid, i32 tid */
    MESSAGE_SESSION = 16 + 24, /* task, char sid[16], i32 unused, i32 length of the name */
    MESSAGE_TASK_START = 3,
    MESSAGE_FORK_END = 6,
    MESSAGE_SESSION_START = 7
};

bool lode_uft_take_time(struct uft_text *text, uint64_t *out)
{
    uint64_t seconds, nanoseconds;
    return uft_take_number(text, 10, &seconds) && uft_take(text, ".") &&
           uft_take_number(text, 10, &nanoseconds) && checked_mul(seconds, 1000000000, &seconds) &&
           checked_add(seconds, nanoseconds, out);
}

static lode_status add_session(struct uft_opening *opening, const struct uft_session *session)
{
    uint32_t index = (uint32_t)opening->sessions.count;
    struct uft_text id = {session->id, session->id + strlen(session->id)};
    const uint32_t *first = lode_map_add(&opening->session_index, uft_hash(id), index, NULL);
    struct uft_session *added = first ? lode_array_push(&opening->sessions) : NULL;
    LODE_TRY_ALLOC(added, opening->error);
    *added = *session;
    added->group = *first;
    return LODE_OK;
}

static lode_status add_task(struct uft_opening *opening, uint64_t time, int32_t tid, int32_t pid)
{
    struct uft_task_line *added = lode_array_push(&opening->tasks);
    LODE_TRY_ALLOC(added, opening->error);
    *added = (struct uft_task_line){time, tid, pid};
    return LODE_OK;
}

static lode_status add_fork(struct uft_opening *opening, uint64_t time, int32_t child, int32_t parent)
{
    struct uft_fork_line *added = lode_array_push(&opening->forks);
    LODE_TRY_ALLOC(added, opening->error);
    *added = (struct uft_fork_line){time, child, parent};
    return LODE_OK;
}

/* ---- text ---- */

/* A quoted value, up to the last quote of the line: names are not escaped. */
static bool take_quoted(struct uft_text *line, const char *key, struct uft_text *out)
{
    uft_skip_blanks(line);
    if (!uft_take(line, key) || !uft_take(line, "\""))
        return false;
    const char *end = line->end;
    while (end > line->at && end[-1] != '"')
        end--;
    if (end == line->at)
        return false;
    *out = (struct uft_text){line->at, end - 1};
    return true;
}

static bool take_time(struct uft_text *line, uint64_t *time)
{
    uft_skip_blanks(line);
    return uft_take(line, "timestamp=") && lode_uft_take_time(line, time);
}

static bool take_id(struct uft_text *line, const char *key, int32_t *id)
{
    uft_skip_blanks(line);
    return uft_take(line, key) && uft_take_id(line, id);
}

static lode_status malformed(struct uft_opening *opening, uint64_t offset, const char *kind)
{
    return lode_report_add(opening->report, UFT_TASK_LINE, text_name, offset,
                           "a line that begins with %s is malformed; it is omitted", kind);
}

static lode_status read_session(struct uft_opening *opening, struct uft_text line, uint64_t offset)
{
    struct uft_session session = {0};
    struct uft_text id, program;
    bool is_sound = take_time(&line, &session.time) &&
                    (take_id(&line, "pid=", &session.pid) || take_id(&line, "tid=", &session.pid));
    uft_skip_blanks(&line);
    is_sound = is_sound && uft_take(&line, "sid=");
    id = uft_take_word(&line);
    if (!is_sound || uft_length(id) == 0 || !take_quoted(&line, "exename=", &program))
        return malformed(opening, offset, "SESS");
    if (uft_length(id) > SESSION_ID_LENGTH)
        LODE_TRY(lode_report_add(opening->report, UFT_SESSION_ID, text_name, offset,
                                 "the id of a session has %zu characters", uft_length(id)));
    LODE_TRY(lode_uft_text(opening, id, &session.id));
    LODE_TRY(lode_uft_text(opening, program, &session.program));
    return add_session(opening, &session);
}

static lode_status read_task(struct uft_opening *opening, struct uft_text line, uint64_t offset)
{
    uint64_t time;
    int32_t tid, pid;
    if (!take_time(&line, &time) || !take_id(&line, "tid=", &tid) || !take_id(&line, "pid=", &pid))
        return malformed(opening, offset, "TASK");
    return add_task(opening, time, tid, pid);
}

static lode_status read_fork(struct uft_opening *opening, struct uft_text line, uint64_t offset)
{
    uint64_t time;
    int32_t child, parent;
    if (!take_time(&line, &time) || !take_id(&line, "pid=", &child) || !take_id(&line, "ppid=", &parent))
        return malformed(opening, offset, "FORK");
    return add_fork(opening, time, child, parent);
}

/* Sessions may come later in the file, so the session is looked up when all are known. */
static lode_status read_dlopen(struct uft_opening *opening, struct uft_text line, uint64_t offset)
{
    struct uft_dlopen loaded = {0};
    struct uft_text id, library;
    bool is_sound = take_time(&line, &loaded.time) && take_id(&line, "tid=", &loaded.tid);
    uft_skip_blanks(&line);
    is_sound = is_sound && uft_take(&line, "sid=");
    id = uft_take_word(&line);
    uft_skip_blanks(&line);
    is_sound = is_sound && uft_take(&line, "base=") && uft_take_number(&line, 16, &loaded.base);
    if (!is_sound || !take_quoted(&line, "libname=", &library))
        return malformed(opening, offset, "DLOP");
    const uint32_t *first = lode_map_get(&opening->session_index, uft_hash(id));
    loaded.group = first ? *first : LODE_NO_INDEX;
    LODE_TRY(lode_uft_add_module(opening, library, (struct uft_text){"", ""}, &loaded.module));
    struct uft_dlopen *added = lode_array_push(&opening->dlopens);
    LODE_TRY_ALLOC(added, opening->error);
    *added = loaded;
    return LODE_OK;
}

static lode_status read_text(struct uft_opening *opening, struct lode_range text)
{
    struct uft_lines lines = {.text = text};
    struct uft_text line;
    while (uft_next_line(&lines, &line)) {
        uint64_t at = lines.offset;
        if (uft_take(&line, "SESS "))
            LODE_TRY(read_session(opening, line, at));
        else if (uft_take(&line, "TASK "))
            LODE_TRY(read_task(opening, line, at));
        else if (uft_take(&line, "FORK "))
            LODE_TRY(read_fork(opening, line, at));
        else if (uft_take(&line, "DLOP "))
            LODE_TRY(read_dlopen(opening, line, at));
    }
    return LODE_OK;
}

/* ---- messages ---- */

struct message {
    unsigned type;
    uint64_t time;
    int32_t pid, tid;
};

static lode_status bad_message(struct uft_opening *opening, uint64_t offset)
{
    return lode_report_add(opening->report, UFT_TASK_LINE, binary_name, offset,
                           "a message is malformed; the rest of the file is omitted");
}

static lode_status read_session_message(struct uft_opening *opening, const struct message *message,
                                        struct lode_range body, uint64_t offset)
{
    const uint8_t *at = body.data + MESSAGE_TASK;
    bool big = opening->rec->info.big_endian;
    uint32_t length = big ? get_u32be(at + 20) : get_u32le(at + 20);
    struct uft_session session = {.time = message->time, .pid = message->pid};
    if (length > body.size - MESSAGE_SESSION)
        return bad_message(opening, offset);
    const char *id = (const char *)at, *name = (const char *)at + 24;
    LODE_TRY(lode_uft_text(opening, (struct uft_text){id, id + strnlen(id, SESSION_ID_LENGTH)}, &session.id));
    LODE_TRY(lode_uft_text(opening, (struct uft_text){name, name + strnlen(name, length)}, &session.program));
    return add_session(opening, &session);
}

static lode_status read_message(struct uft_opening *opening, unsigned type, struct lode_range body,
                                uint64_t offset)
{
    bool big = opening->rec->info.big_endian;
    bool is_known = type == MESSAGE_TASK_START || type == MESSAGE_FORK_END || type == MESSAGE_SESSION_START;
    if (!is_known)
        return LODE_OK;
    if (body.size < (type == MESSAGE_SESSION_START ? MESSAGE_SESSION : MESSAGE_TASK))
        return bad_message(opening, offset);
    struct message message = {.type = type};
    message.time = big ? get_u64be(body.data) : get_u64le(body.data);
    message.pid = (int32_t)(big ? get_u32be(body.data + 8) : get_u32le(body.data + 8));
    message.tid = (int32_t)(big ? get_u32be(body.data + 12) : get_u32le(body.data + 12));
    if (message.pid < 0 || message.tid < 0)
        return bad_message(opening, offset);
    if (type == MESSAGE_SESSION_START)
        return read_session_message(opening, &message, body, offset);
    if (type == MESSAGE_TASK_START)
        return add_task(opening, message.time, message.tid, message.pid);
    /* In a fork message, `pid` is the parent. */
    return add_fork(opening, message.time, message.tid, message.pid);
}

static lode_status read_messages(struct uft_opening *opening, struct lode_range file)
{
    bool big = opening->rec->info.big_endian;
    uint64_t at = 0;
    while (at < file.size) {
        struct lode_range head, body;
        if (!lode_range_part(file, at, MESSAGE_HEADER, &head))
            return bad_message(opening, at);
        unsigned magic = big ? get_u16be(head.data) : get_u16le(head.data);
        unsigned type = big ? get_u16be(head.data + 2) : get_u16le(head.data + 2);
        uint32_t length = big ? get_u32be(head.data + 4) : get_u32le(head.data + 4);
        if (magic != MESSAGE_MAGIC || !lode_range_part(file, at + MESSAGE_HEADER, length, &body))
            return bad_message(opening, at);
        LODE_TRY(read_message(opening, type, body, at));
        at += MESSAGE_HEADER + (uint64_t)length;
    }
    return LODE_OK;
}

/* ---- either format ---- */

static lode_status read_source(struct uft_opening *opening, const char *name, bool *is_there,
                               lode_status (*read)(struct uft_opening *opening, struct lode_range file))
{
    struct lode_input source;
    lode_status status = lode_input_open(&source, &opening->rec->folder, name, opening->error);
    *is_there = status == LODE_OK;
    if (status == LODE_ABSENT)
        return LODE_OK;
    if (status == LODE_OK)
        status = read(opening, source.bytes);
    lode_input_close(&source);
    return status;
}

lode_status lode_uft_read_tasks(struct uft_opening *opening)
{
    bool is_there;
    LODE_TRY(read_source(opening, binary_name, &is_there, read_messages));
    if (is_there)
        return lode_report_add(opening->report, UFT_TASKS_BINARY, binary_name, LODE_NO_OFFSET,
                               "the tasks are in the binary form of old recorders");
    LODE_TRY(read_source(opening, text_name, &is_there, read_text));
    if (is_there)
        return LODE_OK;
    return lode_report_add(opening->report, UFT_TASKS_MISSING, text_name, LODE_NO_OFFSET,
                           "there is no task.txt; the only map is used, if there is one");
}
