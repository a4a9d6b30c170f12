/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fuzzer's bytes as a binary, read as lode-symbols does. Not run by CI: crashes within elfutils
 * are possible, which is why the program is a process of its own.
 */
#include "structure.h"

#include "binary.h"

#include <stdlib.h>
#include <string.h>

enum {
    OFFSETS = 64
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every 16th address, from that of the text of small programs. */
static void begin(struct answers *answers)
{
    *answers = (struct answers){.count = OFFSETS};
    answers->offsets = must_grow(NULL, OFFSETS, sizeof *answers->offsets);
    answers->found = must_grow(NULL, OFFSETS, sizeof *answers->found);
    answers->is_extra = must_grow(NULL, OFFSETS, sizeof *answers->is_extra);
    for (uint32_t i = 0; i < OFFSETS; i++) {
        answers->offsets[i] = i < OFFSETS / 2 ? 0x10u * i : 0x1000u + 0x10u * i;
        answers->found[i] = (struct found){.scope = SYMBOLS_NONE};
        answers->is_extra[i] = false;
    }
}

/* What the library relies on. */
static void judge(const struct answers *answers)
{
    for (uint32_t i = 0; i < answers->scope_count; i++) {
        const struct scope *scope = &answers->scopes[i];
        bool has_parent = scope->parent == SYMBOLS_NONE || scope->parent < i;
        if (!has_parent || scope->function > i ||
            (scope->name != SYMBOLS_NONE && scope->name >= answers->string_count))
            abort();
    }
    for (uint32_t i = 0; i < answers->count; i++)
        if (answers->found[i].scope != SYMBOLS_NONE && answers->found[i].scope >= answers->scope_count)
            abort();
}

static void end(struct answers *answers)
{
    for (uint32_t i = 0; i < answers->string_count; i++)
        free(answers->strings[i]);
    free(answers->strings);
    free(answers->string_slots);
    free(answers->scopes);
    free(answers->offsets);
    free(answers->found);
    free(answers->is_extra);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size + 1);
    struct answers answers;
    struct structure structure;
    if (copy == NULL)
        return 0;
    memcpy(copy, data, size);
    elf_version(EV_CURRENT);
    Elf *elf = elf_memory(copy, size);
    if (elf && elf_kind(elf) == ELF_K_ELF) {
        begin(&answers);
        structure_open(&structure, elf, NULL);
        structure_analyse(&structure, &answers);
        read_debug(&answers, elf_memory(copy, size));
        read_symbols(&answers, elf);
        structure_apply(&structure, &answers);
        structure_close(&structure);
        judge(&answers);
        end(&answers);
    }
    elf_end(elf);
    free(copy);
    return 0;
}
