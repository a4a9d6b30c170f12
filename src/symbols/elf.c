/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symbols as hpcprof uses them: of any type, with a size; the last byte is left out unless it is
 * the only one; the first in the table counts.
 */
#include "binary.h"

#include <gelf.h>

static Elf_Scn *find_table(Elf *elf, GElf_Word type, GElf_Shdr *header)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, header) && header->sh_type == type)
            return section;
    return NULL;
}

void use_symbol(struct answers *answers, const GElf_Sym *symbol, const char *name)
{
    uint64_t end = symbol->st_size == 1 ? symbol->st_value + 1 : symbol->st_value + symbol->st_size - 1;
    uint32_t first, scope = SYMBOLS_NONE;
    uint32_t count = symbol->st_size > 0 ? answers_within(answers, symbol->st_value, end, &first) : 0;
    for (uint32_t i = 0; i < count; i++) {
        struct found *found = &answers->found[first + i];
        if (found->scope != SYMBOLS_NONE)
            continue;
        if (scope == SYMBOLS_NONE)
            scope = answers_scope(answers, (struct scope){.parent = SYMBOLS_NONE,
                                                          .name = answers_string(answers, name),
                                                          .file = SYMBOLS_NONE,
                                                          .function = SYMBOLS_NONE,
                                                          .address = symbol->st_value,
                                                          .kind = SYMBOLS_FUNCTION});
        found->scope = scope;
    }
}

void read_symbols(struct answers *answers, Elf *elf)
{
    GElf_Shdr header;
    Elf_Scn *section = find_table(elf, SHT_SYMTAB, &header);
    if (section == NULL)
        section = find_table(elf, SHT_DYNSYM, &header);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    size_t size = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
    for (size_t i = 0; data && size > 0 && i < data->d_size / size && i < INT32_MAX; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol))
            use_symbol(answers, &symbol, elf_strptr(elf, header.sh_link, symbol.st_name));
    }
}
