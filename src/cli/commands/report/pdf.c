/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A report as PDF: an installed browser prints it, with a profile of its own in a private folder,
 * and without a network. Nothing stays when it ends, by a signal too.
 */
#include "alloc.h"
#include "commands/report/report.h"
#include "interrupt.h"
#include "output/place.h"
#include "output/report.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS      20000000L /* between looks at the browser */
#define SECONDS_MOST 120
#define PDF_MAX      ((size_t)256 << 20)
#define PATH_ROOM    (PATH_MAX + 64)
#define LIST_ROOM    40
#define BASE_MOST    43 /* the browser has a socket in the folder, whose path may have 107 bytes */

extern char **environ;

static const char *const browsers[] = {
    "chromium",      "chromium-browser", "google-chrome", "google-chrome-stable",
    "brave-browser", "microsoft-edge",   "chrome"};

/* All of them are from a browser that prints one file, and asks nobody for anything. */
static const char *const settings_of_browser[] = {
    "--headless",
    "--disable-gpu",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-extensions",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-component-update",
    "--disable-background-networking",
    "--disable-domain-reliability",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-dev-shm-usage",
    "--metrics-recording-only",
    "--no-pings",
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--password-store=basic",
    "--use-mock-keychain",
    "--no-pdf-header-footer",
    "--virtual-time-budget=20000",
};

typedef struct printing {
    char browser[PATH_ROOM];
    char folder[PATH_ROOM];
    char *arguments[LIST_ROOM], *variables[LIST_ROOM * 32];
    size_t argument_count, variable_count;
} printing;

/* ---- the browser ---- */

/* A program in a folder of PATH. */
static int find_in_path(char found[PATH_ROOM], const char *name)
{
    const char *at = getenv("PATH"); /* NOLINT(concurrency-mt-unsafe): nothing sets it */
    while (at && *at) {
        size_t length = strcspn(at, ":");
        int size = snprintf(found, PATH_ROOM, "%.*s/%s", (int)length, at, name);
        if (at[0] == '/' && size > 0 && size < PATH_ROOM && access(found, X_OK) == 0)
            return 1;
        at += length + (at[length] == ':');
    }
    return 0;
}

static int find_browser(char found[PATH_ROOM])
{
    for (size_t i = 0; i < sizeof browsers / sizeof *browsers; i++)
        if (find_in_path(found, browsers[i]))
            return EXIT_DONE;
    return report("--pdf needs Chromium or Chrome, and none is in PATH; write the report with "
                  "-o report.html and print it from a browser");
}

int report_has_browser(void)
{
    char found[PATH_ROOM];
    return find_browser(found);
}

static void add_text(char **list, size_t *count, size_t most, const char *first, const char *second)
{
    char *text = NULL;
    if (*count + 1 < most && asprintf(&text, "%s%s", first, second) >= 0)
        list[(*count)++] = text;
}

/* Without the sandbox if the browser cannot have one: of root, or without namespaces. */
static void set_arguments(printing *p, int has_sandbox)
{
    char path[PATH_ROOM + 32];
    while (p->argument_count)
        free(p->arguments[--p->argument_count]);
    memset(p->arguments, 0, sizeof p->arguments);
    add_text(p->arguments, &p->argument_count, LIST_ROOM, p->browser, "");
    for (size_t i = 0; i < sizeof settings_of_browser / sizeof *settings_of_browser; i++)
        add_text(p->arguments, &p->argument_count, LIST_ROOM, settings_of_browser[i], "");
    if (!has_sandbox)
        add_text(p->arguments, &p->argument_count, LIST_ROOM, "--no-sandbox", "");
    snprintf(path, sizeof path, "%s/profile", p->folder);
    add_text(p->arguments, &p->argument_count, LIST_ROOM, "--user-data-dir=", path);
    snprintf(path, sizeof path, "%s/report.pdf", p->folder);
    add_text(p->arguments, &p->argument_count, LIST_ROOM, "--print-to-pdf=", path);
    snprintf(path, sizeof path, "%s/report.html", p->folder);
    add_text(p->arguments, &p->argument_count, LIST_ROOM, "file://", path);
}

/* As here, but what programs keep for a user goes to the folder, and no session is asked. */
static void set_variables(printing *p)
{
    static const char *const own[] = {
        "HOME=",           "XDG_CONFIG_HOME=",         "XDG_CACHE_HOME=", "XDG_DATA_HOME=",
        "TMPDIR=",         "XDG_RUNTIME_DIR=",         "DISPLAY=",        "WAYLAND_DISPLAY=",
        "XDG_STATE_HOME=", "DBUS_SESSION_BUS_ADDRESS="};
    size_t most = sizeof p->variables / sizeof *p->variables;
    for (char **at = environ; *at; at++) {
        size_t i = 0;
        while (i < sizeof own / sizeof *own && strncmp(*at, own[i], strlen(own[i])) != 0)
            i++;
        if (i == sizeof own / sizeof *own)
            add_text(p->variables, &p->variable_count, most - 8, *at, "");
    }
    for (size_t i = 0; i < 6; i++)
        add_text(p->variables, &p->variable_count, most, own[i], p->folder);
    add_text(p->variables, &p->variable_count, most, "DBUS_SESSION_BUS_ADDRESS=", "disabled:");
}

static int start(pid_t *pid, const printing *p, const char *messages)
{
    int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int output = open(messages, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int status = process_start(pid, &(process_settings){.program = p->browser,
                                                        .arguments = p->arguments,
                                                        .variables = p->variables,
                                                        .input = input,
                                                        .output = output,
                                                        .messages = output,
                                                        .has_own_group = 1});
    if (input >= 0)
        close(input);
    if (output >= 0)
        close(output);
    return status;
}

/* Waits for its end, and ends what it has started. NULL, or why it was ended. */
static const char *wait_for(pid_t pid, int *status)
{
    const char *reason = NULL;
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (;;) {
        pid_t ended = waitpid(pid, status, reason ? 0 : WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR))
            break;
        clock_gettime(CLOCK_MONOTONIC, &now);
        reason = interrupt_is_due()                         ? "interrupted"
                 : now.tv_sec - begin.tv_sec > SECONDS_MOST ? "the browser took too long"
                                                            : NULL;
        if (reason)
            kill(-pid, SIGKILL);
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
    kill(-pid, SIGKILL);
    return reason;
}

/* All of a file of the folder, with a NUL; NULL if it cannot be read. */
static char *read_file(const printing *p, const char *name, size_t *size)
{
    char path[PATH_ROOM + 32];
    snprintf(path, sizeof path, "%s/%s", p->folder, name);
    FILE *file = fopen(path, "re");
    struct stat found;
    char *text = NULL;
    *size = 0;
    if (file && fstat(fileno(file), &found) == 0 && found.st_size >= 0 && (size_t)found.st_size <= PDF_MAX) {
        text = alloc_array((size_t)found.st_size + 1, 1);
        *size = fread(text, 1, (size_t)found.st_size, file);
    }
    if (file)
        (void)fclose(file);
    return text;
}

/* Runs the browser. EXIT_DONE, or EXIT_TROUBLE after a message; *has_no_sandbox: it said so. */
static int run_browser(printing *p, int *has_no_sandbox)
{
    char messages[PATH_ROOM + 32];
    int status = 0;
    pid_t pid;
    size_t size;
    snprintf(messages, sizeof messages, "%s/messages", p->folder);
    if (start(&pid, p, messages) != 0)
        return report("%s cannot be started", p->browser);
    const char *reason = wait_for(pid, &status);
    if (reason)
        return report("--pdf: %s", reason);
    char *said = read_file(p, "messages", &size), *pdf = read_file(p, "report.pdf", &size);
    int is_good = pdf && size > 5 && memcmp(pdf, "%PDF-", 5) == 0;
    *has_no_sandbox = !is_good && said && strcasestr(said, "sandbox") != NULL;
    if (!is_good && !*has_no_sandbox)
        report("--pdf: %s wrote no PDF%s%.300s", p->browser, said && said[0] ? ": " : "", said ? said : "");
    free(said);
    free(pdf);
    return is_good ? EXIT_DONE : EXIT_TROUBLE;
}

/* ---- the folder ---- */

static int make_folder(printing *p)
{
    const char *base = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe): nothing sets it */
    char path[PATH_MAX];
    if (!base || !base[0] || strlen(base) > BASE_MOST)
        base = "/tmp";
    if (!realpath(base, path))
        return report("%s: %s", base, strerror(errno));
    snprintf(p->folder, sizeof p->folder, "%s/lode-report-XXXXXX", path);
    if (mkdtemp(p->folder))
        return EXIT_DONE;
    p->folder[0] = '\0';
    return report("%s: %s", path, strerror(errno));
}

static int remove_one(const char *path, const struct stat *about, int flag, struct FTW *place)
{
    (void)about;
    (void)flag;
    (void)place;
    (void)remove(path);
    return 0;
}

/* Processes that end may still write: again, until nothing is there. */
static void remove_folder(const printing *p)
{
    for (int i = 0; p->folder[0] && i < 50 && access(p->folder, F_OK) == 0; i++) {
        if (i)
            nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
        nftw(p->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    }
}

/* ---- the report ---- */

static int write_page(const printing *p, const report_settings *settings)
{
    char path[PATH_ROOM + 32];
    snprintf(path, sizeof path, "%s/report.html", p->folder);
    out *o = out_open(&(out_settings){.file = path});
    if (!o)
        return EXIT_TROUBLE;
    return out_close(o, report_write(o, settings));
}

/* A file is replaced by a whole one. */
static int copy_file(const char *path, const char *pdf, size_t size)
{
    out_file file;
    if (out_file_open(&file, path) != 0)
        return EXIT_TROUBLE;
    out_place place = {.fd = file.fd};
    int problem = place_write(&place, pdf, size), closed = out_file_close(&file, problem == 0);
    if (problem || closed)
        return report("%s: %s", path, strerror(problem ? problem : closed));
    return EXIT_DONE;
}

static int copy_pdf(const printing *p, const char *path)
{
    size_t size;
    char *pdf = read_file(p, "report.pdf", &size);
    int status = EXIT_TROUBLE;
    if (pdf && strcmp(path, "-") == 0) {
        out_place place;
        status = place_open(&place, path);
        int problem = status == EXIT_DONE ? place_write(&place, pdf, size) : 0;
        if (problem && !place.is_broken)
            status = report("standard output: %s", strerror(problem));
    } else if (pdf) {
        status = copy_file(path, pdf, size);
    }
    free(pdf);
    return status;
}

static void free_printing(printing *p)
{
    while (p->argument_count)
        free(p->arguments[--p->argument_count]);
    while (p->variable_count)
        free(p->variables[--p->variable_count]);
    free(p);
}

int report_write_pdf(const char *path, const report_settings *settings)
{
    printing *p = alloc_array(1, sizeof *p);
    int has_no_sandbox = 0, status = find_browser(p->browser);
    interrupt_hold();
    if (status == EXIT_DONE)
        status = make_folder(p);
    if (status == EXIT_DONE)
        status = write_page(p, settings);
    if (status == EXIT_DONE && !interrupt_is_due()) {
        set_variables(p);
        set_arguments(p, geteuid() != 0);
        status = run_browser(p, &has_no_sandbox);
        if (has_no_sandbox && geteuid() != 0 && !interrupt_is_due()) {
            set_arguments(p, 0);
            status = run_browser(p, &has_no_sandbox);
        }
        if (has_no_sandbox)
            report("--pdf: %s needs its sandbox, and cannot have it here", p->browser);
    }
    if (status == EXIT_DONE && !interrupt_is_due())
        status = copy_pdf(p, path);
    remove_folder(p);
    free_printing(p);
    return interrupt_leave(status);
}
