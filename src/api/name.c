/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that formats have a hand in. */
#include "base/label.h"
#include "format/uftrace/args.h"
#include "model/descriptor.h"
#include <lode/name.h>

size_t lode_simple_name(const char *symbol, char *buffer, size_t capacity)
{
    const char *descriptor = lode_descriptor(symbol);
    if (descriptor == NULL)
        return lode_uft_simple_name(symbol, buffer, capacity);
    struct lode_label label = {buffer, capacity, 0};
    lode_label_bytes(&label, symbol, (size_t)(descriptor - symbol));
    return lode_label_end(&label);
}
