/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/error.h"

#include "lode_version.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void lode_describe(lode_error *error, lode_status status, const char *file, uint64_t offset,
                   const char *format, ...)
{
    if (error == NULL)
        return;
    error->status = status;
    error->os_errno = 0;
    error->offset = offset;
    snprintf(error->file, sizeof error->file, "%s", file ? file : "");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
}

lode_status lode_describe_errno(lode_error *error, const char *file, const char *what)
{
    int code = errno;
    char buffer[128];
    lode_status status = code == ENOMEM ? LODE_ERR_MEMORY : LODE_ERR_IO;
    lode_describe(error, status, file, LODE_NO_OFFSET, "%s: %s", what,
                  strerror_r(code, buffer, sizeof buffer));
    if (error)
        error->os_errno = code;
    return status;
}

size_t lode_error_text(const lode_error *error, char *buffer, size_t capacity)
{
    const char *text = error->text[0] ? error->text : lode_status_name(error->status);
    int length;
    if (!error->file[0])
        length = snprintf(buffer, capacity, "%s", text);
    else if (error->offset == LODE_NO_OFFSET)
        length = snprintf(buffer, capacity, "%s: %s", error->file, text);
    else
        length = snprintf(buffer, capacity, "%s at 0x%" PRIx64 ": %s", error->file, error->offset, text);
    return (size_t)length;
}

const char *lode_status_name(lode_status status)
{
    switch (status) {
    case LODE_OK:
        return "ok";
    case LODE_END:
        return "end";
    case LODE_NOT_FOUND:
        return "not found";
    case LODE_ABSENT:
        return "absent";
    case LODE_ERR_ARGUMENT:
        return "bad argument";
    case LODE_ERR_MEMORY:
        return "out of memory";
    case LODE_ERR_IO:
        return "input/output error";
    case LODE_ERR_CORRUPT:
        return "corrupt";
    case LODE_ERR_UNSUPPORTED:
        return "unsupported";
    case LODE_ERR_LIMIT:
        return "limit exceeded";
    case LODE_ERR_CANCELLED:
        return "cancelled";
    }
    return "unknown status";
}

const char *lode_version(void)
{
    return LODE_VERSION;
}
