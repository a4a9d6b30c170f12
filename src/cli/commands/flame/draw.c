/* SPDX-License-Identifier: BSD-3-Clause */
/* Flame graphs as SVG, which is ASCII whatever names hold. */
#include "commands/flame/flame.h"

#include "text/label.h"

#include <lode/private/utf8.h>
#include <stdio.h>
#include <string.h>

/* Pixels. The width of a character is that of common monospaced fonts. */
#define ROW       18.0
#define TOP       58.0
#define MARGIN    10.0
#define CHARACTER 6.65
#define TEXT_LEFT 4.0

/* Fill and text of a kind: colours that people with any colour vision distinguish. */
static const struct {
    const char *fill, *text;
} colours[LODE_KIND_COUNT + 1] = {
    [LODE_KIND_OWN] = {"#56b4e9", "#000"},     [LODE_KIND_MPI] = {"#d55e00", "#000"},
    [LODE_KIND_THREADS] = {"#cc79a7", "#000"}, [LODE_KIND_MEMORY] = {"#f0e442", "#000"},
    [LODE_KIND_IO] = {"#009e73", "#000"},      [LODE_KIND_SYSTEM] = {"#e69f00", "#000"},
    [LODE_KIND_GPU] = {"#0072b2", "#fff"},     [LODE_KIND_IDLE] = {"#c8c8c8", "#000"},
    [LODE_KIND_COUNT] = {"#eeeeee", "#444"}, /* merged boxes */
};

/* ---- text ---- */

/* Bytes at the beginning that are themselves in markup. */
static size_t plain_bytes(const char *text)
{
    size_t count = 0;
    while (text[count] >= 0x20 && text[count] < 0x7f && !strchr("<>&\"'", text[count]))
        count++;
    return count;
}

/* A character that is not: as a reference. Characters that XML forbids become question marks. */
static size_t put_reference(out *o, const char *text, size_t left)
{
    uint32_t character = 0xfffd;
    size_t size = lode_utf8_decode(text, left, &character);
    int is_forbidden = character < 0x20 || character == 0xfffe || character == 0xffff ||
                       (character >= 0x7f && character < 0xa0);
    out_print(o, "&#%u;", (unsigned)(is_forbidden ? '?' : character));
    return size ? size : 1;
}

static size_t length_of(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

/* Text of a store between tags, cut after `most` characters with an ellipsis. */
static void put_text(out *o, const char *text, size_t most)
{
    size_t left = strlen(text), total = length_of(text);
    size_t room = total > most ? most - 1 : total;
    for (size_t size; left > 0 && room > 0; text += size, left -= size) {
        size = plain_bytes(text);
        size = size < room ? size : room;
        if (size > 0) {
            out_write(o, text, size);
            room -= size;
        } else {
            size = put_reference(o, text, left);
            room--;
        }
    }
    if (total > most)
        out_print(o, "&#8230;");
}

static const char *name_of(const flame_picture *picture, const lode_flame_box *box, label *l, char more[64])
{
    if (box->context)
        return label_context_as(l, box->context, picture->names);
    snprintf(more, 64, "%u more", box->more);
    return more;
}

static int kind_of(const lode_flame_box *box)
{
    return box->context ? (int)box->kind : LODE_KIND_COUNT;
}

/* Whether the store has it drawn: legends list no others. */
static unsigned kinds_of(const lode_flame *flame)
{
    unsigned kinds = 0;
    for (size_t i = 0; i < lode_flame_count(flame); i++)
        kinds |= 1u << kind_of(lode_flame_at(flame, i));
    return kinds;
}

static const char *title_of_kind(int kind)
{
    return kind < LODE_KIND_COUNT ? lode_kind_title(kind) : "merged";
}

/* "12.3 s, 45.6%" */
static void amount_of(char text[2 * NUMBER_SIZE], const flame_picture *picture, double value)
{
    char amount[NUMBER_SIZE];
    format_amount(amount, value, picture->unit);
    double percent = picture->total != 0 ? 100 * value / picture->total : 0;
    snprintf(text, (size_t)2 * NUMBER_SIZE, "%s, %.2f%%", amount, percent);
}

static void put_style(out *o)
{
    out_print(o, "<style>text{font:11px ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,monospace;"
                 "pointer-events:none}.page{fill:#fff}.word{fill:#222;font-size:12px}"
                 ".head{font-size:14px;font-weight:bold}.mid text{font-weight:bold}.mid rect{stroke:#000}"
                 "rect:hover{stroke:#000}\n");
    for (int i = 0; i <= LODE_KIND_COUNT; i++)
        out_print(o, ".k%d rect{fill:%s}.k%d text{fill:%s}\n", i,
                  i == LODE_KIND_IDLE ? "url(#hatch)" : colours[i].fill, i, colours[i].text);
    out_print(o, "@media(prefers-color-scheme:dark){.page{fill:#181818}.word{fill:#ddd}"
                 "rect:hover{stroke:#fff}}</style>\n");
    out_print(o, "<pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
                 "patternTransform=\"rotate(45)\"><path fill=\"#c8c8c8\" d=\"M0 0H6V6H0z\"/>"
                 "<path fill=\"#aaa\" d=\"M0 0H1.5V6H0z\"/></pattern>\n");
}

static void put_legend(out *o, const flame_picture *picture)
{
    unsigned kinds = kinds_of(picture->flame);
    double x = MARGIN;
    for (int i = 0; i <= LODE_KIND_COUNT; i++) {
        if (!(kinds & 1u << i))
            continue;
        const char *title = title_of_kind(i);
        out_print(o, "<g class=\"k%d\"><rect x=\"%.1f\" y=\"34\" width=\"12\" height=\"12\"/></g>", i, x);
        out_print(o, "<text class=\"word\" x=\"%.1f\" y=\"44\">%s</text>\n", x + 17, title);
        x += 17 + 7.3 * (double)strlen(title) + 18;
    }
}

static void put_title(out *o, const flame_picture *picture, const lode_flame_box *box, const char *name)
{
    char inclusive[2 * NUMBER_SIZE], exclusive[2 * NUMBER_SIZE];
    amount_of(inclusive, picture, box->inclusive);
    amount_of(exclusive, picture, box->exclusive);
    out_print(o, "<title>");
    put_text(o, name, 4096);
    out_print(o, "&#10;%s", inclusive);
    if (box->context && !picture->is_bottom_up)
        out_print(o, "; itself %s", exclusive);
    if (box->calls)
        out_print(o, "; %s", COUNTED(box->calls, "call", "calls"));
    out_print(o, "&#10;%s</title>",
              box->context ? title_of_kind(kind_of(box)) : "too narrow for boxes of their own");
}

/* The functions of a sandwich. */
static int is_center(const flame_picture *picture, const lode_flame_box *box)
{
    return box->level == 0 && lode_flame_first_level(picture->flame) < 0;
}

static void put_box(out *o, const flame_picture *picture, const lode_flame_box *box, label *l)
{
    char more[64];
    const char *name = name_of(picture, box, l, more);
    double area = picture->width - 2 * MARGIN;
    double x = MARGIN + box->x * area, width = box->width * area;
    double y = TOP + ROW * (box->level - lode_flame_first_level(picture->flame));
    /* A line of one pixel between neighbours, as long as there is something to separate. */
    double shown = width > 3 ? width - 1 : width;
    size_t room = width > 2 * TEXT_LEFT ? (size_t)((width - 2 * TEXT_LEFT) / CHARACTER) : 0;
    out_print(o, "<g class=\"k%d%s\">", kind_of(box), is_center(picture, box) ? " mid" : "");
    put_title(o, picture, box, name);
    out_print(o, "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%.0f\"/>", x, y, shown, ROW - 1);
    if (room >= 3 || (room > 0 && length_of(name) <= room)) {
        out_print(o, "<text x=\"%.2f\" y=\"%.0f\">", x + TEXT_LEFT, y + 13);
        put_text(o, name, room);
        out_print(o, "</text>");
    }
    out_print(o, "</g>\n");
}

static void put_heading(out *o, const flame_picture *picture)
{
    char whole[2 * NUMBER_SIZE];
    amount_of(whole, picture, lode_flame_whole(picture->flame));
    put_text(o, lode_path_tail(picture->path), 200);
    out_print(o, ": ");
    put_text(o, picture->title, 300);
    out_print(o, " (%s)", whole);
}

void flame_svg(out *o, const flame_picture *picture)
{
    const lode_flame *flame = picture->flame;
    label l = {0};
    int levels = lode_flame_last_level(flame) - lode_flame_first_level(flame) + 1;
    double height = TOP + ROW * (levels > 0 ? levels : 1) + MARGIN;
    out_print(o,
              "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
              "viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>",
              picture->width, height, picture->width, height);
    put_heading(o, picture);
    out_print(o, "</title>\n");
    put_style(o);
    out_print(o, "<rect class=\"page\" width=\"100%%\" height=\"100%%\" pointer-events=\"none\"/>\n");
    out_print(o, "<text class=\"word head\" x=\"%.0f\" y=\"22\">", MARGIN);
    put_heading(o, picture);
    out_print(o, "</text>\n");
    put_legend(o, picture);
    for (size_t i = 0; i < lode_flame_count(flame); i++)
        put_box(o, picture, lode_flame_at(flame, i), &l);
    if (lode_flame_count(flame) == 0)
        out_print(o, "<text class=\"word\" x=\"%.0f\" y=\"%.0f\">nothing has a cost</text>\n", MARGIN,
                  TOP + 13);
    out_print(o, "</svg>\n");
    label_free(&l);
}
