/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/record/program.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *program_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void program_name(const char *text, char name[64])
{
    size_t used = 0;
    for (; *text && used < 48; text++)
        name[used++] = (char)(isalnum((unsigned char)*text) || strchr("._+-", *text) ? *text : '_');
    name[used] = '\0';
    if (used == 0)
        memcpy(name, "program", sizeof "program");
}

/* ---- files ---- */

static int is_executable(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return 0;
    if (S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return 0;
    }
    return access(path, X_OK) == 0;
}

/* In one directory of PATH; an empty one is the current directory. */
static int find_in(const char *directory, size_t length, const char *word, char path[PATH_MAX])
{
    int size = length ? snprintf(path, PATH_MAX, "%.*s/%s", (int)length, directory, word)
                      : snprintf(path, PATH_MAX, "./%s", word);
    return size > 0 && size < PATH_MAX && is_executable(path);
}

int program_find(const char *word, char path[PATH_MAX])
{
    const char *list = getenv("PATH");
    int code = ENOENT;
    if (word[0] == '\0' || strlen(word) >= PATH_MAX) {
        errno = ENOENT;
        return 0;
    }
    if (strchr(word, '/')) {
        snprintf(path, PATH_MAX, "%s", word);
        return is_executable(path);
    }
    for (list = list ? list : "/usr/local/bin:/usr/bin:/bin"; list;) {
        size_t length = strcspn(list, ":");
        if (find_in(list, length, word, path))
            return 1;
        code = errno == EACCES ? EACCES : code;
        list = list[length] ? list + length + 1 : NULL;
    }
    errno = code;
    return 0;
}

/* ---- launchers ---- */

/* What launchers of MPI take with their options: the number of words that follow. */
static const struct launcher_option {
    const char *name;
    size_t words;
} launcher_options[] = {
    {"-n", 1},
    {"-np", 1},
    {"-c", 1},
    {"--n", 1},
    {"--np", 1},
    {"-N", 1},
    {"-npernode", 1},
    {"--npernode", 1},
    {"-ppn", 1},
    {"-H", 1},
    {"-host", 1},
    {"--host", 1},
    {"-hosts", 1},
    {"-f", 1},
    {"-hostfile", 1},
    {"--hostfile", 1},
    {"-machinefile", 1},
    {"-x", 1},
    {"--machinefile", 1},
    {"-wdir", 1},
    {"--wdir", 1},
    {"-wd", 1},
    {"--bind-to", 1},
    {"-bind-to", 1},
    {"--map-by", 1},
    {"-map-by", 1},
    {"--rank-by", 1},
    {"-rank-by", 1},
    {"--mca", 2},
    {"-mca", 2},
    {"--gmca", 2},
    {"-genv", 2},
    {"-env", 2},
    {"-genvlist", 1},
    {"-envlist", 1},
    {"-iface", 1},
    {"--prefix", 1},
    {"--path", 1},
    {"-launcher", 1},
    {"--output-filename", 1},
    {"--timeout", 1},
    {"-t", 1},
    {"-p", 1},
    {"-A", 1},
    {"-J", 1},
    {"-w", 1},
    {"-o", 1},
    {"-e", 1},
    {"-D", 1},
    {"--ntasks", 1},
    {"--nodes", 1},
    {"--partition", 1},
    {"--account", 1},
    {"--time", 1},
    {"--cpus-per-task", 1},
    {"--mpi", 1},
    {"--nodelist", 1},
    {"--chdir", 1},
    {"--job-name", 1},
    {"--ntasks-per-node", 1},
};

static size_t words_after(const char *option)
{
    for (size_t i = 0; i < sizeof launcher_options / sizeof *launcher_options; i++)
        if (strcmp(option, launcher_options[i].name) == 0)
            return launcher_options[i].words;
    return 0;
}

static int names_hosts(const char *option)
{
    static const char *const names[] = {"-H",        "-host",      "--host",       "-hosts",       "-f",
                                        "-hostfile", "--hostfile", "-machinefile", "--machinefile"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(option, names[i]) == 0)
            return 1;
    return 0;
}

/* An option that is not in the table may take words, too: they are not names of programs. */
static void find_behind_launcher(program *found)
{
    char path[PATH_MAX];
    for (size_t i = 1; i < found->count; i++) {
        const char *word = found->line[i];
        if (word[0] == '-') {
            found->is_elsewhere |= names_hosts(word);
            i += words_after(word);
        } else if (program_find(word, path)) {
            found->first = i;
            return;
        }
    }
}

static void find_launcher(program *found)
{
    static const char *const names[] = {"mpirun", "mpiexec", "orterun", "prun", "mpiexec.hydra", "srun"};
    const char *base = program_base(found->line[0]);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(base, names[i], strlen(names[i])) == 0 &&
            (base[strlen(names[i])] == '\0' || base[strlen(names[i])] == '.'))
            found->launcher = names[i];
    if (!found->launcher)
        return;
    found->is_elsewhere = strcmp(found->launcher, "srun") == 0;
    find_behind_launcher(found);
    if (found->first == 0)
        found->launcher = NULL;
}

/* ---- interpreters ---- */

/* "python3.12" is 312; 0 if the name does not say it. */
static int version_of(const char *base)
{
    char *end;
    long major = strtol(base + strlen("python"), &end, 10);
    long minor = *end == '.' ? strtol(end + 1, &end, 10) : -1;
    return major > 0 && major < 100 && minor >= 0 && minor < 100 ? (int)(100 * major + minor) : 0;
}

static interpreter interpreter_of(const char *base)
{
    if (strncmp(base, "python", 6) == 0)
        return INTERPRETER_PYTHON;
    return strcmp(base, "node") == 0 || strcmp(base, "nodejs") == 0 ? INTERPRETER_NODE : INTERPRETER_NONE;
}

/* What is called like one is one, though it may be a script that finds it. */
static void find_interpreter(program *found)
{
    char path[PATH_MAX], real[PATH_MAX];
    const char *word = found->path;
    found->interpreter = interpreter_of(program_base(word));
    if (found->interpreter == INTERPRETER_NONE && found->file.interpreter[0]) {
        word = found->file.interpreter;
        found->interpreter = interpreter_of(program_base(word));
    }
    if (found->interpreter == INTERPRETER_PYTHON && program_find(word, path) && realpath(path, real))
        found->version = strncmp(program_base(real), "python", 6) == 0 ? version_of(program_base(real)) : 0;
}

/* Of an interpreter, what it runs: a script, or a module. */
static const char *find_title(const program *found)
{
    int is_direct = interpreter_of(program_base(found->path)) != INTERPRETER_NONE;
    for (size_t i = found->first + 1; is_direct && i < found->count; i++) {
        const char *word = found->line[i];
        if (strcmp(word, "-c") == 0 || strcmp(word, "-e") == 0)
            break;
        if (word[0] != '-')
            return word;
    }
    return found->line[found->first];
}

void program_look(const char *const *line, size_t count, program *found)
{
    *found = (program){.line = line, .count = count};
    find_launcher(found);
    if (!program_find(line[found->first], found->path)) {
        found->is_denied = errno == EACCES || errno == EISDIR;
        found->path[0] = '\0';
    } else {
        binary_look(found->path, &found->file);
        find_interpreter(found);
    }
    program_name(program_base(find_title(found)), found->name);
}
