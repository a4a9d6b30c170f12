// SPDX-License-Identifier: BSD-3-Clause
/* Computes quotes from a tariff file. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ZONES 150
#define QUOTES 5000

struct tariff {
    int zones;
    struct { char name[24]; double base, per_kg, fuel, toll, night; } zone[ZONES];
};

static char tariff_name[] = "/tmp/tariffXXXXXX";

__attribute__((noinline)) static void write_tariff(void)
{
    int fd = mkstemp(tariff_name);
    FILE *f = fdopen(fd, "w");
    for (int i = 0; i < ZONES; i++)
        fprintf(f, "zone%d %d.25 %d.125 0.0%d 1.%d 2.75\n", i, 300 + i * 13 % 70,
                20 + i % 9, i % 9 + 1, i % 8);
    fclose(f);
}

__attribute__((noinline)) static int load_tariff(struct tariff *t)
{
    char line[128];
    FILE *f = fopen(tariff_name, "r");
    if (!f)
        return 0;
    t->zones = 0;
    while (t->zones < ZONES && fgets(line, sizeof line, f))
        if (sscanf(line, "%23s %lf %lf %lf %lf %lf", t->zone[t->zones].name,
                   &t->zone[t->zones].base, &t->zone[t->zones].per_kg,
                   &t->zone[t->zones].fuel, &t->zone[t->zones].toll,
                   &t->zone[t->zones].night) == 6)
            t->zones++;
    fclose(f);
    return t->zones;
}

__attribute__((noinline)) static int price_parcel(const struct tariff *t, int zone, int grams)
{
    double price = t->zone[zone].base + t->zone[zone].toll;
    for (int g = 0; g < grams; g += 10)
        price += t->zone[zone].per_kg * (1 + t->zone[zone].fuel) * ((g ^ zone) & 3) / 300;
    return (int)(price * 100 + t->zone[zone].night);
}

__attribute__((noinline)) static int quote(int request)
{
    static struct tariff tariff;
#ifdef FIX
    if (!tariff.zones)
#endif
        load_tariff(&tariff);
    return price_parcel(&tariff, request % ZONES, 500 + request % 20000);
}

int main(void)
{
    uint64_t sum = 0;
    write_tariff();
    for (int r = 0; r < QUOTES; r++)
        sum += (uint64_t)quote(r);
    unlink(tariff_name);
    printf("sum %lu\n", (unsigned long)sum);
    return 0;
}
