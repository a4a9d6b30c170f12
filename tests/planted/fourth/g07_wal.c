// SPDX-License-Identifier: BSD-3-Clause
/* A write-ahead log with group commit: few syncs, large writes, much checking. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GROUP_BYTES (256 * 1024)
#define RECORDS 700000

struct record { uint32_t number, check; char payload[56]; };

static int log_fd = -1;
static char group[GROUP_BYTES];
static size_t group_used;
static int commits;

__attribute__((noinline)) static void commit_group(void)
{
    if (!group_used)
        return;
    if (write(log_fd, group, group_used) != (ssize_t)group_used || fdatasync(log_fd))
        perror("commit");
    group_used = 0;
    commits++;
}

__attribute__((noinline)) static uint32_t check_record(const struct record *r)
{
    uint32_t crc = ~r->number;
    for (size_t i = 0; i < sizeof r->payload; i++) {
        crc ^= (uint8_t)r->payload[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (0xedb88320u & (0u - (crc & 1)));
    }
    return ~crc;
}

__attribute__((noinline)) static uint32_t append_record(uint32_t number)
{
    struct record r;
    r.number = number;
    for (size_t i = 0; i < sizeof r.payload; i++)
        r.payload[i] = (char)(number * 31 + i * 7);
    r.check = check_record(&r);
    if (group_used + sizeof r > sizeof group)
        commit_group();
    memcpy(group + group_used, &r, sizeof r);
    group_used += sizeof r;
    return r.check;
}

int main(void)
{
    char name[] = "/tmp/walXXXXXX";
    uint64_t sum = 0;
    log_fd = mkstemp(name);
    if (log_fd < 0)
        return 1;
    unlink(name);
    for (uint32_t n = 0; n < RECORDS; n++)
        sum += append_record(n);
    commit_group();
    close(log_fd);
    printf("sum %lu commits %d\n", (unsigned long)sum, commits);
    return 0;
}
