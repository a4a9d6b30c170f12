/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stacks of exceptions are one string, in the format of the language: Java, JavaScript, .NET,
 * Python, Go. Lines of other formats are methods as they are.
 */
#include "format/otlp/otlp.h"

static struct lode_range trim(struct lode_range text)
{
    while (text.size > 0 && (*text.data == ' ' || *text.data == '\t'))
        text = (struct lode_range){text.data + 1, text.size - 1};
    while (text.size > 0 && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\r'))
        text.size--;
    return text;
}

static bool take_line(struct lode_range *rest, struct lode_range *line)
{
    if (rest->size == 0)
        return false;
    const uint8_t *end = memchr(rest->data, '\n', (size_t)rest->size);
    uint64_t size = end ? (uint64_t)(end - rest->data) : rest->size;
    *line = (struct lode_range){rest->data, size};
    *rest = (struct lode_range){rest->data + size + (end != NULL), rest->size - size - (end != NULL)};
    return true;
}

static bool begins_with(struct lode_range text, const char *beginning)
{
    size_t length = strlen(beginning);
    return text.size >= length && memcmp(text.data, beginning, length) == 0;
}

static struct lode_range after(struct lode_range text, uint64_t count)
{
    return (struct lode_range){text.data + count, text.size - count};
}

static struct lode_range before(struct lode_range text, const uint8_t *end)
{
    return (struct lode_range){text.data, (uint64_t)(end - text.data)};
}

static const uint8_t *last(struct lode_range text, int byte)
{
    return text.size > 0 ? memrchr(text.data, byte, (size_t)text.size) : NULL;
}

/* Takes ":number" from the end of a text. */
static bool take_number(struct lode_range *text, uint64_t *number)
{
    const uint8_t *colon = last(*text, ':');
    if (colon == NULL)
        return false;
    struct lode_range digits = after(*text, (uint64_t)(colon - text->data) + 1);
    for (uint64_t i = 0; i < digits.size; i++)
        if (digits.data[i] < '0' || digits.data[i] > '9')
            return false;
    *number = lode_json_unsigned(digits);
    *text = before(*text, colon);
    return digits.size > 0;
}

/* "file:line:column", "file:line" or a file. */
static void set_location(struct otlp_frame *frame, struct lode_range text)
{
    uint64_t first = 0, second = 0;
    bool has_first = take_number(&text, &first);
    bool has_second = has_first && take_number(&text, &second);
    frame->file = text;
    frame->line = has_second ? second : first;
}

/* "type.method"; a name without a dot has no type. */
static void set_name(struct otlp_frame *frame, struct lode_range name)
{
    const uint8_t *dot = last(name, '.');
    frame->method = dot ? after(name, (uint64_t)(dot - name.data) + 1) : name;
    frame->type = dot ? before(name, dot) : (struct lode_range){name.data, 0};
}

/* "at name (location)" of JavaScript, "at name(location)" of Java, "at name() in file:line n". */
static void read_at(struct otlp_frame *frame, struct lode_range text)
{
    static const char in[] = ") in ", line[] = ":line ";
    const uint8_t *where = memmem(text.data, (size_t)text.size, in, sizeof in - 1);
    const uint8_t *open = where ? memchr(text.data, '(', (size_t)text.size) : last(text, '(');
    if (where && open) {
        struct lode_range file = after(text, (uint64_t)(where - text.data) + sizeof in - 1);
        const uint8_t *number = memmem(file.data, (size_t)file.size, line, sizeof line - 1);
        frame->file = number ? before(file, number) : file;
        frame->line =
            number ? lode_json_unsigned(after(file, (uint64_t)(number - file.data) + sizeof line - 1)) : 0;
        set_name(frame, before(text, open));
    } else if (open && text.data[text.size - 1] == ')') {
        struct lode_range location = after(text, (uint64_t)(open - text.data) + 1);
        location.size--;
        set_location(frame, location);
        set_name(frame, trim(before(text, open)));
    } else {
        set_location(frame, text);
        frame->method = (struct lode_range){text.data, 0};
    }
}

/* File "x", line 3, in name */
static bool read_python(struct otlp_frame *frame, struct lode_range text)
{
    static const char line[] = "\", line ", in[] = ", in ";
    text = after(text, sizeof "File \"" - 1);
    const uint8_t *number = memmem(text.data, (size_t)text.size, line, sizeof line - 1);
    const uint8_t *name = memmem(text.data, (size_t)text.size, in, sizeof in - 1);
    if (number == NULL)
        return false;
    frame->file = before(text, number);
    frame->line = lode_json_unsigned(after(text, (uint64_t)(number - text.data) + sizeof line - 1));
    frame->method =
        name ? after(text, (uint64_t)(name - text.data) + sizeof in - 1) : (struct lode_range){text.data, 0};
    return true;
}

/* "package.name(arguments)" and, on the next line, "<tab>file:line +0x12". */
static bool read_go(struct otlp_frame *frame, struct lode_range text, struct lode_range *rest)
{
    struct lode_range copy = *rest, next;
    const uint8_t *open = last(text, '(');
    if (!take_line(&copy, &next) || next.size == 0 || *next.data != '\t' || open == NULL)
        return false;
    next = trim(next);
    const uint8_t *blank = memchr(next.data, ' ', (size_t)next.size);
    *rest = copy;
    set_location(frame, blank ? before(next, blank) : next);
    set_name(frame, before(text, open));
    return true;
}

bool lode_otlp_next_frame(struct lode_range *stack, struct otlp_frame *frame)
{
    static const uint8_t none[1];
    struct lode_range line;
    while (take_line(stack, &line)) {
        struct lode_range text = trim(line);
        *frame = (struct otlp_frame){.type = {none, 0}, .method = {none, 0}, .file = {none, 0}};
        if (begins_with(text, "at ")) {
            read_at(frame, after(text, sizeof "at " - 1));
            return true;
        }
        if (begins_with(text, "File \"") && read_python(frame, text))
            return true;
        if (text.size > 0 && read_go(frame, text, stack))
            return true;
    }
    return false;
}
