// SPDX-License-Identifier: BSD-3-Clause
// Import of a GPS log (NMEA-like text lines) into track statistics.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NLINES 28000
#define LINE_MAX_LEN 128

struct input {
    int fd;
    size_t pos, len;
    char buf[65536];
};

struct track {
    long points;
    long bad;
    double length;
    double lat, lon;
};

__attribute__((noinline)) static int create_log(char *path)
{
    int fd = mkstemp(path);
    FILE *f = fdopen(dup(fd), "w");

    for (int i = 0; i < NLINES; i++) {
        char body[LINE_MAX_LEN];
        unsigned sum = 0;

        snprintf(body, sizeof(body), "GPGGA,%06d,%08.4f,N,%09.4f,E,1,08", i,
                 4807.0 + (i % 900) * 0.0125, 1131.0 + (i % 700) * 0.025);
        for (const char *p = body; *p; p++)
            sum ^= (unsigned char)*p;
        fprintf(f, "$%s*%02X\n", body, sum);
    }
    fclose(f);
    return fd;
}

#ifdef FIX
static inline int next_char(struct input *in, char *c)
{
    if (in->pos == in->len) {
        ssize_t n = read(in->fd, in->buf, sizeof(in->buf));

        if (n <= 0)
            return 0;
        in->len = n;
        in->pos = 0;
    }
    *c = in->buf[in->pos++];
    return 1;
}
#else
static inline int next_char(struct input *in, char *c)
{
    return read(in->fd, c, 1) == 1;
}
#endif

__attribute__((noinline)) static int read_line(struct input *in, char *line)
{
    int n = 0;
    char c;

    while (next_char(in, &c)) {
        if (c == '\n') {
            line[n] = 0;
            return 1;
        }
        if (n < LINE_MAX_LEN - 1)
            line[n++] = c;
    }
    return 0;
}

__attribute__((noinline)) static int parse_sentence(const char *line, double *lat, double *lon)
{
    unsigned sum = 0, want;
    const char *p = line + 1;

    while (*p && *p != '*')
        sum ^= (unsigned char)*p++;
    if (*p != '*')
        return 0;
    want = strtoul(p + 1, NULL, 16);
    if (want != sum)
        return 0;
    p = strchr(line, ',');
    p = strchr(p + 1, ',');
    *lat = strtod(p + 1, NULL);
    p = strchr(p + 1, ',');
    p = strchr(p + 1, ',');
    *lon = strtod(p + 1, NULL);
    return 1;
}

__attribute__((noinline)) static void add_point(struct track *t, double lat, double lon)
{
    if (t->points) {
        double dy = lat - t->lat, dx = lon - t->lon;

        t->length += (dx < 0 ? -dx : dx) + (dy < 0 ? -dy : dy);
    }
    t->lat = lat;
    t->lon = lon;
    t->points++;
}

__attribute__((noinline)) static void import_log(int fd, struct track *t)
{
    static struct input in;
    char line[LINE_MAX_LEN];
    double lat, lon;

    in.fd = fd;
    lseek(fd, 0, SEEK_SET);
    while (read_line(&in, line)) {
        if (parse_sentence(line, &lat, &lon))
            add_point(t, lat, lon);
        else
            t->bad++;
    }
}

int main(void)
{
    char path[] = "/tmp/gpslogXXXXXX";
    struct track t = { 0 };
    int fd = create_log(path);

    import_log(fd, &t);
    printf("points %ld bad %ld length %.4f\n", t.points, t.bad, t.length);
    close(fd);
    unlink(path);
    return 0;
}
