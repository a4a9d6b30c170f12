// SPDX-License-Identifier: BSD-3-Clause
/* A line protocol over a socket: a producer thread and a reader. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINES 100000

static int channel[2];

__attribute__((noinline)) static void *producer_main(void *arg)
{
    (void)arg;
    char block[16384];
    size_t used = 0;
    for (int i = 0; i < LINES; i++) {
        used += (size_t)snprintf(block + used, 64, "SET sensor%d %d\n", i % 50, i * 17 % 10007);
        if (used > sizeof block - 64 || i == LINES - 1) {
            for (size_t done = 0; done < used;) {
                ssize_t n = write(channel[0], block + done, used - done);
                if (n <= 0)
                    return NULL;
                done += (size_t)n;
            }
            used = 0;
        }
    }
    close(channel[0]);
    return NULL;
}

#ifdef FIX
static char buffer[16384];
static ssize_t have, next;
static int get_byte(int fd, char *c)
{
    if (next == have) {
        have = read(fd, buffer, sizeof buffer);
        next = 0;
        if (have <= 0)
            return 0;
    }
    *c = buffer[next++];
    return 1;
}
#else
static int get_byte(int fd, char *c)
{
    return read(fd, c, 1) == 1;
}
#endif

__attribute__((noinline)) static int read_line(int fd, char *line, int size)
{
    int n = 0;
    char c;
    while (n < size - 1 && get_byte(fd, &c)) {
        if (c == '\n')
            break;
        line[n++] = c;
    }
    line[n] = 0;
    return n;
}

__attribute__((noinline)) static uint32_t handle_command(const char *line)
{
    uint32_t h = 2166136261u;
    for (; *line; line++)
        h = (h ^ (uint8_t)*line) * 16777619u;
    return h;
}

int main(void)
{
    pthread_t producer;
    char line[128];
    uint64_t sum = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, channel))
        return 1;
    pthread_create(&producer, NULL, producer_main, NULL);
    while (read_line(channel[1], line, sizeof line))
        sum += handle_command(line);
    pthread_join(producer, NULL);
    close(channel[1]);
    printf("sum %lu\n", (unsigned long)sum);
    return 0;
}
