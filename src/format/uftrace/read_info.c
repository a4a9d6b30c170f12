/* SPDX-License-Identifier: BSD-3-Clause */
/* The info file: a binary header, then lines of metadata. */
#include "base/error.h"
#include "base/io/bytes.h"
#include "format/uftrace/read.h"
#include <stdio.h>
#include <stdlib.h>

static const char magic[8] = "Ftrace!";
static const char info_name[] = "info";

enum {
    TASKS_MAX = 1 << 22,    /* more tids than a Linux machine can have */
    UFTRACE_LINE_MAX = 4095 /* the size of uftrace's buffer, without the line feed */
};

/* Lines that become metadata unchanged: their prefix and their title. */
static const struct {
    const char *prefix, *key;
} fact_lines[] = {
    {"exename:", "program"},
    {"build_id:", "build id"},
    {"exit_status:", "exit status"},
    {"cmdline:", "command line"},
    {"cpuinfo:nr_cpus=", "processors"},
    {"cpuinfo:desc=", "processor"},
    {"meminfo:", "memory"},
    {"osinfo:kernel=", "kernel"},
    {"osinfo:hostname=", "host"},
    {"osinfo:distro=", "distribution"},
    {"usageinfo:systime=", "system time (s)"},
    {"usageinfo:usrtime=", "user time (s)"},
    {"usageinfo:ctxsw=", "context switches"},
    {"usageinfo:maxrss=", "resident memory (KB)"},
    {"usageinfo:pagefault=", "page faults"},
    {"usageinfo:iops=", "disk operations"},
    {"loadinfo:", "load"},
    {"record_date:", "recorded"},
    {"elapsed_time:", "elapsed"},
    {"pattern_type:", "patterns"},
    {"uftrace_version:", "recorder"},
    {"utc_offset:", "UTC offset (s)"},
    {"sysctl:", "sysctl"},
};

/* The first line of each bit of the mask. */
static const char *const line_of_bit[UFT_INFO_KNOWN] = {
    "exename:",      "build_id:",        "exit_status:", "cmdline:",  "cpuinfo:lines=", "meminfo:",
    "osinfo:lines=", "taskinfo:",        "usageinfo:",   "loadinfo:", "argspec:",       "record_date:",
    "pattern_type:", "uftrace_version:", "utc_offset:",  "sysctl:"};

/* ---- header ---- */

/* Without an info file, guess from the first record: its low byte has the identifier. */
static void guess_byte_order(struct uft_opening *opening)
{
    for (size_t i = 0; i < opening->name_count; i++) {
        const char *name = opening->names[i];
        struct lode_input source;
        size_t length = strlen(name);
        if (length < 5 || strcmp(name + length - 4, ".dat") != 0 || name[0] < '0' || name[0] > '9')
            continue;
        if (lode_input_open(&source, &opening->rec->folder, name, NULL) != LODE_OK)
            continue;
        bool is_record = source.bytes.size >= UFT_RECORD_SIZE;
        bool little = is_record && (source.bytes.data[8] >> 3 & 7) == 5;
        opening->rec->info.big_endian = is_record && !little && (source.bytes.data[15] >> 3 & 7) == 5;
        lode_input_close(&source);
        if (is_record)
            return;
    }
}

static uint64_t header_number(const struct uft_info *info, const uint8_t *at, unsigned bytes)
{
    switch (bytes) {
    case 2:
        return info->big_endian ? get_u16be(at) : get_u16le(at);
    case 4:
        return info->big_endian ? get_u32be(at) : get_u32le(at);
    default:
        return info->big_endian ? get_u64be(at) : get_u64le(at);
    }
}

static bool is_version(uint64_t version)
{
    return version == 3 || version == 4;
}

/* The header has the byte order; use the other one if only that makes the version valid. */
static lode_status read_byte_order(struct uft_opening *opening, const uint8_t *header)
{
    struct uft_info *info = &opening->rec->info;
    unsigned said = header[14];
    info->big_endian = said == 2;
    bool fits = is_version(header_number(info, header + 8, 4));
    bool is_said = said == 1 || said == 2;
    if (fits && is_said)
        return LODE_OK;
    info->big_endian = !info->big_endian;
    bool fits_otherwise = is_version(header_number(info, header + 8, 4));
    if (!fits_otherwise)
        info->big_endian = said == 2;
    if (is_said && !fits_otherwise)
        return LODE_OK; /* the version is wrong, not the byte order */
    return lode_report_add(opening->report, UFT_INFO_BYTE_ORDER, info_name, 14,
                           "the byte order is %u (1 is little, 2 is big); it is read as %s", said,
                           info->big_endian ? "big" : "little");
}

static lode_status check_header(struct uft_opening *opening, const uint8_t *header)
{
    struct uft_info *info = &opening->rec->info;
    struct lode_report *report = opening->report;
    unsigned class = header[15];
    if (!is_version(info->version))
        LODE_TRY(lode_report_add(report, UFT_INFO_VERSION, info_name, 8,
                                 "version %u; it is read as version 4", info->version));
    if (info->header_size != UFT_HEADER_SIZE)
        LODE_TRY(lode_report_add(report, UFT_INFO_HEADER_SIZE, info_name, 12,
                                 "the header size is %u bytes; 40 are read", info->header_size));
    if (class != 1 && class != 2)
        LODE_TRY(lode_report_add(report, UFT_INFO_CLASS, info_name, 15,
                                 "the word size has class %u (1 is 32 bits, 2 is 64); 64 is used", class));
    if (info->features & ~(uint64_t)UFT_FEATURES_KNOWN)
        LODE_TRY(lode_report_add(report, UFT_INFO_FEATURES, info_name, 16, "unknown features: 0x%llx",
                                 (unsigned long long)(info->features & ~(uint64_t)UFT_FEATURES_KNOWN)));
    if (info->lines >> UFT_INFO_KNOWN)
        LODE_TRY(lode_report_add(report, UFT_INFO_LINES, info_name, 24, "unknown kinds of lines: 0x%llx",
                                 (unsigned long long)(info->lines >> UFT_INFO_KNOWN << UFT_INFO_KNOWN)));
    return LODE_OK;
}

static lode_status read_header(struct uft_opening *opening, struct lode_range file)
{
    struct uft_info *info = &opening->rec->info;
    const uint8_t *header = file.data;
    LODE_TRY(read_byte_order(opening, header));
    info->version = (uint32_t)header_number(info, header + 8, 4);
    info->header_size = (uint16_t)header_number(info, header + 12, 2);
    /* Writers on foreign machines store this field in their own byte order. */
    if (info->header_size == UFT_HEADER_SIZE << 8)
        info->header_size = UFT_HEADER_SIZE;
    info->word = header[15] == 1 ? 4 : 8;
    info->features = header_number(info, header + 16, 8);
    info->lines = header_number(info, header + 24, 8);
    if (info->features & UFT_FEATURE_MAX_STACK)
        info->max_stack = (uint16_t)header_number(info, header + 32, 2);
    info->text = (struct lode_range){file.data + UFT_HEADER_SIZE, file.size - UFT_HEADER_SIZE};
    return check_header(opening, header);
}

/* ---- lines ---- */

static lode_status read_tids(struct uft_opening *opening, struct uft_text list, uint64_t offset)
{
    struct uft_info *info = &opening->rec->info;
    size_t most = 1;
    for (const char *c = list.at; c < list.end; c++)
        most += *c == ',';
    if (most > TASKS_MAX)
        most = TASKS_MAX;
    info->tids = lode_arena_alloc(opening->arena, most, sizeof *info->tids);
    LODE_TRY_ALLOC(info->tids, opening->error);
    info->tid_count = 0;
    while (list.at < list.end && info->tid_count < most) {
        int32_t tid;
        if (!uft_take_id(&list, &tid) || tid == 0 || (list.at < list.end && *list.at != ','))
            return lode_report_add(opening->report, UFT_INFO_TEXT, info_name, UFT_HEADER_SIZE + offset,
                                   "the list of tasks is malformed after %u ids", info->tid_count);
        info->tids[info->tid_count++] = tid;
        list.at += list.at < list.end;
    }
    return LODE_OK;
}

static lode_status read_spec_line(struct uft_opening *opening, struct uft_text line)
{
    struct lode_uft_spec_strings *specs = &opening->rec->info.specs;
    const struct {
        const char *prefix;
        const char **where;
    } kinds[] = {{"argspec:", &specs->argspec},   {"retspec:", &specs->retspec},
                 {"argauto:", &specs->argauto},   {"retauto:", &specs->retauto},
                 {"enumauto:", &specs->enumauto}, {"pattern_type:", &specs->pattern_type}};
    if (uft_take(&line, "auto-args:")) {
        specs->has_auto = uft_equals(line, "1");
        return LODE_OK;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct uft_text rest = line;
        if (!uft_take(&rest, kinds[i].prefix))
            continue;
        if (uft_length(rest) >= 6 && memcmp(rest.at, "lines=", 6) == 0)
            return LODE_OK;
        return lode_uft_text(opening, rest, kinds[i].where);
    }
    return LODE_OK;
}

static lode_status read_utc_offset(struct uft_opening *opening, struct uft_text value, uint64_t offset)
{
    uint64_t seconds;
    if (!uft_take_number(&value, 10, &seconds) || seconds > INT64_MAX / 1000000000)
        return lode_report_add(opening->report, UFT_INFO_TEXT, info_name, UFT_HEADER_SIZE + offset,
                               "the offset from UTC is not a number");
    opening->rec->base.utc_offset = (int64_t)(seconds * 1000000000);
    return LODE_OK;
}

/* An exit status, as in wait(2), for people. */
static lode_status add_exit_status(struct uft_opening *opening, struct uft_text value)
{
    struct uft_text digits = value;
    uint64_t status;
    char words[64];
    if (!uft_take_number(&digits, 10, &status))
        return lode_uft_add_fact(opening, "exit status", value);
    if (status == 65536)
        snprintf(words, sizeof words, "finished by a trigger");
    else if ((status & 0x7f) == 0)
        snprintf(words, sizeof words, "%u", (unsigned)(status >> 8 & 0xff));
    else
        snprintf(words, sizeof words, "killed by signal %u", (unsigned)(status & 0x7f));
    return lode_uft_add_fact(opening, "exit status", (struct uft_text){words, words + strlen(words)});
}

static lode_status read_line(struct uft_opening *opening, struct uft_text line, uint64_t offset)
{
    struct uft_text rest = line;
    LODE_TRY(read_spec_line(opening, line));
    if (uft_take(&rest, "taskinfo:tids="))
        return read_tids(opening, rest, offset);
    if (uft_take(&rest, "utc_offset:"))
        LODE_TRY(read_utc_offset(opening, rest, offset));
    rest = line;
    if (uft_take(&rest, "exit_status:"))
        return add_exit_status(opening, rest);
    for (size_t i = 0; i < sizeof fact_lines / sizeof *fact_lines; i++)
        if (uft_take(&rest, fact_lines[i].prefix))
            return lode_uft_add_fact(opening, fact_lines[i].key, rest);
    return LODE_OK;
}

static lode_status check_line(struct uft_opening *opening, struct uft_text line, uint64_t offset)
{
    bool is_bounded = uft_length(line) < 8 || (memcmp(line.at, "taskinfo", 8) != 0);
    for (const char *const *free_of_bounds =
             (const char *const[]){"argspec", "retspec", "argauto", "retauto", "enumauto", NULL};
         *free_of_bounds; free_of_bounds++) {
        struct uft_text rest = line;
        is_bounded = is_bounded && !uft_take(&rest, *free_of_bounds);
    }
    if (is_bounded && uft_length(line) > UFTRACE_LINE_MAX)
        return lode_report_add(opening->report, UFT_INFO_TEXT, info_name, UFT_HEADER_SIZE + offset,
                               "a line has %zu bytes; uftrace reads 4,095", uft_length(line));
    return LODE_OK;
}

static lode_status check_all_there(struct uft_opening *opening, uint32_t seen)
{
    for (unsigned bit = 0; bit < UFT_INFO_KNOWN; bit++)
        if ((opening->rec->info.lines >> bit & 1) && !(seen >> bit & 1))
            LODE_TRY(lode_report_add(opening->report, UFT_INFO_TEXT, info_name, LODE_NO_OFFSET,
                                     "there is no line '%s', though the header announces it",
                                     line_of_bit[bit]));
    return LODE_OK;
}

static lode_status read_lines(struct uft_opening *opening)
{
    struct uft_lines lines = {.text = opening->rec->info.text};
    struct uft_text line;
    uint32_t seen = 0;
    while (uft_next_line(&lines, &line)) {
        for (unsigned bit = 0; bit < UFT_INFO_KNOWN; bit++) {
            struct uft_text rest = line;
            seen |= (uint32_t)uft_take(&rest, line_of_bit[bit]) << bit;
        }
        LODE_TRY(check_line(opening, line, lines.offset));
        LODE_TRY(read_line(opening, line, lines.offset));
    }
    LODE_TRY(check_all_there(opening, seen));
    if (opening->rec->info.tid_count == 0)
        return lode_report_add(opening->report, UFT_INFO_TASKS, info_name, LODE_NO_OFFSET,
                               "no task is listed; tasks with data files are used");
    return LODE_OK;
}

lode_status lode_uft_read_info(struct uft_opening *opening)
{
    struct uft_recording *rec = opening->rec;
    rec->info =
        (struct uft_info){.version = 4, .max_stack = 1024, .word = 8, .features = UFT_FEATURE_RELATIVE};
    lode_status status = lode_input_open(&rec->info_source, &rec->folder, info_name, opening->error);
    if (status < 0)
        return status;
    struct lode_range file = rec->info_source.bytes;
    if (status == LODE_ABSENT)
        LODE_TRY(lode_report_add(opening->report, UFT_INFO_MISSING, info_name, LODE_NO_OFFSET,
                                 "there is no info file: the recorder was killed"));
    else if (file.size < UFT_HEADER_SIZE)
        LODE_TRY(lode_report_add(opening->report, UFT_INFO_SHORT, info_name, 0,
                                 "the file has %llu bytes; its header has 40",
                                 (unsigned long long)file.size));
    else if (memcmp(file.data, magic, sizeof magic) != 0)
        LODE_TRY(lode_report_add(opening->report, UFT_INFO_MAGIC, info_name, 0,
                                 "the file does not begin with 'Ftrace!'; it is omitted"));
    else
        LODE_TRY(read_header(opening, file));
    if (rec->info.text.data == NULL)
        guess_byte_order(opening);
    else
        LODE_TRY(read_lines(opening));
    rec->info.specs.word = rec->info.word;
    rec->info.specs.big_endian = rec->info.big_endian;
    return LODE_OK;
}
