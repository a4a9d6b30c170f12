/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that one function maps and another gives back: what is in use goes up and down again. */
#include <string.h>
#include <sys/mman.h>

enum {
    SIZE = 64 << 20
};

__attribute__((noinline)) char *child(void)
{
    char *memory = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED)
        memset(memory, 1, SIZE);
    return memory;
}

__attribute__((noinline)) int parent(void)
{
    char *memory = child();
    if (memory == MAP_FAILED)
        return 1;
    int byte = memory[5];
    munmap(memory, SIZE);
    return byte != 1;
}

int main(void)
{
    return parent();
}
