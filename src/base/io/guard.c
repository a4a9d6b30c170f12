/* SPDX-License-Identifier: BSD-3-Clause */
/* The SIGBUS handler: replaces lost pages by zeros and marks the store as damaged. */
#include "base/error.h"
#include "base/io/watch.h"
#include <errno.h>
#include <lode/unstable/guard.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Never freed or moved: the handler may read it at any time. `end` is 0 while it is unused. */
struct lode_guarded {
    _Atomic uintptr_t begin, end;
    _Atomic(struct lode_guarded *) next; /* in the list of all */
    struct lode_guarded *free_next;
    struct lode_watch *watch;
    const char *name;
    atomic_bool unread; /* part of it was replaced by zeros */
};

static _Atomic(struct lode_guarded *) all;
static struct lode_guarded *unused;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_installed;
static struct sigaction previous;

/* ---- mappings ---- */

static struct lode_guarded *take(void)
{
    struct lode_guarded *guarded = unused;
    if (guarded) {
        unused = guarded->free_next;
        return guarded;
    }
    guarded = calloc(1, sizeof *guarded);
    if (guarded) {
        atomic_store(&guarded->next, atomic_load(&all));
        atomic_store(&all, guarded);
    }
    return guarded;
}

struct lode_guarded *lode_guard_add(struct lode_watch *watch, const char *name, void *mapping, size_t size)
{
    if (!atomic_load(&is_installed))
        return NULL;
    pthread_mutex_lock(&lock);
    struct lode_guarded *guarded = take();
    if (guarded) {
        guarded->watch = watch;
        guarded->name = name;
        atomic_store(&guarded->unread, false);
        atomic_store(&guarded->begin, (uintptr_t)mapping);
        atomic_store(&guarded->end, (uintptr_t)mapping + size);
    }
    pthread_mutex_unlock(&lock);
    return guarded;
}

void lode_guard_remove(struct lode_guarded *guarded)
{
    if (guarded == NULL)
        return;
    pthread_mutex_lock(&lock);
    atomic_store(&guarded->end, 0);
    if (guarded->watch && atomic_load(&guarded->unread))
        lode_watch_fault(guarded->watch, guarded->name);
    guarded->watch = NULL;
    guarded->free_next = unused;
    unused = guarded;
    pthread_mutex_unlock(&lock);
}

const char *lode_guard_unread(const struct lode_watch *watch)
{
    const char *name = NULL;
    pthread_mutex_lock(&lock);
    for (struct lode_guarded *guarded = atomic_load(&all); guarded && !name;
         guarded = atomic_load(&guarded->next))
        if (guarded->watch == watch && atomic_load(&guarded->end) != 0 && atomic_load(&guarded->unread))
            name = guarded->name;
    pthread_mutex_unlock(&lock);
    return name;
}

void lode_guard_drop_pages(void)
{
    pthread_mutex_lock(&lock);
    for (struct lode_guarded *guarded = atomic_load(&all); guarded; guarded = atomic_load(&guarded->next)) {
        uintptr_t begin = atomic_load(&guarded->begin), end = atomic_load(&guarded->end);
        if (begin < end)
            (void)madvise((void *)begin, end - begin, MADV_DONTNEED); // NOLINT(performance-no-int-to-ptr)
    }
    pthread_mutex_unlock(&lock);
}

/* ---- the signal ---- */

/* Async-signal-safe: only atomic loads and stores, and mmap, which is one system call. */
static bool give_zeros(uintptr_t address)
{
    for (struct lode_guarded *guarded = atomic_load(&all); guarded; guarded = atomic_load(&guarded->next)) {
        uintptr_t begin = atomic_load(&guarded->begin), end = atomic_load(&guarded->end);
        if (address < begin || address >= end)
            continue;
        /* The rest of the mapping is lost too. */
        uintptr_t page = address & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
        atomic_store(&guarded->unread, true);
        void *gone = (void *)page; // NOLINT(performance-no-int-to-ptr)
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
        return mmap(gone, end - page, PROT_READ, flags, -1, 0) != MAP_FAILED;
    }
    return false;
}

/* Not one of our mappings: does what would happen without a guard. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(number, info, context);
    } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
        previous.sa_handler(number);
    } else {
        /* Returning repeats the access, which now ends the process. */
        struct sigaction standard = {.sa_handler = SIG_DFL};
        sigaction(number, &standard, NULL);
    }
}

static void handle(int number, siginfo_t *info, void *context)
{
    int before = errno;
    if (info->si_code <= 0 || !give_zeros((uintptr_t)info->si_addr))
        pass_on(number, info, context);
    errno = before;
}

lode_status lode_guard_install(lode_error *error)
{
    lode_status status = LODE_OK;
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    pthread_mutex_lock(&lock);
    if (!atomic_load(&is_installed)) {
        if (sigaction(SIGBUS, &action, &previous) != 0)
            status = lode_fail_errno(error, NULL, "cannot handle SIGBUS");
        else
            atomic_store(&is_installed, true);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

lode_status lode_guard_check(lode_error *error)
{
    return lode_watch_check_all(error);
}
