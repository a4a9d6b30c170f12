/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another user in a directory that all may write to: attack UID PARENT NAME OUTSIDE WAY
 *
 * Attacks, as user UID in PARENT, the process that writes NAME there, until SIGTERM:
 *   before   makes .NAME.partial first, open to all, and replaces what is made in it by directories
 *            with links and foreign bytes
 *   filled   makes .NAME.partial first, open to all, with links to OUTSIDE under all names
 *   swap     makes .NAME.partial, and repeatedly replaces it by another directory or a link
 *   plant    renames and removes .NAME.partial or NAME, and puts links and files into the former
 *   link     repeatedly makes NAME, .NAME.partial and names like NAME.XXXXXX links to OUTSIDE
 * No attack needs to succeed; the test checks the output afterwards. Prints how many did.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile sig_atomic_t is_over;
static unsigned long done;
static const char *outside, *name;
static char partial[NAME_MAX], other[NAME_MAX];

static const char *const parts[] = {
    "lock",     "new",    "old",      "part",        "meta.db",  "profile.db",   "cct.db",
    "trace.db", "src",    "info",     "1000.dat",    "task.txt", "default.opts", "FORMATS.md",
    "metrics",  "000000", "rows-0-0", "samples-0-0", "probe",    "packed-0",     "experiment.xml"};
#define PARTS (sizeof parts / sizeof *parts)

static void on_end(int number)
{
    (void)number;
    is_over = 1;
}

static void count(int result)
{
    done += result == 0;
}

/* Makes links to a file and a directory outside, and a file with foreign bytes, under one name. */
static void plant_one(int directory, const char *entry, unsigned kind)
{
    char target[PATH_MAX];
    snprintf(target, sizeof target, "%s/%s", outside, kind % 3 == 0 ? "folder" : "file");
    if (kind % 3 < 2) {
        count(symlinkat(target, directory, entry));
        return;
    }
    int fd = openat(directory, entry, O_WRONLY | O_CREAT | O_NOFOLLOW, 0666);
    if (fd >= 0)
        done += write(fd, "FOREIGN", 7) == 7;
    if (fd >= 0)
        close(fd);
}

static void plant_all(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return;
    for (unsigned i = 0; i < PARTS; i++)
        plant_one(fd, parts[i], i);
    int new = openat(fd, "new", O_RDONLY | O_DIRECTORY);
    for (unsigned i = 0; new >= 0 && i < PARTS; i++)
        plant_one(new, parts[i], i);
    if (new >= 0)
        close(new);
    close(fd);
}

/* Replaces the victim's new directory in ours by one with links and foreign bytes. */
static void replace_new(void)
{
    static unsigned turn;
    char away[NAME_MAX];
    struct stat status;
    int fd = open(partial, O_RDONLY | O_DIRECTORY);
    if (fd >= 0 && fstatat(fd, "new", &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_uid != getuid()) {
        snprintf(away, sizeof away, "away%u", turn++);
        count(renameat(fd, "new", fd, away));
        count(mkdirat(fd, "new", 0777));
        int new = openat(fd, "new", O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        for (unsigned i = 0; new >= 0 && i < PARTS; i++)
            plant_one(new, parts[i], i + turn);
        if (new >= 0)
            close(new);
    }
    if (fd >= 0)
        close(fd);
}

static void before(void)
{
    if (mkdir(partial, 0777) == 0)
        done++;
    replace_new();
}

static void filled(void)
{
    if (mkdir(partial, 0777) == 0)
        done++;
    plant_all(partial);
}

static void swap(void)
{
    static unsigned turn;
    mkdir(partial, 0777);
    mkdir(other, 0777);
    chmod(other, 0777);
    switch (turn++ % 4) {
    case 0:
        count(renameat2(AT_FDCWD, partial, AT_FDCWD, other, RENAME_EXCHANGE));
        break;
    case 1:
        plant_all(partial);
        count(rename(partial, other));
        break;
    case 2:
        count(rmdir(partial));
        count(symlink(outside, partial));
        break;
    default:
        count(unlink(partial));
        count(renameat2(AT_FDCWD, other, AT_FDCWD, partial, RENAME_EXCHANGE));
    }
}

static void plant(void)
{
    /* Whether the output is open to all depends on the victim's umask: put nothing there. */
    plant_all(partial);
    count(rename(partial, other));
    count(rename(name, other));
    count(unlink(name));
}

static void link_names(void)
{
    static unsigned turn;
    char target[PATH_MAX], guess[NAME_MAX];
    snprintf(target, sizeof target, "%s/%s", outside, turn % 2 ? "file" : "folder");
    snprintf(guess, sizeof guess, "%.200s.%06u", name, turn % 1000000);
    count(symlink(target, turn % 3 ? name : partial));
    count(symlink(target, guess));
    unlink(guess);
    if (turn++ % 5 == 0) {
        count(unlink(name));
        count(unlink(partial));
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*step)(void);
    } ways[] = {
        {"before", before}, {"filled", filled}, {"swap", swap}, {"plant", plant}, {"link", link_names}};
    void (*step)(void) = NULL;
    if (argc != 6)
        return 2;
    name = argv[3];
    outside = argv[4];
    snprintf(partial, sizeof partial, ".%.200s.partial", name);
    snprintf(other, sizeof other, ".%.200s.other", name);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(argv[5], ways[i].name) == 0)
            step = ways[i].step;
    uid_t user = (uid_t)strtoul(argv[1], NULL, 10);
    if (step == NULL || chdir(argv[2]) != 0 || setgid(user) != 0 || setuid(user) != 0)
        return 2;
    umask(0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGTERM, on_end);
    step();
    /* The first step is done. */
    printf("ready\n");
    fflush(stdout);
    while (!is_over)
        step();
    printf("%lu\n", done);
    return 0;
}
