/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "commands/runs/runs.h"
#include "output/report.h"
#include "view/listen.h"
#include "view/load.h"
#include "view/page.h"
#include "view/view.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define PORT_MAX 65535
#define HEAPS    2
#define LARGE    (256 << 10) /* bytes of a block that has pages of its own */

typedef struct view_options {
    shared_options shared;
    uint64_t port, memory, idle;
    const char *socket;
    const char *catalogue, *project;
} view_options;

static int view_usage(const invocation *call)
{
    const view_options *options = call->options;
    if (options->port > PORT_MAX)
        return report("--port takes a number up to %d (see 'lode help view')", PORT_MAX);
    if (options->socket && options->port)
        return report("--port and --socket cannot be used together (see 'lode help view')");
    if (options->project && !options->catalogue)
        return report("--project needs --catalogue (see 'lode help view')");
    return EXIT_DONE;
}

static int shows_runs_alone(const invocation *call)
{
    const view_options *options = call->options;
    return options->catalogue && call->operand_count == 0;
}

/* ---- what is printed ---- */

/* "user@host", as ssh wants it. */
static void write_login(char *text, size_t size)
{
    char machine[256] = "";
    const struct passwd *user = getpwuid(geteuid()); /* NOLINT(concurrency-mt-unsafe): the only thread */
    if (gethostname(machine, sizeof machine - 1) != 0)
        snprintf(machine, sizeof machine, "this-machine");
    snprintf(text, size, "%s%s%s", user ? user->pw_name : "", user ? "@" : "", machine);
}

static void say_where(out *o, const view_server *server, const char *socket, unsigned port)
{
    char login[400];
    write_login(login, sizeof login);
    if (socket) {
        char path[PATH_MAX];
        out_line(o, "listening on %s; Ctrl-C stops", socket);
        out_line(o, "on your machine: ssh -N -L 8080:%s %s", realpath(socket, path) ? path : socket, login);
        out_line(o, "then open http://127.0.0.1:8080/#token=%s there", server->token);
    } else {
        out_line(o, "http://127.0.0.1:%u/#token=%s", port, server->token);
        out_line(
            o, "Ctrl-C stops. From elsewhere: ssh -N -L %u:127.0.0.1:%u %s, then open the same address there",
            port, port, login);
    }
    out_flush(o);
}

/* ---- waiting for the end ---- */

/* Before any thread starts, so that all have the signals blocked. Ignored signals stay ignored. */
static int catch_signals(void)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action;
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (sigaction(ending[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&set, ending[i]);
    if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0)
        return -1;
    return signalfd(-1, &set, SFD_CLOEXEC);
}

static int milliseconds_left(view_server *server, uint64_t idle)
{
    struct timespec now;
    if (idle == 0)
        return -1;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long passed = (long long)now.tv_sec - atomic_load(&server->last_request);
    long long left = (long long)(idle / 1000000) - passed * 1000;
    return left <= 0 ? 0 : left > 60000 ? 60000 : (int)left;
}

static void wait_for_end(view_server *server, int signals, uint64_t idle)
{
    struct pollfd ends[] = {{.fd = signals, .events = POLLIN}, {.fd = server->stop_event, .events = POLLIN}};
    for (;;) {
        int left = milliseconds_left(server, idle);
        int count = left == 0 ? 0 : poll(ends, 2, left);
        if (count > 0 || left == 0 || (count < 0 && errno != EINTR))
            return;
    }
}

/* ---- memory ---- */

/*
 * What is freed goes back to the system, or is there for the next request. By default each thread
 * has a heap of its own, and keeps what it freed there.
 */
static void bound_heaps(void)
{
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, HEAPS);
    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_TRIM_THRESHOLD, LARGE);
#endif
}

/* ---- the command ---- */

static int serve(const invocation *call, view_server *server, const view_transport *transport)
{
    const view_options *options = call->options;
    int sockets[LISTEN_MAX] = {-1, -1};
    uint16_t port = (uint16_t)options->port;
    char problem[256] = "";
    void *self = NULL;
    size_t count = 1;
    struct timespec now;
    int signals = catch_signals();
    server->stop_event = eventfd(0, EFD_CLOEXEC);
    if (signals < 0 || server->stop_event < 0)
        return report("cannot wait for signals: %s", strerror(errno));
    if (options->socket)
        count = (sockets[0] = listen_unix(options->socket)) >= 0;
    else
        count = listen_loopback(&port, sockets);
    if (count == 0)
        return EXIT_TROUBLE;
    clock_gettime(CLOCK_MONOTONIC, &now);
    atomic_store(&server->last_request, (long long)now.tv_sec);
    view_handler handler = {.user = server, .answer = view_answer_request};
    int status = view_open_stores(server);
    if (status == EXIT_DONE &&
        transport->start(&self, sockets, count, &handler, problem, sizeof problem) != 0)
        status = report("cannot serve: %s", problem);
    if (status == EXIT_DONE) {
        say_where(call->out, server, options->socket, port);
        wait_for_end(server, signals, options->idle);
        view_stop(server);
        transport->stop(self);
    }
    if (options->socket)
        unlink(options->socket);
    close(signals);
    return status;
}

/* One that is bad does not hide the others: its message is there, and on the page. */
static int add_stores(const invocation *call, view_server *server)
{
    int status = server->catalogue ? EXIT_DONE : EXIT_TROUBLE;
    for (size_t i = 0; i < call->operand_count; i++)
        if (view_add_store(server, call->operands[i]) == EXIT_DONE)
            status = EXIT_DONE;
    return status;
}

/* Answers depend on the rules: browsers know those of other rules. */
static int use_kinds(const invocation *call, view_server *server)
{
    lode_error error = {0};
    server->kinds = call->kinds;
    server->kinds_path = call->kinds_path;
    if (!server->kinds ||
        lode_store_fingerprint(server->kinds_path, NULL, &server->kinds_identity, &error) == LODE_OK)
        return EXIT_DONE;
    return report_error(server->kinds_path, &error);
}

static int run_view(const invocation *call)
{
    const view_options *options = call->options;
    const view_transport *transport = view_load_transport();
    static view_server server;
    if (!transport)
        return EXIT_TROUBLE;
    if (page_file_count == 0)
        report("%s; requests of programs are answered", VIEW_NO_PAGE);
    bound_heaps();
    int status = view_create(&server, (size_t)options->memory);
    server.catalogue = options->catalogue;
    server.project = options->project;
    server.find_run = runs_store_of;
    if (status == EXIT_DONE && options->catalogue)
        status = runs_try(options->catalogue, options->project);
    if (status == EXIT_DONE)
        status = use_kinds(call, &server);
    if (status == EXIT_DONE)
        status = add_stores(call, &server);
    if (status == EXIT_DONE)
        status = serve(call, &server, transport);
    view_destroy(&server);
    return status;
}

static const option_spec view_own[] = {
    {"port", 0, OPTION_COUNT, "N", NULL, offsetof(view_options, port)},
    {"socket", 0, OPTION_TEXT, "PATH", NULL, offsetof(view_options, socket)},
    {"idle", 0, OPTION_SPAN, "TIME", NULL, offsetof(view_options, idle)},
    {"catalogue", 0, OPTION_TEXT, "FILE|ADDRESS", NULL, offsetof(view_options, catalogue)},
    {"project", 0, OPTION_TEXT, "NAME", NULL, offsetof(view_options, project)},
    {"memory", 0, OPTION_SIZE, "SIZE", NULL, offsetof(view_options, memory)},
    {0},
};

static const view_options view_defaults = {.memory = UINT64_C(1) << 30};

const command_spec command_view = {
    .name = "view",
    .operands = "STORE...",
    .min_operands = 1,
    .max_operands = VIEW_STORES_MAX,
    .stores = FOR_ALL,
    .has_sides = 1,
    .options = {.own = view_own, .shared = SHARED_KINDS},
    .options_size = sizeof(view_options),
    .defaults = &view_defaults,
    .usage = view_usage,
    .needs_no_store = shows_runs_alone,
    .run = run_view,
};
