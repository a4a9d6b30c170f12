/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/read/placeholders.h"

#include "base/io/bytes.h"
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct {
    char code[9];
    const char *name;
} names[] = {
    {"| Main  ", "<program root>"},
    {"| Thread", "<thread root>"},
    {"OMP Idle", "<omp idle>"},
    {"OMPOvrHd", "<omp overhead>"},
    {"OMPBarrW", "<omp barrier wait>"},
    {"OMPTaskW", "<omp task wait>"},
    {"OMPMtexW", "<omp mutex wait>"},
    {"OMP Work", "<omp work>"},
    {"OMPETask", "<omp expl task>"},
    {"OMPITask", "<omp impl task>"},
    {"OMPUresv", "<omp region unresolved>"},
    {"OMTAlloc", "<omp tgt alloc>"},
    {"OMTDelte", "<omp tgt delete>"},
    {"OMTCpIn ", "<omp tgt copyin>"},
    {"OMTCpOut", "<omp tgt copyout>"},
    {"OMTKernl", "<omp tgt kernel>"},
    {"GPUCp?2?", "<gpu copy>"},
    {"GPUCpH2D", "<gpu copyin>"},
    {"GPUCpD2H", "<gpu copyout>"},
    {"GPUAlloc", "<gpu alloc>"},
    {"GPUDelte", "<gpu delete>"},
    {"GPUKernl", "<gpu kernel>"},
    {"GPUTrace", "<gpu kernel>"},
    {"GPUMemst", "<gpu memset>"},
    {"GPU Sync", "<gpu sync>"},
    {"Truncate", "<truncated>"},
};

/* Bytes that cannot be printed come after a backslash and a blank; a NUL ends the name. */
void lode_hpcrun_placeholder_name(uint64_t code, char out[HPCRUN_PLACEHOLDER_NAME])
{
    uint8_t bytes[sizeof code];
    put_u64be(bytes, code);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (memcmp(bytes, names[i].code, sizeof bytes) == 0) {
            memcpy(out, names[i].name, strlen(names[i].name) + 1);
            return;
        }
    for (size_t i = 0; i < sizeof bytes; i++) {
        bool is_printable = bytes[i] >= 0x20 && bytes[i] < 0x7f;
        if (!is_printable) {
            *out++ = '\\';
            *out++ = ' ';
        }
        *out++ = (char)bytes[i];
    }
    *out = '\0';
}
