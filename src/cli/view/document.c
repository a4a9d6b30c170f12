/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/document.h"

#include "output/report.h"
#include "view/pack.h"
#include "view/page.h"

#include <stdlib.h>
#include <string.h>

#define MARKUP_SIZE 4096

static const page_file *find_part(const char *path)
{
    for (size_t i = 0; i < page_file_count; i++)
        if (strcmp(page_files[i].path, path) == 0 && page_files[i].hash[0])
            return &page_files[i];
    return NULL;
}

int document_is_possible(void)
{
    if (find_part("/app.js") && find_part("/style.css"))
        return EXIT_DONE;
    return report("%s", page_file_count == 0 ? VIEW_NO_PAGE
                                             : "the page that was built into this program is of another "
                                               "version, and cannot be put into a file");
}

static char *unpack(const char *path, const char **hash)
{
    const page_file *file = find_part(path);
    char *text = file ? pack_unpack(file->packed, file->packed_size, file->size) : NULL;
    if (!text)
        exit(report("out of memory"));
    *hash = file->hash;
    return text;
}

void document_open(document *d)
{
    d->script = unpack("/app.js", &d->script_hash);
    d->style = unpack("/style.css", &d->style_hash);
}

void document_close(document *d)
{
    free(d->script);
    free(d->style);
    *d = (document){0};
}

size_t document_size(const document *d)
{
    return MARKUP_SIZE + strlen(d->script) + strlen(d->style);
}

/* ASCII text with line feeds: the writer escapes nothing of it. */
static void put_lines(out *o, const char *text, size_t size)
{
    while (size > 0) {
        const char *end = memchr(text, '\n', size);
        size_t length = end ? (size_t)(end - text) : size;
        out_write(o, text, length);
        if (end)
            out_print(o, "\n");
        text += length + (end != NULL);
        size -= length + (end != NULL);
    }
}

/* The text of a title or an attribute, which is ASCII after this whatever it holds. */
static void put_markup(out *o, const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text >= 0x80)
            out_print(o, "?");
        else if (strchr("<>&\"'", *text) || (unsigned char)*text < 0x20 || *text == 0x7f)
            out_print(o, "&#%u;", (unsigned)*text < 0x20 || *text == 0x7f ? ' ' : (unsigned)*text);
        else
            out_write(o, text, 1);
    }
}

void document_begin(out *o, const document *d, const char *title)
{
    out_print(o, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ");
    out_print(o, "script-src '%s'; style-src '%s'; ", d->script_hash, d->style_hash);
    out_print(o, "img-src data: blob:; base-uri 'none'; form-action 'none'\">\n"
                 "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
    put_markup(o, title);
    out_print(o, "</title>\n<meta name=\"viewport\" content=\"width=device-width\">\n"
                 "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n"
                 "<style>");
    put_lines(o, d->style, strlen(d->style));
    out_print(o, "</style>\n</head>\n<body>\n<div id=\"app\"></div>\n"
                 "<noscript>This page needs JavaScript; it requests nothing from elsewhere.</noscript>\n");
}

void document_put(out *o, const char *question, unsigned status, const char *json, size_t size)
{
    out_print(o, "<script type=\"application/json\" data-target=\"");
    put_markup(o, question);
    out_print(o, "\" data-status=\"%u\">", status);
    out_write(o, json, size);
    out_print(o, "</script>\n");
}

void document_end(out *o, const document *d)
{
    out_print(o, "<script>");
    put_lines(o, d->script, strlen(d->script));
    out_print(o, "</script>\n</body>\n</html>\n");
}
