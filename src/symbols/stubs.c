/* SPDX-License-Identifier: BSD-3-Clause */
/* Stubs of the procedure linkage table have the names of what they call: "memcpy@plt". */
#include "structure.h"

#include <stdlib.h>
#include <string.h>

enum {
    SECTIONS_MOST = 8,
    STUB_SIZE = 16 /* of processors that image_stub knows, unless the section says another one */
};

struct stub_section {
    uint64_t start, end, size; /* size: of a stub */
};

/* .plt, .plt.sec, .plt.got: how many there are. */
static size_t list_sections(Elf *elf, struct stub_section sections[SECTIONS_MOST])
{
    size_t names, count = 0;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return 0;
    while ((section = elf_nextscn(elf, section)) != NULL && count < SECTIONS_MOST) {
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name == NULL || strncmp(name, ".plt", strlen(".plt")) != 0 ||
            !(header.sh_flags & SHF_EXECINSTR) || header.sh_addr > UINT64_MAX - header.sh_size)
            continue;
        bool is_usual = header.sh_entsize == STUB_SIZE || header.sh_entsize == STUB_SIZE / 2;
        sections[count++] = (struct stub_section){header.sh_addr, header.sh_addr + header.sh_size,
                                                  is_usual ? header.sh_entsize : STUB_SIZE};
    }
    return count;
}

/* Whether the function of an offset has no name. */
static bool is_unnamed(const struct answers *answers, uint32_t scope)
{
    while (scope != SYMBOLS_NONE && answers->scopes[scope].parent != SYMBOLS_NONE)
        scope = answers->scopes[scope].parent;
    return scope == SYMBOLS_NONE || answers->scopes[scope].name == SYMBOLS_NONE;
}

static uint32_t add_stub(struct answers *answers, const char *callee, uint64_t start)
{
    static const char suffix[] = "@plt";
    size_t length = strlen(callee);
    char *name = must_grow(NULL, length + sizeof suffix, 1);
    memcpy(name, callee, length);
    memcpy(name + length, suffix, sizeof suffix);
    uint32_t scope = answers_scope(answers, (struct scope){.parent = SYMBOLS_NONE,
                                                           .name = answers_string(answers, name),
                                                           .file = SYMBOLS_NONE,
                                                           .function = SYMBOLS_NONE,
                                                           .address = start,
                                                           .kind = SYMBOLS_FUNCTION});
    free(name);
    return scope;
}

void name_stubs(const struct structure *structure, struct answers *answers)
{
    struct stub_section sections[SECTIONS_MOST];
    size_t count = structure->is_open ? list_sections(structure->image.elf, sections) : 0;
    for (size_t k = 0; k < count; k++) {
        uint64_t last = UINT64_MAX;
        uint32_t first, scope = SYMBOLS_NONE;
        uint32_t found = answers_within(answers, sections[k].start, sections[k].end, &first);
        for (uint32_t i = first; i < first + found; i++) {
            uint64_t before = (answers->offsets[i] - sections[k].start) % sections[k].size;
            uint64_t start = answers->offsets[i] - before;
            if (answers->is_extra[i] || !is_unnamed(answers, answers->found[i].scope))
                continue;
            if (start != last) {
                const char *callee = image_stub(&structure->image, start);
                scope = callee && callee[0] ? add_stub(answers, callee, start) : SYMBOLS_NONE;
                last = start;
            }
            if (scope != SYMBOLS_NONE)
                answers->found[i].scope = scope;
        }
    }
}
