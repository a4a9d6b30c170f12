/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "interrupt.h"
#include "job.h"
#include "options/complete.h"
#include "options/formats.h"
#include "output/report.h"
#include "stores/measured.h"

#include <locale.h>
#include <lode/private/measured.h>
#include <stdlib.h>
#include <string.h>

/* `lode --help` and `lode --version` are what people try first. */
static const char *command_name(const char *word)
{
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return "help";
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
        return "version";
    return word;
}

/* A locale that is not installed here, as after ssh, still says which characters can be shown. */
static void set_characters(void)
{
    if (setlocale(LC_CTYPE, ""))
        return;
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *name = NULL;
    for (size_t i = 0; i < 3 && (!name || name[0] == '\0'); i++)
        name = getenv(variables[i]);
    if (name && (strcasestr(name, ".utf-8") || strcasestr(name, ".utf8")))
        setlocale(LC_CTYPE, "C.UTF-8");
}

int main(int argc, char **argv)
{
    set_characters();
    interrupt_init();
    formats_init();
    lode_symbols_find_by(measured_symbols_found);
    /* Without a guard, a file that shrinks ends the program. */
    (void)!lode_guard_install(NULL);
    /* Somebody who types the name alone wants to know what it can do. */
    const char *name = argc < 2 ? "help" : command_name(argv[1]);
    const command_spec *command = command_find(name);
    /* For scripts of shells; it has no help and no options. */
    if (argc > 1 && strcmp(argv[1], "complete") == 0)
        return complete_run(argc - 2, argv + 2);
    /* What is wrong with the words of a command is wrong for all processes of a job. */
    if (!command || command->on_ranks)
        report_quietly(job_is_quiet(JOB_AUTO));
    int given = argc < 2 ? 0 : argc - 2;
    /* `lode --version` answers in one line. */
    static char short_version[] = "--short";
    if (argc >= 2 && argv[1][0] == '-' && strcmp(name, "version") == 0) {
        argv[1] = short_version;
        given++;
    }
    return interrupt_leave(command ? command_run(command, given, argv + argc - given)
                                   : command_unknown(name));
}
