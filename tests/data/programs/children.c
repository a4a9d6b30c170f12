/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that starts two others and waits for them. */
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static int square(int n)
{
    return n * n;
}

__attribute__((noinline)) static int child(int number)
{
    int sum = 0;
    for (int i = 0; i < 5 + number; i++)
        sum += square(i);
    return sum & 1;
}

__attribute__((noinline)) static void wait_for(pid_t pid)
{
    int status;
    waitpid(pid, &status, 0);
}

int main(void)
{
    for (int i = 0; i < 2; i++) {
        pid_t pid = fork();
        if (pid == 0)
            return child(i);
        wait_for(pid);
    }
    return square(0);
}
