/* SPDX-License-Identifier: BSD-3-Clause */
#include "uft_cases.h"

#include <string.h>

#define BREAK(name) static void break_##name(struct minirec *r)

/* ---- smaller recordings ---- */

/* Only calls: without an info file, nothing says what records carry. */
static void take_values_away(struct minirec *r)
{
    minirec_set(r, "100.dat", NULL, 0);
    minirec_record(r, "100.dat", 100, MINIREC_ENTRY, MINIREC_MAIN, 0);
    minirec_record(r, "100.dat", 900, MINIREC_EXIT, MINIREC_MAIN, 0);
    minirec_set(r, "102.dat", NULL, 0);
    minirec_record(r, "102.dat", 850, MINIREC_ENTRY, MINIREC_MAIN, 0);
    minirec_record(r, "102.dat", 880, MINIREC_EXIT, MINIREC_MAIN, 0);
}

/* One process and one map. */
static void take_child_away(struct minirec *r)
{
    take_values_away(r);
    minirec_replace(r, "info", "taskinfo:tids=100,101,102", "taskinfo:tids=100,101");
    minirec_drop(r, "102.dat");
    minirec_drop(r, "sid-fedcba9876543210.map");
    minirec_replace(r, "task.txt", "FORK timestamp=1.000000510 pid=102 ppid=100\n", "");
    minirec_replace(r, "task.txt",
                    "SESS timestamp=1.000000800 pid=102 sid=fedcba9876543210 exename=\"/bin/other\"\n"
                    "TASK timestamp=1.000000810 tid=102 pid=102\n",
                    "");
}

/* Begins another content of the second thread: run at depth 0, which is still open. */
static void begin_run(struct minirec *r)
{
    minirec_set(r, "101.dat", NULL, 0);
    minirec_record(r, "101.dat", 1000, MINIREC_ENTRY, MINIREC_RUN, 0);
}

static void enter(struct minirec *r, uint64_t time, uint64_t address, unsigned depth)
{
    minirec_record(r, "101.dat", time, MINIREC_ENTRY, address, depth);
}

static void leave(struct minirec *r, uint64_t time, uint64_t address, unsigned depth)
{
    minirec_record(r, "101.dat", time, MINIREC_EXIT, address, depth);
}

static void end_run(struct minirec *r)
{
    leave(r, 2000, MINIREC_RUN, 0);
}

/* ---- what breaks each rule: the info file ---- */

BREAK(info_missing)
{
    take_values_away(r);
    minirec_drop(r, "info");
}
BREAK(info_short)
{
    take_values_away(r);
    minirec_cut(r, "info", 39);
}
BREAK(info_magic)
{
    take_values_away(r);
    minirec_put(r, "info", 0, 1, 'f');
}
BREAK(info_version)
{
    minirec_put(r, "info", 8, 4, 5);
}
BREAK(info_byte_order)
{
    minirec_put(r, "info", 14, 1, 3);
}
/* Said to be big, but nothing is. */
BREAK(info_other_byte_order)
{
    minirec_put(r, "info", 14, 1, 2);
}
BREAK(info_class)
{
    minirec_put(r, "info", 15, 1, 7);
}
BREAK(info_header_size)
{
    minirec_put(r, "info", 12, 2, 48);
}
BREAK(info_features)
{
    minirec_put(r, "info", 18, 1, 0x10);
}
BREAK(info_lines)
{
    minirec_put(r, "info", 26, 1, 0x10);
}
BREAK(info_text)
{
    minirec_replace(r, "info", "loadinfo:", "nothing:");
}
BREAK(info_long_line)
{
    char line[5000];
    memset(line, 'x', sizeof line);
    memcpy(line, "loadinfo:", 9);
    line[sizeof line - 1] = '\0';
    minirec_replace(r, "info", "loadinfo:0.1", line);
}
BREAK(info_utc_offset)
{
    minirec_replace(r, "info", "utc_offset:1700000000", "utc_offset:tomorrow");
}
BREAK(info_bad_tasks)
{
    minirec_replace(r, "info", "tids=100,101,102", "tids=100,101,102,x");
}
BREAK(info_tasks)
{
    minirec_replace(r, "info", "taskinfo:tids=100,101,102\n", "");
}
BREAK(info_stack)
{
    minirec_put(r, "info", 32, 2, 2);
}

/* ---- tasks, sessions and maps ---- */

BREAK(tasks_missing)
{
    take_child_away(r);
    minirec_drop(r, "task.txt");
}
BREAK(nothing)
{
    (void)r; /* the options make it so */
}
BREAK(task_line)
{
    minirec_append_text(r, "task.txt", "TASK timestamp=1.5 tid=x pid=100\n");
}
BREAK(session_line)
{
    minirec_append_text(r, "task.txt", "SESS timestamp=1.5 pid=100 sid=0123456789abcdef exename=no\n");
}
BREAK(fork_line)
{
    minirec_append_text(r, "task.txt", "FORK timestamp=1 pid=103 ppid=100\n");
}
BREAK(dlopen_line)
{
    minirec_append_text(r, "task.txt",
                        "DLOP timestamp=1.5 tid=100 sid=0123456789abcdef base=- libname=\"x\"\n");
}
BREAK(task_message)
{
    minirec_task_message(r, 3, "short", 5);
}
BREAK(task_unknown)
{
    minirec_replace(r, "task.txt", "TASK timestamp=1.000000020 tid=101 pid=100\n", "");
}
BREAK(task_empty)
{
    minirec_set(r, "101.dat", NULL, 0);
}
BREAK(data_missing)
{
    minirec_drop(r, "101.dat");
}
BREAK(data_unlisted)
{
    minirec_replace(r, "info", "tids=100,101,102", "tids=100,102");
}
BREAK(session_missing)
{
    take_child_away(r);
    minirec_replace(r, "task.txt",
                    "SESS timestamp=1.000000000 pid=100 sid=0123456789abcdef exename=\"/bin/prog\"\n", "");
}
BREAK(session_late)
{
    minirec_replace(r, "task.txt", "SESS timestamp=1.000000000", "SESS timestamp=1.000000105");
}
BREAK(session_id)
{
    minirec_replace(r, "task.txt", "0123456789abcdef exename", "0123456789abcdefabcd exename");
    minirec_replace(r, "task.txt", "0123456789abcdef base", "0123456789abcdefabcd base");
}
BREAK(map_missing)
{
    minirec_drop(r, "sid-fedcba9876543210.map");
}
BREAK(map_line)
{
    minirec_append_text(r, "sid-0123456789abcdef.map", "80000000-7000000 r-xp 00000000 00:00 0 /lib/c.so\n");
}

/* ---- symbols and lines ---- */

BREAK(symbols_missing)
{
    minirec_drop(r, "lib.so.sym");
}
BREAK(symbols_foreign)
{
    minirec_replace(r, "lib.so.sym", "path name: /lib", "path name: /else");
}
BREAK(symbols_count)
{
    minirec_replace(r, "lib.so.sym", "# symbols: 1\n", "# symbols: 999999999999\n");
}
BREAK(symbols_line)
{
    minirec_append_text(r, "prog.sym", "0000000000003800\n");
}
BREAK(debug_line)
{
    minirec_append_text(r, "prog.dbg", "F: nowhere main\n");
}
BREAK(argument_spec)
{
    minirec_replace(r, "info", "argspec:work", "argspec:leaf@arg1/i9;work");
}
BREAK(events_line)
{
    minirec_append_text(r, "events.txt", "EVENT: first app:end\n");
}
BREAK(extern_line)
{
    minirec_append_text(r, "extern.dat", "noon lunch\n");
}
BREAK(kernel_data)
{
    minirec_set_text(r, "kernel_header", "PAGE_SIZE: 4096\n");
    minirec_set_text(r, "kernel-cpu0.dat", "");
}

/* ---- records ---- */

BREAK(record_cut)
{
    minirec_append(r, "101.dat", "\1\2\3\4\5", 5);
}
BREAK(record_magic)
{
    static const unsigned char zeros[16];
    begin_run(r);
    minirec_append(r, "101.dat", zeros, sizeof zeros);
    enter(r, 1010, MINIREC_LEAF, 1);
    leave(r, 1020, MINIREC_LEAF, 1);
    end_run(r);
}
BREAK(record_payload)
{
    struct minirec_payload payload = {.size = 0};
    minirec_add_number(r, &payload, 8, 1);
    begin_run(r);
    minirec_record_with(r, "101.dat", 1010, MINIREC_ENTRY, MINIREC_LEAF, 1, &payload);
    leave(r, 1020, MINIREC_LEAF, 1);
    end_run(r);
}
/* A string that would extend past the end of the file. */
BREAK(record_long_payload)
{
    struct minirec_payload payload = {.size = 0};
    minirec_add_number(r, &payload, 4, 1);
    minirec_add_number(r, &payload, 2, 0xffff);
    begin_run(r);
    minirec_record_with(r, "101.dat", 1010, MINIREC_ENTRY, MINIREC_WORK, 1, &payload);
    leave(r, 1020, MINIREC_WORK, 1);
    end_run(r);
}
BREAK(record_time)
{
    begin_run(r);
    enter(r, 1010, MINIREC_LEAF, 1);
    leave(r, 1005, MINIREC_LEAF, 1);
    end_run(r);
}
/* The last time that there is, and then an ordinary one. */
BREAK(record_last_time)
{
    minirec_set(r, "perf-cpu1.dat", NULL, 0);
    minirec_perf(r, "perf-cpu1.dat", 180, MINIREC_PERF_IN, 100, 100);
    begin_run(r);
    enter(r, UINT64_MAX - MINIREC_START, MINIREC_LEAF, 1);
    leave(r, 1020, MINIREC_LEAF, 1);
    end_run(r);
}
BREAK(record_depth)
{
    begin_run(r);
    enter(r, 1010, MINIREC_LEAF, 3);
    leave(r, 1020, MINIREC_LEAF, 3);
    end_run(r);
}
BREAK(record_lost)
{
    begin_run(r);
    minirec_record(r, "101.dat", (uint64_t)-MINIREC_START, MINIREC_LOST, 7, 0);
    enter(r, 1010, MINIREC_LEAF, 1);
    leave(r, 1020, MINIREC_LEAF, 1);
    end_run(r);
}
/* As recorders write it: the depth is added to the word, so that it runs over into the address. */
static void recurse(struct minirec *r, unsigned deepest)
{
    begin_run(r);
    for (unsigned depth = 1; depth <= deepest; depth++)
        enter(r, 1010 + depth, MINIREC_LEAF + (depth >> 10), depth);
}
BREAK(depth_wrapped)
{
    unsigned deepest = 1500;
    minirec_put(r, "info", 32, 2, 4096);
    recurse(r, deepest);
    for (unsigned depth = deepest; depth > 0; depth--)
        leave(r, 1010 + 2 * deepest - depth, MINIREC_LEAF + (depth >> 10), depth);
    leave(r, 9000, MINIREC_RUN, 0);
}
BREAK(depth_limit)
{
    minirec_put(r, "info", 32, 2, UINT16_MAX);
    recurse(r, UINT16_MAX + 1);
}
BREAK(exit_orphan)
{
    minirec_set(r, "101.dat", NULL, 0);
    leave(r, 990, MINIREC_LEAF, 1);
    enter(r, 1000, MINIREC_RUN, 0);
    end_run(r);
}
BREAK(exit_inherited)
{
    minirec_set(r, "102.dat", NULL, 0);
    minirec_record(r, "102.dat", 515, MINIREC_EXIT, MINIREC_FORK, 1);
    minirec_record(r, "102.dat", 520, MINIREC_ENTRY, MINIREC_LEAF, 1);
    minirec_record(r, "102.dat", 525, MINIREC_EXIT, MINIREC_LEAF, 1);
}
BREAK(exit_missing)
{
    begin_run(r);
    enter(r, 1010, MINIREC_LEAF, 1);
    end_run(r);
}
BREAK(exit_other)
{
    begin_run(r);
    enter(r, 1010, MINIREC_LEAF, 1);
    leave(r, 1020, MINIREC_SCALE, 1);
    end_run(r);
}
BREAK(call_jumped)
{
    begin_run(r);
    enter(r, 1010, MINIREC_SETJMP, 1);
    leave(r, 1011, MINIREC_SETJMP, 1);
    enter(r, 1020, MINIREC_LEAF, 1);
    enter(r, 1030, MINIREC_LONGJMP, 2);
    leave(r, 1040, MINIREC_SETJMP, 1);
    enter(r, 1050, MINIREC_LEAF, 1);
    leave(r, 1060, MINIREC_LEAF, 1);
    end_run(r);
}
BREAK(call_replaced)
{
    minirec_set(r, "102.dat", NULL, 0);
    minirec_record(r, "102.dat", 520, MINIREC_ENTRY, MINIREC_LEAF, 1);
    minirec_record(r, "102.dat", 850, MINIREC_ENTRY, MINIREC_MAIN, 0);
    minirec_record(r, "102.dat", 880, MINIREC_EXIT, MINIREC_MAIN, 0);
}
BREAK(call_open)
{
    begin_run(r);
    enter(r, 1010, MINIREC_LEAF, 1);
    leave(r, 1020, MINIREC_LEAF, 1);
}
BREAK(event_unknown)
{
    begin_run(r);
    minirec_record(r, "101.dat", 1010, MINIREC_EVENT, 100099, 0);
    end_run(r);
}
BREAK(perf_cut)
{
    struct minirec_file *file = minirec_file(r, "perf-cpu1.dat");
    minirec_cut(r, "perf-cpu1.dat", file->size - 3);
}
BREAK(perf_record)
{
    size_t last = minirec_file(r, "perf-cpu1.dat")->size - 48;
    minirec_put(r, "perf-cpu1.dat", last + 6, 2, 4);
}
BREAK(schedule_pair)
{
    minirec_set(r, "perf-cpu1.dat", NULL, 0);
    minirec_perf(r, "perf-cpu1.dat", 180, MINIREC_PERF_IN, 100, 100);
    minirec_perf(r, "perf-cpu1.dat", 1006, MINIREC_PERF_OUT, 100, 101);
}
/* A record while the thread is off-CPU. */
BREAK(schedule_record)
{
    minirec_set(r, "perf-cpu1.dat", NULL, 0);
    minirec_perf(r, "perf-cpu1.dat", 180, MINIREC_PERF_IN, 100, 100);
    minirec_perf(r, "perf-cpu1.dat", 1025, MINIREC_PERF_OUT, 100, 101);
    minirec_perf(r, "perf-cpu1.dat", 1035, MINIREC_PERF_IN, 100, 101);
}
BREAK(address_unknown)
{
    begin_run(r);
    enter(r, 1010, 0x1234, 1);
    leave(r, 1020, 0x1234, 1);
    end_run(r);
}

#define PLAIN(rule, name)                                                                                    \
    {                                                                                                        \
        rule, break_##name, "", MINIREC_OPTIONS_INIT                                                         \
    }
#define WITH(rule, name, also)                                                                               \
    {                                                                                                        \
        rule, break_##name, also, MINIREC_OPTIONS_INIT                                                       \
    }

const struct uft_case uft_cases[] = {
    PLAIN("info-missing", info_missing),
    PLAIN("info-short", info_short),
    PLAIN("info-magic", info_magic),
    PLAIN("info-version", info_version),
    PLAIN("info-byte-order", info_byte_order),
    PLAIN("info-byte-order", info_other_byte_order),
    PLAIN("info-class", info_class),
    PLAIN("info-header-size", info_header_size),
    PLAIN("info-features", info_features),
    PLAIN("info-lines", info_lines),
    PLAIN("info-text", info_text),
    PLAIN("info-text", info_long_line),
    PLAIN("info-text", info_utc_offset),
    PLAIN("info-text", info_bad_tasks),
    PLAIN("info-tasks", info_tasks),
    PLAIN("info-stack", info_stack),
    WITH("tasks-missing", tasks_missing, "task-unknown session-missing"),
    {"tasks-binary", break_nothing, "", {.calls = 3, .has_binary_tasks = true}},
    PLAIN("task-line", task_line),
    PLAIN("task-line", session_line),
    PLAIN("task-line", fork_line),
    PLAIN("task-line", dlopen_line),
    {"task-line", break_task_message, "tasks-binary", {.calls = 3, .has_binary_tasks = true}},
    WITH("task-unknown", task_unknown, "session-missing address-unknown"),
    PLAIN("task-empty", task_empty),
    PLAIN("data-missing", data_missing),
    PLAIN("data-unlisted", data_unlisted),
    PLAIN("session-missing", session_missing),
    PLAIN("session-late", session_late),
    PLAIN("session-id", session_id),
    WITH("map-missing", map_missing, "address-unknown"),
    PLAIN("map-line", map_line),
    WITH("symbols-missing", symbols_missing, "address-unknown"),
    WITH("symbols-foreign", symbols_foreign, "address-unknown"),
    PLAIN("symbols-count", symbols_count),
    PLAIN("symbols-line", symbols_line),
    PLAIN("debug-line", debug_line),
    PLAIN("argument-spec", argument_spec),
    PLAIN("events-line", events_line),
    PLAIN("extern-line", extern_line),
    PLAIN("kernel-data", kernel_data),
    PLAIN("record-cut", record_cut),
    PLAIN("record-magic", record_magic),
    PLAIN("record-payload", record_payload),
    PLAIN("record-payload", record_long_payload),
    PLAIN("record-time", record_time),
    PLAIN("record-time", record_last_time),
    PLAIN("record-depth", record_depth),
    PLAIN("record-lost", record_lost),
    PLAIN("depth-wrapped", depth_wrapped),
    WITH("depth-limit", depth_limit, "depth-wrapped info-stack call-open"),
    PLAIN("exit-orphan", exit_orphan),
    PLAIN("exit-inherited", exit_inherited),
    PLAIN("exit-missing", exit_missing),
    PLAIN("exit-other", exit_other),
    PLAIN("call-jumped", call_jumped),
    PLAIN("call-replaced", call_replaced),
    PLAIN("call-open", call_open),
    PLAIN("event-unknown", event_unknown),
    PLAIN("perf-cut", perf_cut),
    PLAIN("perf-record", perf_record),
    PLAIN("schedule-pair", schedule_pair),
    PLAIN("schedule-pair", schedule_record),
    PLAIN("address-unknown", address_unknown),
};
const size_t uft_case_count = sizeof uft_cases / sizeof *uft_cases;
