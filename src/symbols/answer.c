/* SPDX-License-Identifier: BSD-3-Clause */
#include "answer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FIRST_ROOM = 256
};

void *must_grow(void *memory, size_t count, size_t size)
{
    void *grown = count > SIZE_MAX / size ? NULL : realloc(memory, count * size + 1);
    if (grown == NULL)
        _exit(SYMBOLS_NO_MEMORY);
    return grown;
}

void must_have_memory(void)
{
    if (errno == ENOMEM)
        _exit(SYMBOLS_NO_MEMORY);
}

/* ---- offsets ---- */

void answers_begin(struct answers *answers, int fd)
{
    struct stat about;
    size_t size, used = 0;
    *answers = (struct answers){0};
    if (fstat(fd, &about) != 0 || about.st_size < 0 ||
        (uint64_t)about.st_size / sizeof(uint64_t) >= SYMBOLS_NONE)
        _exit(SYMBOLS_NO_MEMORY);
    answers->count = (uint32_t)((uint64_t)about.st_size / sizeof(uint64_t));
    size = answers->count * sizeof(uint64_t);
    answers->offsets = must_grow(NULL, answers->count, sizeof *answers->offsets);
    while (used < size) {
        ssize_t got = pread(fd, (char *)answers->offsets + used, size - used, (off_t)used);
        if (got <= 0 && errno != EINTR)
            _exit(SYMBOLS_NO_MEMORY);
        used += got > 0 ? (size_t)got : 0;
    }
    answers->found = must_grow(NULL, answers->count, sizeof *answers->found);
    answers->is_extra = must_grow(NULL, answers->count, sizeof *answers->is_extra);
    for (uint32_t i = 0; i < answers->count; i++) {
        answers->found[i] = (struct found){.scope = SYMBOLS_NONE};
        answers->is_extra[i] = false;
    }
}

void answers_add(struct answers *answers, const uint64_t *offsets, size_t count, bool is_asked)
{
    size_t all = 0, old = 0, new = 0, most = answers->count + count;
    if (count == 0)
        return;
    if (most >= SYMBOLS_NONE)
        _exit(SYMBOLS_NO_MEMORY);
    uint64_t *merged = must_grow(NULL, most, sizeof *merged);
    bool *is_extra = must_grow(NULL, most, sizeof *is_extra);
    while (old < answers->count || new < count) {
        bool is_old = new == count || (old < answers->count && answers->offsets[old] <= offsets[new]);
        new += is_old &&new < count && answers->offsets[old] == offsets[new];
        is_extra[all] = is_old ? answers->is_extra[old] : !is_asked;
        merged[all++] = is_old ? answers->offsets[old++] : offsets[new ++];
    }
    free(answers->offsets);
    free(answers->is_extra);
    answers->offsets = merged;
    answers->is_extra = is_extra;
    answers->count = (uint32_t)all;
    answers->found = must_grow(answers->found, all, sizeof *answers->found);
    for (size_t i = 0; i < all; i++)
        answers->found[i] = (struct found){.scope = SYMBOLS_NONE};
}

static uint32_t first_from(const struct answers *answers, uint64_t address)
{
    uint32_t low = 0, high = answers->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (answers->offsets[middle] < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t answers_within(const struct answers *answers, uint64_t start, uint64_t end, uint32_t *first)
{
    *first = first_from(answers, start);
    return end > start ? first_from(answers, end) - *first : 0;
}

/* ---- strings ---- */

static uint32_t hash_of(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

static void place(struct answers *answers, uint32_t number)
{
    uint32_t mask = answers->slot_count - 1, at = hash_of(answers->strings[number]) & mask;
    while (answers->string_slots[at] != 0)
        at = (at + 1) & mask;
    answers->string_slots[at] = number + 1;
}

static void make_room(struct answers *answers)
{
    if (answers->string_count == answers->string_room) {
        answers->string_room = answers->string_room ? 2 * answers->string_room : FIRST_ROOM;
        answers->strings = must_grow(answers->strings, answers->string_room, sizeof *answers->strings);
    }
    if (2 * answers->string_count < answers->slot_count)
        return;
    answers->slot_count = answers->slot_count ? 2 * answers->slot_count : 2 * FIRST_ROOM;
    answers->string_slots =
        must_grow(answers->string_slots, answers->slot_count, sizeof *answers->string_slots);
    memset(answers->string_slots, 0, answers->slot_count * sizeof *answers->string_slots);
    for (uint32_t i = 0; i < answers->string_count; i++)
        place(answers, i);
}

uint32_t answers_string(struct answers *answers, const char *text)
{
    if (text == NULL || *text == '\0')
        return SYMBOLS_NONE;
    make_room(answers);
    uint32_t mask = answers->slot_count - 1, at = hash_of(text) & mask;
    for (; answers->string_slots[at] != 0; at = (at + 1) & mask)
        if (strcmp(answers->strings[answers->string_slots[at] - 1], text) == 0)
            return answers->string_slots[at] - 1;
    answers->strings[answers->string_count] = strdup(text);
    if (answers->strings[answers->string_count] == NULL)
        _exit(SYMBOLS_NO_MEMORY);
    place(answers, answers->string_count);
    return answers->string_count++;
}

uint32_t answers_scope(struct answers *answers, struct scope scope)
{
    if (answers->scope_count == answers->scope_room) {
        answers->scope_room = answers->scope_room ? 2 * answers->scope_room : FIRST_ROOM;
        answers->scopes = must_grow(answers->scopes, answers->scope_room, sizeof *answers->scopes);
    }
    if (scope.function == SYMBOLS_NONE)
        scope.function = answers->scope_count;
    answers->scopes[answers->scope_count] = scope;
    return answers->scope_count++;
}

/* ---- sending ---- */

static FILE *output;

static void send_bytes(const void *bytes, size_t size)
{
    if (output == NULL)
        output = fdopen(SYMBOLS_OUTPUT_FD, "w");
    if (output == NULL || (size > 0 && fwrite(bytes, 1, size, output) != size))
        _exit(SYMBOLS_NO_OUTPUT);
}

static void send_byte(unsigned byte)
{
    send_bytes(&(uint8_t){(uint8_t)byte}, 1);
}

static void send_u32(uint32_t number)
{
    send_bytes(&number, sizeof number);
}

static void send_u64(uint64_t number)
{
    send_bytes(&number, sizeof number);
}

static void send_scope(const struct scope *scope, const uint32_t *numbers)
{
    send_byte(SYMBOLS_SCOPE);
    send_byte(scope->kind);
    send_u32(scope->parent == SYMBOLS_NONE ? SYMBOLS_NONE : numbers[scope->parent]);
    send_u32(scope->name);
    send_u32(scope->file);
    send_u32(scope->line);
    send_u32(numbers[scope->function]);
    send_u64(scope->address);
}

void answers_send_debug(unsigned has, const void *id, size_t id_size, const char *link)
{
    size_t length = link ? strnlen(link, SYMBOLS_NAME_MOST) : 0;
    id_size = id_size > SYMBOLS_BUILD_ID_MOST ? 0 : id_size;
    send_bytes(SYMBOLS_BEGIN, SYMBOLS_BEGIN_SIZE);
    send_byte(SYMBOLS_DEBUG);
    send_byte(has);
    send_u32((uint32_t)id_size);
    send_bytes(id, id_size);
    send_u32((uint32_t)length);
    send_bytes(link, length);
}

/* Sends the scopes that answers need; `numbers` is by scope, as sent. Returns how many. */
static uint32_t send_scopes(const struct answers *answers, uint32_t *numbers)
{
    uint32_t sent = 0;
    for (uint32_t i = 0; i < answers->scope_count; i++)
        numbers[i] = SYMBOLS_NONE;
    for (uint32_t i = 0; i < answers->count; i++) {
        uint32_t at = answers->is_extra[i] ? SYMBOLS_NONE : answers->found[i].scope;
        for (; at != SYMBOLS_NONE && numbers[at] == SYMBOLS_NONE; at = answers->scopes[at].parent)
            numbers[at] = 0;
    }
    /* The first scope of a function may be of an offset that nobody asked about. */
    for (uint32_t i = answers->scope_count; i-- > 0;)
        for (uint32_t at = numbers[i] == 0 ? answers->scopes[i].function : SYMBOLS_NONE;
             at != SYMBOLS_NONE && numbers[at] == SYMBOLS_NONE; at = answers->scopes[at].parent)
            numbers[at] = 0;
    for (uint32_t i = 0; i < answers->scope_count; i++) {
        if (numbers[i] == SYMBOLS_NONE)
            continue;
        numbers[i] = sent++;
        send_scope(&answers->scopes[i], numbers);
    }
    return sent;
}

/* Returns how many. */
static uint32_t send_answers(const struct answers *answers, const uint32_t *numbers)
{
    uint32_t sent = 0, asked = 0;
    for (uint32_t i = 0; i < answers->count; i++) {
        uint32_t scope = answers->found[i].scope;
        if (answers->is_extra[i])
            continue;
        asked++;
        if (scope == SYMBOLS_NONE)
            continue;
        send_byte(SYMBOLS_ANSWER);
        send_u32(asked - 1);
        send_u32(numbers[scope]);
        sent++;
    }
    return sent;
}

static uint64_t end_of(const struct answers *answers, uint32_t index)
{
    return answers->offsets[index] + answers->lengths[index];
}

/* Contiguous instructions of one scope are a range. Returns how many. */
static uint32_t send_ranges(const struct answers *answers, const uint32_t *numbers)
{
    uint32_t sent = 0;
    for (uint32_t i = 0, next; i < answers->count; i = next) {
        uint32_t scope = answers->found[i].scope;
        for (next = i + 1; next < answers->count && answers->found[next].scope == scope &&
                           end_of(answers, next - 1) == answers->offsets[next];
             next++) {
        }
        if (scope == SYMBOLS_NONE)
            continue;
        send_byte(SYMBOLS_RANGE);
        send_u64(answers->offsets[i]);
        send_u64(end_of(answers, next - 1));
        send_u32(numbers[scope]);
        sent++;
    }
    return sent;
}

void answers_send(const struct answers *answers)
{
    uint32_t *numbers = must_grow(NULL, answers->scope_count, sizeof *numbers);
    for (uint32_t i = 0; i < answers->string_count; i++) {
        size_t length = strnlen(answers->strings[i], SYMBOLS_NAME_MOST);
        send_byte(SYMBOLS_STRING);
        send_u32((uint32_t)length);
        send_bytes(answers->strings[i], length);
    }
    uint32_t scopes = send_scopes(answers, numbers);
    uint32_t sent = answers->lengths ? send_ranges(answers, numbers) : send_answers(answers, numbers);
    free(numbers);
    send_byte(SYMBOLS_END);
    send_u32(answers->string_count);
    send_u32(scopes);
    send_u32(sent);
    if (fflush(output) != 0)
        _exit(SYMBOLS_NO_OUTPUT);
}
