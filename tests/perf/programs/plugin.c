/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that busy opens: it works. */
__attribute__((visibility("default"))) void plugin_work(unsigned long count);

static volatile unsigned long sink;

void plugin_work(unsigned long count)
{
    for (unsigned long i = 0; i < count; i++)
        sink += i * i;
}
