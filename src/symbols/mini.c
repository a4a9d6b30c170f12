/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symbols of .gnu_debugdata: Fedora and others strip binaries, but for a compressed table with the
 * names of functions. libdw unpacks it, in memory.
 */
#include "binary.h"

#include <elfutils/libdwfl.h>
#include <string.h>

static bool has_mini_symbols(Elf *elf)
{
    size_t names;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && strcmp(name, ".gnu_debugdata") == 0)
            return true;
    }
    return false;
}

/* No other file is looked for. */
static int find_nothing(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base, const char *file,
                        const char *link, GElf_Word checksum, char **found)
{
    (void)module, (void)user, (void)name, (void)base, (void)file, (void)link, (void)checksum, (void)found;
    return -1;
}

void read_mini_symbols(struct answers *answers, Elf *elf)
{
    static const Dwfl_Callbacks callbacks = {.find_debuginfo = find_nothing};
    if (!has_mini_symbols(elf))
        return;
    Dwfl *dwfl = dwfl_begin(&callbacks);
    /* Its addresses are those in the file. The program ends before anything is freed. */
    Dwfl_Module *module = dwfl ? dwfl_report_elf(dwfl, "binary", "binary", SYMBOLS_BINARY_FD, 0, true) : NULL;
    if (module == NULL || dwfl_report_end(dwfl, NULL, NULL) != 0)
        return;
    int count = dwfl_module_getsymtab(module);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *name = dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);
        symbol.st_value = name ? address : 0;
        if (name && symbol.st_shndx != SHN_UNDEF && GELF_ST_TYPE(symbol.st_info) == STT_FUNC)
            use_symbol(answers, &symbol, name);
    }
}
