// SPDX-License-Identifier: BSD-3-Clause
// Report generator: writes a table of measurements as one HTML document.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NROWS 7500
#define COLUMNS 4

struct measurement {
    int id;
    double value[COLUMNS];
};

struct document {
    char *text;
    size_t size;
    size_t used;
};

static struct measurement rows[NROWS];

__attribute__((noinline)) static void load_measurements(void)
{
    for (int i = 0; i < NROWS; i++) {
        rows[i].id = i + 1;
        for (int c = 0; c < COLUMNS; c++)
            rows[i].value[c] = ((i * 7919 + c * 104729) % 200003) / 100.0 - 1000.0;
    }
}

__attribute__((noinline)) static void append(struct document *d, const char *s)
{
#ifdef FIX
    size_t n = strlen(s);

    memcpy(d->text + d->used, s, n + 1);
    d->used += n;
#else
    strcat(d->text, s);
#endif
}

__attribute__((noinline)) static void write_row(struct document *d, const struct measurement *m)
{
    char cell[64];

    snprintf(cell, sizeof(cell), "<tr><th>%d</th>", m->id);
    append(d, cell);
    for (int c = 0; c < COLUMNS; c++) {
        snprintf(cell, sizeof(cell), "<td class=\"%s\">%.3f</td>",
                 m->value[c] < 0 ? "neg" : "pos", m->value[c]);
        append(d, cell);
    }
    append(d, "</tr>\n");
}

__attribute__((noinline)) static void write_report(struct document *d)
{
    append(d, "<html><body><table>\n");
    for (int i = 0; i < NROWS; i++)
        write_row(d, &rows[i]);
    append(d, "</table></body></html>\n");
}

__attribute__((noinline)) static unsigned digest(const char *s, size_t *len)
{
    unsigned h = 5381;
    size_t n = 0;

    for (; s[n]; n++)
        h = h * 33 + (unsigned char)s[n];
    *len = n;
    return h;
}

int main(void)
{
    struct document d = { NULL, 8u << 20, 0 };
    size_t len;
    unsigned h;

    d.text = malloc(d.size);
    if (!d.text)
        return 1;
    d.text[0] = 0;
    load_measurements();
    write_report(&d);
    h = digest(d.text, &len);
    printf("rows %d bytes %zu digest %08x\n", NROWS, len, h);
    free(d.text);
    return 0;
}
