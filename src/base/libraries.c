/* SPDX-License-Identifier: BSD-3-Clause */
/* The libraries that Lode uses, and their versions. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <expat.h>
#include <lode/private/libraries.h>
#include <lode/status.h>
#include <lz4.h>
#include <pcre2.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#if LODE_HAS_LIBDEFLATE
#include <libdeflate.h>
#endif
#if LODE_HAS_LZMA
#include <lzma.h>
#endif
#if LODE_HAS_ZSTD
#include <zstd.h>
#endif

enum {
    VERSION_SIZE = 64
};

static void put_expat(char text[VERSION_SIZE])
{
    XML_Expat_Version version = XML_ExpatVersionInfo();
    snprintf(text, VERSION_SIZE, "%d.%d.%d", version.major, version.minor, version.micro);
}

static void put_zlib(char text[VERSION_SIZE])
{
    snprintf(text, VERSION_SIZE, "%s", zlibVersion());
}

static void put_lz4(char text[VERSION_SIZE])
{
    snprintf(text, VERSION_SIZE, "%s", LZ4_versionString());
}

/* "10.42 2022-12-11", without the day. */
static void put_pcre2(char text[VERSION_SIZE])
{
    int length = pcre2_config(PCRE2_CONFIG_VERSION, NULL);
    if (length > 0 && length <= VERSION_SIZE && pcre2_config(PCRE2_CONFIG_VERSION, text) > 0)
        text[strcspn(text, " ")] = '\0';
}

#if LODE_HAS_LIBDEFLATE
static void put_libdeflate(char text[VERSION_SIZE])
{
    snprintf(text, VERSION_SIZE, "%s", LIBDEFLATE_VERSION_STRING);
}
#endif

#if LODE_HAS_LZMA
static void put_lzma(char text[VERSION_SIZE])
{
    snprintf(text, VERSION_SIZE, "%s", lzma_version_string());
}
#endif

#if LODE_HAS_ZSTD
static void put_zstd(char text[VERSION_SIZE])
{
    snprintf(text, VERSION_SIZE, "%s", ZSTD_versionString());
}
#endif

static const struct library {
    const char *name;
    void (*version)(char text[VERSION_SIZE]);
} libraries[] = {
    {"expat", put_expat},
    {"zlib", put_zlib},
    {"lz4", put_lz4},
    {"pcre2", put_pcre2},
#if LODE_HAS_LIBDEFLATE
    {"libdeflate", put_libdeflate},
#endif
#if LODE_HAS_ZSTD
    {"zstd", put_zstd},
#endif
#if LODE_HAS_LZMA
    {"lzma", put_lzma},
#endif
};

#define LIBRARY_COUNT (sizeof libraries / sizeof *libraries)

const char *lode_library_name(uint32_t index)
{
    return index < LIBRARY_COUNT ? libraries[index].name : NULL;
}

size_t lode_library_version(uint32_t index, char *buffer, size_t capacity)
{
    char text[VERSION_SIZE] = "";
    if (index < LIBRARY_COUNT)
        libraries[index].version(text);
    if (capacity > 0)
        snprintf(buffer, capacity, "%s", text);
    return strlen(text);
}
