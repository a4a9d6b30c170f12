/* SPDX-License-Identifier: BSD-3-Clause */
#include "process.h"

#include <signal.h>
#include <spawn.h>

static int set_files(posix_spawn_file_actions_t *actions, const process_settings *settings)
{
    const int files[] = {settings->input, settings->output, settings->messages};
    int code = 0;
    for (int i = 0; i < 3 && code == 0; i++)
        code = files[i] < 0 ? -1 : posix_spawn_file_actions_adddup2(actions, files[i], i);
    return code;
}

int process_start(pid_t *pid, const process_settings *settings)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
    sigemptyset(&none);
    sigfillset(&all);
    if (posix_spawn_file_actions_init(&actions) != 0)
        return -1;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return -1;
    }
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes,
                             settings->has_own_group ? (short)(flags | POSIX_SPAWN_SETPGROUP) : flags);
    int code = set_files(&actions, settings);
    if (code == 0)
        code = posix_spawn(pid, settings->program, &actions, &attributes, settings->arguments,
                           settings->variables);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return code == 0 ? 0 : -1;
}
