/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the library and the helper that reads binaries tell each other. Numbers are in the byte
 * order of the machine, and nothing is aligned.
 *
 * The helper gets a binary, the offsets that are asked about, and possibly a file with the binary's
 * debug information, as open files. It answers with records: a byte for the kind, then fields.
 * The last record is SYMBOLS_END. Whoever reads trusts none of it.
 *
 *   SYMBOLS_STRING   u32 length, bytes without NUL. Strings are numbered 0, 1, 2...
 *   SYMBOLS_SCOPE    u8 kind, u32 parent, u32 name, u32 file, u32 line, u32 function, u64 address.
 *                    Scopes are numbered 0, 1, 2...; the parent comes before. Scopes of one
 *                    function have the same number there, which is below that of the scope or its
 *                    own.
 *   SYMBOLS_ANSWER   u32 index of an offset, rising; u32 scope
 *   SYMBOLS_RANGE    u64 start, u64 end, u32 scope; they rise. Instead of answers, of all code
 *   SYMBOLS_DEBUG    u8 SYMBOLS_HAS_...; u32 length of the build id, its bytes;
 *                    u32 length of the name of a file with debug information, its bytes
 *   SYMBOLS_END      u32 strings, u32 scopes, u32 answers or ranges
 */
#ifndef LODE_FORMAT_HPCRUN_BINARY_PROTOCOL_H
#define LODE_FORMAT_HPCRUN_BINARY_PROTOCOL_H

#include <stdint.h>

#define SYMBOLS_BEGIN "LODESYM1"

enum {
    SYMBOLS_BEGIN_SIZE = 8,
    SYMBOLS_OUTPUT_MOST = 1 << 28, /* bytes of an answer */
    SYMBOLS_NAME_MOST = 1 << 16,   /* bytes of a string; longer ones are cut */
    SYMBOLS_BUILD_ID_MOST = 64
};

/* Open files of the helper. */
enum {
    SYMBOLS_OUTPUT_FD = 1,
    SYMBOLS_BINARY_FD = 3,
    SYMBOLS_OFFSETS_FD = 4, /* u64 each, rising */
    SYMBOLS_DEBUG_FD = 5    /* of the mode "beside" */
};

/*
 * In the mode "serve" the helper reads no binary itself. Each request is a message to its socket: a
 * mode of SYMBOLS_MODE_SIZE bytes, with open files: the binary, the offsets, the file with debug
 * information or any other, and what the answer is written to. A fork of the helper reads the
 * binary; how that ended is the answer to the message: an int, as of waitpid.
 */
enum {
    SYMBOLS_SOCKET_FD = 16,
    SYMBOLS_MODE_SIZE = 16,
    SYMBOLS_FILES = 4
};

enum symbols_record {
    SYMBOLS_STRING = 'S',
    SYMBOLS_SCOPE = 'C',
    SYMBOLS_ANSWER = 'A',
    SYMBOLS_RANGE = 'R',
    SYMBOLS_DEBUG = 'D',
    SYMBOLS_END = 'E'
};

/* Of debug information and loops. */
enum {
    SYMBOLS_HAS_DEBUG = 1,
    SYMBOLS_HAS_OTHERS = 2,     /* a part of it is in further files: split DWARF, or dwz */
    SYMBOLS_HAS_NO_LOOPS = 4,   /* loops were wanted, and the processor is not known */
    SYMBOLS_HAS_SOME_LOOPS = 8, /* there is more code than the analysis may decode */
};

enum symbols_kind {
    SYMBOLS_FUNCTION,
    SYMBOLS_INLINED,
    SYMBOLS_LINE,
    SYMBOLS_LOOP, /* the address is that of its first entry */
    SYMBOLS_KINDS
};

#define SYMBOLS_NONE UINT32_MAX

/* Exit statuses; others, and signals, are crashes. */
enum symbols_exit {
    SYMBOLS_DONE,
    SYMBOLS_NO_BINARY = 3, /* not ELF */
    SYMBOLS_NO_MEMORY = 4,
    SYMBOLS_NO_OUTPUT = 5,
    SYMBOLS_NO_READER = 6, /* packed by what this build has no library for */
    SYMBOLS_DAMAGED = 7
};

/*
 * Files of an archive by build id, in the mode "archive": the helper gets the archive as binary,
 * and struct archive_wanted instead of offsets, sorted by their bytes. It answers with struct
 * archive_file and the bytes of the file, at most once for each; the last one has SYMBOLS_NONE.
 */
struct archive_wanted {
    uint8_t size; /* of the build id */
    uint8_t id[20];
};

struct archive_file {
    uint32_t wanted; /* which one */
    uint32_t zero;
    uint64_t size;
};

/*
 * Unwinding copies of user stacks, in the mode "unwind": the helper gets binaries as open files,
 * and requests through a pipe: a byte for the kind, then a struct.
 *
 *   UNWIND_SPACE     another address space begins: mappings are forgotten
 *   UNWIND_MAPPING   struct unwind_mapping
 *   UNWIND_SAMPLE    struct unwind_sample, bytes of the stack. The answer: u32 frames, u64 each,
 *                    the innermost first; others are return addresses
 */
enum {
    UNWIND_REQUESTS_FD = 4,
    UNWIND_MODULES_FD = 16, /* the first of all binaries */
    UNWIND_MODULES_MOST = 256,
    UNWIND_MAPPINGS_MOST = 4096,
    UNWIND_STACK_MOST = 1 << 16,
    UNWIND_FRAMES_MOST = 127,
    UNWIND_REGISTERS = 17, /* of DWARF on x86-64, the last is the instruction pointer */
    UNWIND_SP = 7,
    UNWIND_IP = 16
};

enum {
    UNWIND_SPACE = 'N',
    UNWIND_MAPPING = 'M',
    UNWIND_SAMPLE = 'S'
};

struct unwind_mapping {
    uint64_t start, end, offset;
    uint32_t module;  /* number of its open file */
    uint32_t id_size; /* 0: no build id was recorded */
    uint8_t id[20];
    uint8_t zero[4];
};

struct unwind_sample {
    uint64_t registers[UNWIND_REGISTERS];
    uint32_t size; /* bytes of the stack, from the stack pointer on */
    uint32_t zero;
};

#endif
