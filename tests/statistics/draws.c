/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Verdicts on runs that are drawn from recorded ones:
 *
 *     draws FILE NOISE RUNS CHANGE DRAWS SEED     one function of the new runs is planted
 *     draws agree DRAWS SEED                      random tables: verdicts and limits agree
 *
 * FILE has a line for each run with the cost of each function. NOISE in percent scales the
 * logarithms of each function to this standard deviation; 0 leaves them as they are. Prints counts,
 * or what does not agree.
 */
#include <lode/private/statistics.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RUNS_MAX = 512,
    ROWS_MAX = 256
};

#define LEAST_PLANTED  0.0055 /* of the total: functions below 0.5 % have no test of their own */
#define FUNCTION_LIMIT 0.10
#define TOTAL_LIMIT    0.05

static double recorded[RUNS_MAX][ROWS_MAX];
static size_t recorded_runs, rows;
static uint64_t state;

static uint64_t next_number(void)
{
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static size_t below(size_t count)
{
    return (size_t)(next_number() % count);
}

static double uniform(void)
{
    return ((double)(next_number() >> 11) + 0.5) / 9007199254740992.0;
}

static double gauss(void)
{
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

static void fail(const char *text)
{
    fprintf(stderr, "draws: %s\n", text);
    exit(2);
}

/* ---- recorded runs ---- */

static void read_runs(const char *path)
{
    char line[16384];
    FILE *file = fopen(path, "re");
    if (!file)
        fail("cannot read the file of runs");
    while (recorded_runs < RUNS_MAX && fgets(line, sizeof line, file)) {
        size_t count = 0;
        for (char *at = line, *end; count < ROWS_MAX; at = end, count++) {
            double value = strtod(at, &end);
            if (end == at)
                break;
            recorded[recorded_runs][count] = value;
        }
        if (recorded_runs && count != rows)
            fail("lines have different lengths");
        rows = count;
        recorded_runs++;
    }
    (void)fclose(file);
}

static void scale_noise(double noise)
{
    for (size_t row = 0; row < rows && noise > 0; row++) {
        double mean = 0, squares = 0;
        for (size_t run = 0; run < recorded_runs; run++)
            mean += log(recorded[run][row]) / (double)recorded_runs;
        for (size_t run = 0; run < recorded_runs; run++)
            squares += pow(log(recorded[run][row]) - mean, 2);
        double factor = noise / sqrt(squares / (double)(recorded_runs - 1));
        for (size_t run = 0; run < recorded_runs; run++)
            recorded[run][row] = exp(mean + factor * (log(recorded[run][row]) - mean));
    }
}

/* A function that is large enough to have a test of its own. */
static size_t choose_row(void)
{
    for (;;) {
        size_t row = below(rows);
        double own = 0, all = 0;
        for (size_t run = 0; run < recorded_runs; run++)
            for (size_t i = 0; i < rows; i++) {
                own += i == row ? recorded[run][i] : 0;
                all += recorded[run][i];
            }
        if (own >= LEAST_PLANTED * all)
            return row;
    }
}

struct table {
    double values[ROWS_MAX * RUNS_MAX], totals[RUNS_MAX];
};

/* Runs without replacement; the first half is the base. */
static void draw(struct table *table, size_t runs, size_t planted, double change)
{
    size_t order[RUNS_MAX];
    for (size_t i = 0; i < recorded_runs; i++)
        order[i] = i;
    memset(table->totals, 0, sizeof table->totals);
    for (size_t run = 0; run < 2 * runs; run++) {
        size_t at = run + below(recorded_runs - run), chosen = order[at];
        order[at] = order[run];
        for (size_t row = 0; row < rows; row++) {
            double factor = row == planted && run >= runs ? 1 + change : 1;
            table->values[row * 2 * runs + run] = recorded[chosen][row] * factor;
            table->totals[run] += recorded[chosen][row] * factor;
        }
    }
}

struct counts {
    unsigned found, others, total, any, fails, false_fails, equal;
};

static int is_change(const lode_judgement *judgement)
{
    return judgement->verdict == LODE_VERDICT_MORE || judgement->verdict == LODE_VERDICT_LESS;
}

static lode_judgements *judge(const struct table *table, size_t count, size_t base, size_t new_count)
{
    lode_judgements *judgements;
    lode_error error;
    if (lode_judge_rows(&judgements, table->values, table->totals, count, base, new_count, NULL, &error) !=
        LODE_OK)
        fail(error.text);
    return judgements;
}

static void count_draw(struct counts *counts, const lode_judgements *judgements, size_t planted)
{
    lode_judgement judgement;
    lode_estimate speed;
    unsigned others = 0, found = 0, fails = 0, false_fails = 0;
    int is_equal = 0;
    lode_judgements_total(judgements, &judgement);
    unsigned total = is_change(&judgement) ? 1 : 0;
    for (size_t row = 0; row < rows && lode_judgements_at(judgements, row, 0, &judgement) == LODE_OK; row++) {
        int is_beyond = lode_judgement_outcome(&judgement, FUNCTION_LIMIT) == LODE_LIMIT_BEYOND;
        if (row == planted) {
            found = judgement.verdict == LODE_VERDICT_MORE;
            fails = is_beyond ? 1 : 0;
        } else {
            others += is_change(&judgement) ? 1 : 0;
            false_fails += is_beyond ? 1 : 0;
        }
    }
    if (lode_judgements_speed(judgements, &speed, &is_equal) == LODE_OK)
        counts->equal += is_equal ? 1 : 0;
    counts->found += found;
    counts->fails += fails;
    counts->total += total;
    counts->others += others > 0;
    counts->false_fails += false_fails > 0;
    counts->any += others > 0 || found || total;
}

static int run_draws(char **words)
{
    static struct table table;
    struct counts counts = {0};
    read_runs(words[0]);
    scale_noise(strtod(words[1], NULL) / 100);
    size_t runs = strtoul(words[2], NULL, 10), draws = strtoul(words[4], NULL, 10);
    double change = strtod(words[3], NULL) / 100;
    state = strtoull(words[5], NULL, 10);
    if (2 * runs > recorded_runs || runs == 0)
        fail("there are not so many runs");
    for (size_t i = 0; i < draws; i++) {
        size_t planted = change != 0 ? choose_row() : SIZE_MAX;
        draw(&table, runs, planted, change);
        lode_judgements *judgements = judge(&table, rows, runs, runs);
        count_draw(&counts, judgements, planted);
        lode_judgements_free(judgements);
    }
    printf("draws %zu found %u others %u total %u any %u gate %u gate_others %u equal_speed %u\n", draws,
           counts.found, counts.others, counts.total, counts.any, counts.fails, counts.false_fails,
           counts.equal);
    return 0;
}

/* ---- agreement ---- */

static void random_table(struct table *table, size_t *count, size_t *base, size_t *new_count)
{
    *count = 1 + below(40);
    *base = 1 + below(8);
    *new_count = 1 + below(8);
    size_t runs = *base + *new_count;
    double speed[16], common = uniform() < 0.3 ? 0 : 0.15 * uniform(), noise = 0.1 * uniform() * uniform();
    for (size_t run = 0; run < runs; run++) {
        speed[run] = common * gauss() + (run >= *base && uniform() < 0.1 ? 0.2 : 0);
        table->totals[run] = 0;
    }
    for (size_t row = 0; row < *count; row++) {
        double size = exp(4 * gauss()), change = uniform() < 0.7 ? 0 : 0.4 * (uniform() - 0.4);
        double own = noise * exp(0.5 * gauss());
        int is_absent = uniform() < 0.03;
        for (size_t run = 0; run < runs; run++) {
            double shift = run >= *base ? change : 0, tail = uniform() < 0.03 ? uniform() : 0;
            double value =
                is_absent && run < *base ? 0 : size * exp(speed[run] + shift + own * gauss() + tail);
            table->values[row * runs + run] = value;
            table->totals[run] += value;
        }
    }
}

/* What `compare` says of a row, and what `gate` says, must follow from one interval. */
static const char *disagreement(const lode_judgement *judgement, double limit)
{
    const lode_estimate *ratio = &judgement->ratio;
    lode_limit_outcome outcome = lode_judgement_outcome(judgement, limit);
    double p = lode_judgement_p_beyond(judgement, limit);
    int has_limit = ratio->low <= 1 + limit && ratio->high > 1 + limit;
    if (outcome == LODE_LIMIT_BEYOND && judgement->verdict != LODE_VERDICT_MORE)
        return "beyond a limit, and not more";
    if (outcome == LODE_LIMIT_BEYOND && (has_limit || !(ratio->low > 1 + limit)))
        return "beyond a limit that the interval has";
    if (outcome == LODE_LIMIT_WITHIN && ratio->high > 1 + limit)
        return "within a limit that the interval exceeds";
    if ((judgement->verdict == LODE_VERDICT_MORE) !=
        (lode_judgement_outcome(judgement, 0) == LODE_LIMIT_BEYOND))
        return "more, and not beyond 0 %, or the other way round";
    if (judgement->base > 0 && fabs(ratio->value * judgement->base / judgement->new_value - 1) > 1e-9)
        return "a ratio that is not new / base";
    if (!(ratio->low <= ratio->value && ratio->value <= ratio->high))
        return "a ratio outside its interval";
    if (!isnan(p) && fabs(p - judgement->whole_level) > 1e-9 && judgement->base > 0 &&
        (p < judgement->whole_level && ratio->value > 1 + limit) != (outcome == LODE_LIMIT_BEYOND))
        return "a p that does not agree with the interval";
    if (outcome != LODE_LIMIT_CANNOT_TELL && lode_judgement_runs(judgement, limit) != 0)
        return "runs are needed for what is decided";
    return NULL;
}

static int run_agree(char **words)
{
    static const double limits[] = {0, 0.02, 0.05, 0.1, 0.25};
    static struct table table;
    size_t draws = strtoul(words[0], NULL, 10), checked = 0, wrong = 0, beyond = 0;
    state = strtoull(words[1], NULL, 10);
    for (size_t i = 0; i < draws; i++) {
        size_t count, base, new_count;
        random_table(&table, &count, &base, &new_count);
        lode_judgements *judgements = judge(&table, count, base, new_count);
        for (size_t row = 0; row <= count; row++) {
            lode_judgement judgement;
            if (row == count)
                lode_judgements_total(judgements, &judgement);
            else if (lode_judgements_at(judgements, row, 0, &judgement) != LODE_OK)
                fail("a row is missing");
            double limit = limits[below(sizeof limits / sizeof *limits)];
            const char *text = disagreement(&judgement, limit);
            beyond += lode_judgement_outcome(&judgement, limit) == LODE_LIMIT_BEYOND ? 1 : 0;
            checked++;
            if (text && wrong++ < 10)
                printf("table %zu row %zu limit %g: %s\n", i, row, limit, text);
        }
        lode_judgements_free(judgements);
    }
    printf("tables %zu rows %zu beyond %zu disagree %zu\n", draws, checked, beyond, wrong);
    return wrong ? 1 : 0;
}

int main(int count, char **words)
{
    if (count == 4 && strcmp(words[1], "agree") == 0)
        return run_agree(words + 2);
    if (count == 7)
        return run_draws(words + 1);
    fail("FILE NOISE RUNS CHANGE DRAWS SEED, or agree DRAWS SEED");
    return 2;
}
