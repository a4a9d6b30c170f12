/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"
#include "store.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The program's own main, renamed by the linker. */
int __real_main(int argc, char **argv);

enum {
    SANITIZER_STATUS = 99,
    MOST_WALL_SECONDS = 120, /* a command that takes longer is stuck */
    MOST_FILE = 256 << 20
};

/* Options of sanitizers: a distinct exit status, and no leak check, which would cost most. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "exitcode=99:detect_leaks=0:max_allocation_size_mb=512:allocator_may_return_null=0:handle_abort=1";
}
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
    return "exitcode=99:halt_on_error=1:print_stacktrace=1";
}

/* Seen by both processes. */
struct progress {
    volatile size_t current; /* the command that runs */
    struct result results[MOST_COMMANDS];
};

static double processor_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- in the child ---- */

static void limit_time(int seconds)
{
    const struct itimerval timer = {.it_value = {.tv_sec = seconds}};
    setitimer(ITIMER_PROF, &timer, NULL);
}

/* The program closes its output, so that each command gets a new one. */
static void redirect(const char *path, int fd)
{
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0 || (file != fd && dup2(file, fd) < 0))
        _exit(SANITIZER_STATUS);
    if (file != fd)
        close(file);
}

static size_t file_size(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? (size_t)status.st_size : 0;
}

static void copy_file(const char *from, const char *to)
{
    char buffer[4096];
    size_t size;
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    while (in && out && (size = fread(buffer, 1, sizeof buffer, in)) > 0)
        fwrite(buffer, 1, size, out);
    if (in)
        fclose(in);
    if (out)
        fclose(out);
}

static int call(const struct command *command)
{
    struct command copy;
    command_parse(&copy, command->text + strlen("lode "));
    redirect("text", 1);
    redirect("errors", 2);
    limit_time(MOST_SECONDS);
    int status = __real_main(copy.count, copy.arguments);
    limit_time(0);
    fflush(NULL);
    return status;
}

static void read_text(char *text, size_t size, const char *name)
{
    FILE *file = fopen(name, "rb");
    size_t used = file ? fread(text, 1, size - 1, file) : 0;
    text[used] = '\0';
    if (file)
        fclose(file);
}

static size_t number_of(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at ? strtoul(at + strlen(key), NULL, 10) : 0;
}

/* What the checker says of the output; its last object counts what it found. */
static void check_output(struct result *result)
{
    char text[1 << 16];
    struct command check;
    command_parse(&check, "check --level full --json -n 2 --threads 1 out");
    int status = call(&check);
    read_text(text, sizeof text, "text");
    result->checked = true;
    result->check_errors = number_of(text, "\"errors\": ");
    result->check_warnings = number_of(text, "\"warnings\": ");
    if (status != 0 && result->check_errors == 0)
        result->check_errors = 1;
}

/* Whether something is in the directory besides what belongs there; with `removes` it goes. */
static bool has_more(bool may_be_out, bool removes)
{
    static const char *const known[] = {".", "..", "in", "text", "errors"};
    DIR *directory = opendir(".");
    bool is_found = false;
    for (struct dirent *entry = directory ? readdir(directory) : NULL; entry; entry = readdir(directory)) {
        bool is_known = (may_be_out && strcmp(entry->d_name, "out") == 0) ||
                        strncmp(entry->d_name, "said-", 5) == 0 || strncmp(entry->d_name, "checked-", 8) == 0;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            is_known |= strcmp(entry->d_name, known[i]) == 0;
        is_found |= !is_known;
        if (!is_known && removes)
            tree_remove(entry->d_name);
    }
    if (directory)
        closedir(directory);
    return is_found;
}

/*
 * Any message is a warning, except for notes, such as what a layout cannot store, and the number of
 * findings in a recording: these are repaired, and the output must be valid.
 */
static bool is_silent(void)
{
    char text[1 << 12];
    if (file_size("errors") > 0)
        return false;
    read_text(text, sizeof text, "text");
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, "note ", 5) != 0 && strchr(" 0123456789", *line) == NULL)
            return false;
    return true;
}

static void run_one(const struct command *command, struct result *result, size_t number)
{
    char name[32];
    double begin = processor_seconds();
    int status = call(command);
    result->seconds = processor_seconds() - begin;
    result->status = status;
    result->written = file_size("text") + (command->writes ? tree_bytes("out") : 0);
    /* An output in spite of failure, or beside its place. */
    if (has_more(command->writes && status == 0, false)) {
        result->outcome = RUN_LEFT;
    } else if (command->writes && status == 0 && is_silent()) {
        check_output(result);
        if (result->check_errors > 0)
            result->outcome = RUN_SILENT;
        else if (result->check_warnings > 0)
            result->outcome = RUN_DOUBT;
        snprintf(name, sizeof name, "checked-%zu", number);
        if (result->outcome != RUN_DONE)
            copy_file("text", name);
    }
    snprintf(name, sizeof name, "said-%zu", number);
    if (result->outcome != RUN_DONE)
        copy_file("errors", name);
    has_more(false, true);
}

static void run_child(const struct command *commands, size_t count, struct progress *progress)
{
    const struct rlimit no_core = {0, 0}, large = {MOST_FILE, MOST_FILE};
    setrlimit(RLIMIT_CORE, &no_core);
    setrlimit(RLIMIT_FSIZE, &large);
    for (size_t i = progress->current; i < count; i++) {
        progress->current = i;
        run_one(&commands[i], &progress->results[i], i);
    }
    progress->current = count;
    _exit(0);
}

/* ---- in the parent ---- */

/* Waits for the end; a child that neither works nor ends is killed, and *is_stuck says so. */
static int wait_for(pid_t child, const struct progress *progress, bool *is_stuck, long *memory)
{
    struct rusage usage;
    int status;
    size_t last = progress->current;
    time_t since = time(NULL);
    while (wait4(child, &status, WNOHANG, &usage) == 0) {
        const struct timespec moment = {.tv_nsec = 500 * 1000};
        nanosleep(&moment, NULL);
        if (progress->current != last)
            last = progress->current, since = time(NULL);
        if (time(NULL) - since <= MOST_WALL_SECONDS)
            continue;
        kill(child, SIGKILL);
        *is_stuck = true;
        since = time(NULL);
    }
    *memory = usage.ru_maxrss > *memory ? usage.ru_maxrss : *memory;
    return status;
}

/* The command that was running when the child ended is what ended it. */
static void judge(struct result *result, size_t number, int status, bool is_stuck)
{
    char name[32];
    result->status = status;
    if (is_stuck || (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)) {
        result->outcome = RUN_HANG;
        result->seconds = MOST_SECONDS;
    } else if (WIFEXITED(status) && WEXITSTATUS(status) != SANITIZER_STATUS) {
        /* Out of memory: the program gives up there and then. */
        result->status = WEXITSTATUS(status);
        return;
    } else {
        result->outcome = RUN_CRASH;
    }
    snprintf(name, sizeof name, "said-%zu", number);
    copy_file("errors", name);
}

long run_commands(const struct command *commands, size_t count, struct result *results)
{
    long memory = 0;
    struct progress *progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED)
        abort();
    while (progress->current < count) {
        bool is_stuck = false;
        fflush(NULL);
        pid_t child = fork();
        if (child < 0)
            abort();
        if (child == 0)
            run_child(commands, count, progress);
        int status = wait_for(child, progress, &is_stuck, &memory);
        if (progress->current == count)
            break;
        judge(&progress->results[progress->current], progress->current, status, is_stuck);
        has_more(false, true);
        progress->current++;
    }
    memcpy(results, progress->results, count * sizeof *results);
    munmap(progress, sizeof *progress);
    unlink("text"), unlink("errors");
    return memory;
}

/* ---- what it was ---- */

/* The distinct words after each occurrence of the key. */
static void gather(char *to, size_t size, const char *text, const char *key)
{
    for (const char *at = strstr(text, key); at; at = strstr(at + 1, key)) {
        char word[64];
        size_t length = strcspn(at + strlen(key), "\"\n"), used = strlen(to);
        snprintf(word, sizeof word, "%.*s", (int)length, at + strlen(key));
        if (strstr(to, word) == NULL && used + strlen(word) + 2 < size)
            snprintf(to + used, size - used, "%s%s", used ? " " : "", word);
    }
}

void run_signature(char *to, size_t size, const struct result *result, size_t number)
{
    char name[32], text[1 << 14];
    bool is_checked = result->outcome == RUN_SILENT || result->outcome == RUN_DOUBT;
    snprintf(name, sizeof name, "%s-%zu", is_checked ? "checked" : "said", number);
    read_text(text, sizeof text, name);
    to[0] = '\0';
    if (is_checked)
        gather(to, size, text,
               result->outcome == RUN_SILENT ? "\"error\", \"rule\": \"" : "\"warning\", \"rule\": \"");
    if (result->outcome != RUN_CRASH)
        return;
    gather(to, size, text, "SUMMARY: ");
    gather(to, size, text, "runtime error: ");
    if (to[0] == '\0')
        snprintf(to, size, "signal %d", WIFSIGNALED(result->status) ? WTERMSIG(result->status) : 0);
}
