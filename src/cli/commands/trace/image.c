/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/trace/image.h"

#include "alloc.h"
#include "draw/canvas.h"
#include "output/escape.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MARGIN = 12,
    TITLE_HEIGHT = 24,
    AXIS_HEIGHT = 30,
    LEGEND_HEIGHT = 17, /* of one entry */
    SWATCH = 11,
    LABEL_GAP = 8,
    LABEL_STEP = 13, /* between names of lines, at least */
    LABEL_MOST = 260,
    TALLEST_ROW = 18,
    TICK_STEP = 100, /* pixels between times, at least */
    USUAL_WIDTH = 1200,
    USUAL_HEIGHT = 720,
    PERCENT_END = 56, /* of the legend, after the swatch */
    TIME_END = 140,
    NAME_BEGIN = 156,
    LEVELS = 8, /* how much of a cell is filled */
    TITLE_MOST = 1024
};

/* Colours of cells: after those of text, LEVELS of each hue, and two for idle time. */
#define FIRST_COLOR       CANVAS_INKS
#define COLOR(hue, level) (uint8_t)(FIRST_COLOR + (hue)*LEVELS + (level))
#define IDLE_COLOR        (uint8_t)(FIRST_COLOR + IMAGE_IDLE * LEVELS)
#define IDLE_LINE         (uint8_t)(IDLE_COLOR + 1)
#define FRAME_COLOR       (uint8_t)(IDLE_COLOR + 2)
#define COLOR_COUNT       (FRAME_COLOR + 1)

/* ---- places ---- */

static unsigned label_width(const trace_lines *lines)
{
    unsigned width = 0;
    for (size_t i = 0; i < lines->count; i++) {
        unsigned own = canvas_text_width(lines->items[i].name);
        width = own > width ? own : width;
    }
    return width < LABEL_MOST ? width : LABEL_MOST;
}

static unsigned between(uint64_t value, unsigned least, unsigned most)
{
    return value < least ? least : value > most ? most : (unsigned)value;
}

image_plan image_plan_of(const trace_lines *lines, uint64_t width, uint64_t height)
{
    unsigned others = MARGIN + TITLE_HEIGHT + AXIS_HEIGHT + LEGEND_HEIGHT * (IMAGE_HUES + 2) + MARGIN;
    image_plan plan = {.plot_x = MARGIN + label_width(lines) + LABEL_GAP, .plot_y = MARGIN + TITLE_HEIGHT};
    uint64_t suits = (uint64_t)lines->count * TALLEST_ROW + others;
    plan.width = between(width ? width : USUAL_WIDTH, plan.plot_x + MARGIN + TICK_STEP, IMAGE_WIDTH_MAX);
    plan.height = between(height                 ? height
                          : suits < USUAL_HEIGHT ? suits
                                                 : USUAL_HEIGHT,
                          others + 16, IMAGE_HEIGHT_MAX + others);
    plan.plot_width = plan.width - plan.plot_x - MARGIN;
    unsigned space = plan.height - others;
    plan.rows = lines->count < space ? (unsigned)lines->count : space;
    plan.row_height = plan.rows ? between(space / plan.rows, 1, TALLEST_ROW * 2) : 1;
    if (height == 0)
        plan.height = others + (plan.rows ? plan.rows * plan.row_height : 16);
    return plan;
}

static unsigned plot_height(const image_plan *plan)
{
    return plan->rows * plan->row_height;
}

/* Steps of 1, 2 or 5 times a power of ten. */
static uint64_t tick_step(uint64_t span, unsigned width)
{
    uint64_t step = 1;
    for (unsigned i = 0; step < UINT64_MAX / 10 && (double)step / (double)span * width < TICK_STEP; i++)
        step = i % 3 == 1 ? step / 2 * 5 : step * 2;
    return step;
}

/* ---- colours ---- */

static void make_palette(uint32_t colors[CANVAS_COLORS])
{
    /* Okabe and Ito's set, and a grey for all other functions. */
    static const uint32_t hues[] = {0x56b4e9, 0xd55e00, 0xcc79a7, 0xf0e442,
                                    0x009e73, 0xe69f00, 0x0072b2, 0x8c8c8c};
    for (unsigned hue = 0; hue <= IMAGE_OTHERS; hue++)
        for (unsigned level = 0; level < LEVELS; level++)
            colors[COLOR(hue, level)] = canvas_blend(0xffffff, hues[hue], level + 3, LEVELS + 2);
    colors[IDLE_COLOR] = 0xf0f0f0;
    colors[IDLE_LINE] = 0xc8c8c8;
    colors[FRAME_COLOR] = 0xd0d7de;
}

void image_hues_of(uint8_t hues[256], const lode_picture *keys, const lode_kind_rules *kinds)
{
    uint8_t is_idle[256] = {[LODE_PICTURE_NOT_RUNNING] = 1}, used = 0;
    for (size_t i = 0; i < lode_picture_share_count(keys); i++) {
        const lode_picture_share *share = lode_picture_share_at(keys, i);
        if (share->key != LODE_PICTURE_OTHERS &&
            lode_kind_by_rules(kinds, share->context, share->function) == LODE_KIND_IDLE)
            is_idle[share->key] = 1;
    }
    for (unsigned key = LODE_PICTURE_NOT_RUNNING; key < 256; key++) {
        if (is_idle[key])
            hues[key] = IMAGE_IDLE;
        else
            hues[key] = used < IMAGE_HUES ? used++ : IMAGE_OTHERS;
    }
    hues[LODE_PICTURE_OTHERS] = IMAGE_OTHERS;
}

/* The colour of a cell; 0: nothing. */
static uint8_t color_of(const image *i, size_t cell)
{
    uint8_t key = lode_picture_keys(i->drawing->picture)[cell];
    unsigned hue = i->drawing->hues[key], fill = lode_picture_fills(i->drawing->picture)[cell];
    if (key == LODE_PICTURE_NOTHING)
        return 0;
    return hue == IMAGE_IDLE ? IDLE_COLOR : COLOR(hue, fill * (LEVELS - 1) / 255);
}

static const char *line_name(const image *i, unsigned row)
{
    return i->drawing->lines.items[lode_picture_row_begin(i->drawing->picture, row)].name;
}

/* Rows between names. */
static unsigned label_step(const image_plan *plan)
{
    return plan->row_height >= LABEL_STEP ? 1 : (LABEL_STEP + plan->row_height - 1) / plan->row_height;
}

/* A copy that fits; the caller frees it. */
static char *shortened(const char *text, unsigned most)
{
    char *copy = alloc_array(strlen(text) + 4, 1);
    memcpy(copy, text, strlen(text) + 1);
    if (canvas_text_width(copy) <= most)
        return copy;
    for (size_t end = strlen(copy); end > 0 && canvas_text_width(copy) > most; end--) {
        while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
            end--;
        memcpy(copy + end, "...", 4);
    }
    return copy;
}

/* ---- PNG ---- */

static void draw_cells(canvas *c, const image *i)
{
    const image_plan *plan = &i->plan;
    for (unsigned row = 0; row < plan->rows; row++)
        for (unsigned column = 0; column < plan->plot_width; column++) {
            size_t cell = (size_t)row * plan->plot_width + column;
            unsigned x = plan->plot_x + column, y = plan->plot_y + row * plan->row_height;
            uint8_t color = color_of(i, cell);
            unsigned tall = plan->row_height > 4 ? plan->row_height - 1 : plan->row_height;
            canvas_fill(c, x, y, 1, tall, color);
            for (unsigned below = 0; color == IDLE_COLOR && below < tall; below++)
                if ((x + y + below) % 6 == 0)
                    canvas_fill(c, x, y + below, 1, 1, IDLE_LINE);
        }
}

static void draw_labels(canvas *c, const image *i)
{
    const image_plan *plan = &i->plan;
    for (unsigned row = 0; row < plan->rows; row += label_step(plan)) {
        char *name = shortened(line_name(i, row), LABEL_MOST);
        unsigned middle = plan->plot_y + row * plan->row_height + plan->row_height / 2;
        unsigned y = middle > CANVAS_TEXT_HEIGHT / 2 ? middle - CANVAS_TEXT_HEIGHT / 2 : 0;
        unsigned width = canvas_text_width(name);
        canvas_text(c, plan->plot_x - LABEL_GAP - (width < LABEL_MOST ? width : LABEL_MOST), y, name);
        free(name);
    }
}

static void draw_time(canvas *c, const image *i)
{
    const image_plan *plan = &i->plan;
    unsigned y = plan->plot_y + plot_height(plan);
    uint64_t from, to;
    lode_picture_window(i->drawing->picture, &from, &to);
    canvas_fill(c, plan->plot_x, y, plan->plot_width, 1, FRAME_COLOR);
    if (from >= to)
        return;
    uint64_t step = tick_step(to - from, plan->plot_width), start = i->drawing->start;
    uint64_t first = from > start ? (from - start + step - 1) / step * step : 0;
    for (uint64_t time = first; start + time >= start && start + time < to; time += step) {
        char text[NUMBER_SIZE];
        unsigned x = (unsigned)((double)(start + time - from) / (double)(to - from) * plan->plot_width);
        format_duration(text, time);
        canvas_fill(c, plan->plot_x + x, y, 1, 5, CANVAS_INKS / 2);
        if (x + canvas_text_width(text) <= plan->plot_width)
            canvas_text(c, plan->plot_x + x + 3, y + 4, text);
        if (time + step < time)
            break;
    }
}

static void draw_swatch(canvas *c, unsigned x, unsigned y, unsigned hue)
{
    canvas_fill(c, x, y, SWATCH, SWATCH, hue == IMAGE_IDLE ? IDLE_COLOR : COLOR(hue, LEVELS - 1));
    for (unsigned at = 0; hue == IMAGE_IDLE && at < SWATCH * SWATCH; at++)
        if ((at % SWATCH + at / SWATCH) % 6 == 0)
            canvas_fill(c, x + at % SWATCH, y + at / SWATCH, 1, 1, IDLE_LINE);
}

static void draw_entry(canvas *c, const image_entry *entry, unsigned y)
{
    char *name = shortened(entry->name, c->width - NAME_BEGIN - 3 * MARGIN);
    draw_swatch(c, MARGIN, y, entry->hue);
    canvas_text(c, MARGIN + PERCENT_END - canvas_text_width(entry->percent), y - 1, entry->percent);
    canvas_text(c, MARGIN + TIME_END - canvas_text_width(entry->time), y - 1, entry->time);
    canvas_text(c, MARGIN + NAME_BEGIN, y - 1, name);
    free(name);
}

uint8_t *image_png(const image *i, size_t *size)
{
    const image_plan *plan = &i->plan;
    unsigned y = plan->plot_y + plot_height(plan) + AXIS_HEIGHT;
    canvas c;
    canvas_init(&c, plan->width, plan->height);
    make_palette(c.colors);
    canvas_text(&c, MARGIN, MARGIN, i->title);
    draw_cells(&c, i);
    draw_labels(&c, i);
    draw_time(&c, i);
    for (unsigned entry = 0; entry < i->entry_count; entry++, y += LEGEND_HEIGHT)
        draw_entry(&c, &i->entries[entry], y);
    uint8_t *bytes = canvas_png(&c, size);
    canvas_free(&c);
    return bytes;
}

/* ---- SVG ---- */

typedef struct text_buffer {
    char *bytes;
    size_t used, capacity;
} text_buffer;

static void put(text_buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(text_buffer *b, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (size <= 0)
        return;
    while (b->used + (size_t)size + 1 > b->capacity)
        b->bytes = alloc_grow(b->bytes, &b->capacity, b->capacity, 1);
    va_start(arguments, format);
    vsnprintf(b->bytes + b->used, (size_t)size + 1, format, arguments);
    va_end(arguments);
    b->used += (size_t)size;
}

static void put_text(text_buffer *b, const char *text)
{
    for (; *text; text++) {
        const char *entity = *text == '&'   ? "&amp;"
                             : *text == '<' ? "&lt;"
                             : *text == '>' ? "&gt;"
                             : *text == '"' ? "&quot;"
                                            : NULL;
        if (entity)
            put(b, "%s", entity);
        else
            put(b, "%c", *text);
    }
}

/* Cells of one colour, as runs. Returns whether there are any. */
static int put_runs(text_buffer *b, const image *i, uint8_t color)
{
    const image_plan *plan = &i->plan;
    unsigned tall = plan->row_height > 4 ? plan->row_height - 1 : plan->row_height;
    int has_any = 0;
    for (unsigned row = 0; row < plan->rows; row++)
        for (unsigned column = 0; column < plan->plot_width;) {
            size_t cell = (size_t)row * plan->plot_width + column;
            unsigned end = column;
            while (end < plan->plot_width && color_of(i, cell) == color) {
                end++;
                cell++;
            }
            if (end > column) {
                put(b, has_any ? "M%u %uh%uv%uh-%uz" : "<path d=\"M%u %uh%uv%uh-%uz", plan->plot_x + column,
                    plan->plot_y + row * plan->row_height, end - column, tall, end - column);
                has_any = 1;
            }
            column = end > column ? end : column + 1;
        }
    return has_any;
}

static void put_cells(text_buffer *b, const image *i, const uint32_t colors[CANVAS_COLORS])
{
    put(b, "<g shape-rendering=\"crispEdges\">\n");
    for (unsigned color = FIRST_COLOR; color < COLOR_COUNT; color++) {
        if (!put_runs(b, i, (uint8_t)color))
            continue;
        if (color == IDLE_COLOR)
            put(b, "\" fill=\"url(#idle)\"/>\n");
        else
            put(b, "\" fill=\"#%06x\"/>\n", colors[color]);
    }
    put(b, "</g>\n");
}

static void put_labels(text_buffer *b, const image *i)
{
    const image_plan *plan = &i->plan;
    put(b, "<g text-anchor=\"end\">\n");
    for (unsigned row = 0; row < plan->rows; row += label_step(plan)) {
        char *name = shortened(line_name(i, row), LABEL_MOST);
        put(b, "<text x=\"%u\" y=\"%u\">", plan->plot_x - LABEL_GAP,
            plan->plot_y + row * plan->row_height + plan->row_height / 2 + 4);
        put_text(b, name);
        put(b, "</text>\n");
        free(name);
    }
    put(b, "</g>\n");
}

static void put_time(text_buffer *b, const image *i)
{
    const image_plan *plan = &i->plan;
    unsigned y = plan->plot_y + plot_height(plan);
    uint64_t from, to;
    lode_picture_window(i->drawing->picture, &from, &to);
    put(b, "<path d=\"M%u %u.5h%u\" stroke=\"#d0d7de\"/>\n", plan->plot_x, y, plan->plot_width);
    if (from >= to)
        return;
    uint64_t step = tick_step(to - from, plan->plot_width), start = i->drawing->start;
    uint64_t first = from > start ? (from - start + step - 1) / step * step : 0;
    for (uint64_t time = first; start + time >= start && start + time < to; time += step) {
        char text[NUMBER_SIZE];
        unsigned x = (unsigned)((double)(start + time - from) / (double)(to - from) * plan->plot_width);
        format_duration(text, time);
        put(b, "<path d=\"M%u.5 %uv5\" stroke=\"#8f9194\"/>", plan->plot_x + x, y);
        if (x + canvas_text_width(text) <= plan->plot_width)
            put(b, "<text x=\"%u\" y=\"%u\">%s</text>\n", plan->plot_x + x + 3, y + 15, text);
        if (time + step < time)
            break;
    }
}

static void put_legend(text_buffer *b, const image *i, const uint32_t colors[CANVAS_COLORS])
{
    const image_plan *plan = &i->plan;
    unsigned y = plan->plot_y + plot_height(plan) + AXIS_HEIGHT;
    for (unsigned entry = 0; entry < i->entry_count; entry++, y += LEGEND_HEIGHT) {
        unsigned hue = i->entries[entry].hue;
        put(b, "<rect x=\"%d\" y=\"%u\" width=\"%d\" height=\"%d\" ", MARGIN, y, SWATCH, SWATCH);
        if (hue == IMAGE_IDLE)
            put(b, "fill=\"url(#idle)\"/>");
        else
            put(b, "fill=\"#%06x\"/>", colors[COLOR(hue, LEVELS - 1)]);
        char *name = shortened(i->entries[entry].name, plan->width - NAME_BEGIN - 3 * MARGIN);
        put(b, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">%s</text>", MARGIN + PERCENT_END, y + 10,
            i->entries[entry].percent);
        put(b, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">%s</text>", MARGIN + TIME_END, y + 10,
            i->entries[entry].time);
        put(b, "<text x=\"%d\" y=\"%u\">", MARGIN + NAME_BEGIN, y + 10);
        put_text(b, name);
        put(b, "</text>\n");
        free(name);
    }
}

char *image_svg(const image *i, size_t *size)
{
    const image_plan *plan = &i->plan;
    uint32_t colors[CANVAS_COLORS] = {0};
    text_buffer b = {0};
    make_palette(colors);
    put(&b,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" "
        "font-family=\"DejaVu Sans, Verdana, sans-serif\" font-size=\"11\" fill=\"#1f2328\" role=\"img\">\n<title>",
        plan->width, plan->height, plan->width, plan->height);
    put_text(&b, i->title);
    put(&b,
        "</title>\n<defs><pattern id=\"idle\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
        "<path d=\"M0 0h6v6H0z\" fill=\"#f0f0f0\"/><path d=\"M-1 1l2-2M0 6l6-6M5 7l2-2\" stroke=\"#c8c8c8\"/>"
        "</pattern></defs>\n<path d=\"M0 0h%uv%uH0z\" fill=\"#fff\"/>\n",
        plan->width, plan->height);
    put(&b, "<text x=\"%d\" y=\"%d\">", MARGIN, MARGIN + 11);
    put_text(&b, i->title);
    put(&b, "</text>\n");
    put_cells(&b, i, colors);
    put_labels(&b, i);
    put_time(&b, i);
    put_legend(&b, i, colors);
    put(&b, "</svg>\n");
    *size = b.used;
    return b.bytes;
}
