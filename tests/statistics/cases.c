/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads cases of statistics from standard input and prints the results of the library: one line
 * each, with all digits. A case is a name and lists of numbers, each after its length.
 */
#include <lode/private/statistics.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LISTS = 3,
    LIST_MAX = 100000
};

static double *lists[LISTS];
static size_t counts[LISTS];
static lode_error error;

#define PARAMETERS lists[0]
#define BASE       lists[1], counts[1]
#define NEW        lists[2], counts[2]

static void print_estimate(lode_status status, lode_estimate estimate)
{
    printf("%d %.17g %.17g %.17g", (int)status, estimate.value, estimate.low, estimate.high);
}

static void run_distributions(void)
{
    const double *given = PARAMETERS;
    printf("0 %.17g %.17g %.17g %.17g", lode_normal_cdf(given[0]), lode_normal_quantile(given[1]),
           lode_student_cdf(given[0], given[2]), lode_student_quantile(given[1], given[2]));
}

static void run_u_test(void)
{
    lode_u_test test = {0};
    lode_status status = lode_u_test_compute(&test, BASE, NEW, &error);
    printf("%d %.17g %.17g %.17g %.17g %d %.17g", (int)status, test.u, test.p, test.p_less, test.p_greater,
           test.is_exact, lode_u_test_smallest_p(counts[1], counts[2]));
}

static void run_mean_difference(void)
{
    lode_estimate estimate = {0};
    double p = 0.0;
    lode_status status = lode_mean_difference(&estimate, &p, PARAMETERS[1], BASE, NEW, PARAMETERS[0], &error);
    print_estimate(status, estimate);
    printf(" %.17g", p);
}

static void run_median_shift(void)
{
    lode_estimate estimate = {0};
    lode_status status = lode_median_shift(&estimate, BASE, NEW, PARAMETERS[0], &error);
    print_estimate(status, estimate);
}

static void run_mean_ratio(void)
{
    lode_estimate estimate = {0};
    lode_status status = lode_mean_ratio(&estimate, BASE, NEW, PARAMETERS[0], &error);
    print_estimate(status, estimate);
}

static void run_prediction(void)
{
    lode_estimate estimate = {0};
    lode_status status = lode_prediction(&estimate, BASE, PARAMETERS[0], &error);
    print_estimate(status, estimate);
}

static void run_sampled_ratio(void)
{
    lode_estimate estimate = {0};
    const double *given = PARAMETERS;
    lode_status status =
        lode_sampled_ratio(&estimate, given[1], given[2], given[3], given[4], given[0], &error);
    print_estimate(status, estimate);
}

static void run_adjust(void)
{
    lode_status holm, hochberg;
    double *copy = malloc((counts[1] + 1) * sizeof *copy);
    if (copy == NULL)
        abort();
    memcpy(copy, lists[1], counts[1] * sizeof *copy);
    holm = lode_adjust_holm(lists[1], counts[1], &error);
    hochberg = lode_adjust_benjamini_hochberg(copy, counts[1], &error);
    printf("%d", holm == LODE_OK ? (int)hochberg : (int)holm);
    for (size_t i = 0; i < counts[1]; i++)
        printf(" %.17g %.17g", lists[1][i], copy[i]);
    free(copy);
}

/* Parameters: level, limit, samples of base and new, whether it is exact. */
static void run_judge(void)
{
    lode_judge_options options = LODE_JUDGE_OPTIONS_INIT;
    lode_judgement out;
    memset(&out, 0, sizeof out);
    options.level = PARAMETERS[0];
    options.limit = PARAMETERS[1];
    options.base_sample = PARAMETERS[2];
    options.new_sample = PARAMETERS[3];
    options.is_exact = PARAMETERS[4] > 0;
    lode_status status = lode_judge(lists[1], counts[1], lists[2], counts[2], &options, &out, &error);
    print_estimate(status, out.ratio);
    printf(" %d %d %.17g %.17g %.17g %.17g %.17g %u", (int)out.verdict, (int)out.method, out.base,
           out.new_value, out.p, out.p_beyond, out.smallest_visible, out.needed_runs);
}

static void print_judgement(lode_judgement out)
{
    printf(" %d %d %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %u", (int)out.verdict, (int)out.method,
           out.base, out.new_value, out.ratio.value, out.ratio.low, out.ratio.high, out.p, out.p_adjusted,
           out.level, out.needed_runs);
}

/*
 * Parameters: level, least share, samples of base and new, whether it is exact, runs of the base
 * and of both sides. Values by row and run; totals. Prints tests, pooled rows, equal speed, the
 * total, rows.
 */
static void run_rows(void)
{
    lode_judge_rows_options options = LODE_JUDGE_ROWS_OPTIONS_INIT;
    lode_judgements *judgements = NULL;
    lode_judgement out;
    lode_estimate speed = {0};
    int is_equal = 0;
    size_t base = (size_t)PARAMETERS[5], runs = (size_t)PARAMETERS[6], rows = counts[1] / runs;
    options.level = PARAMETERS[0];
    options.least_share = PARAMETERS[1];
    options.base_sample = PARAMETERS[2];
    options.new_sample = PARAMETERS[3];
    options.is_exact = PARAMETERS[4] > 0;
    lode_status status =
        lode_judge_rows(&judgements, lists[1], lists[2], rows, base, runs - base, &options, &error);
    printf("%d", (int)status);
    if (status != LODE_OK)
        return;
    (void)!lode_judgements_speed(judgements, &speed, &is_equal);
    printf(" %zu %zu %d", lode_judgements_tests(judgements), lode_judgements_pooled_count(judgements),
           is_equal);
    lode_judgements_total(judgements, &out);
    print_judgement(out);
    for (size_t row = 0; row < rows && lode_judgements_at(judgements, row, 0, &out) == LODE_OK; row++)
        print_judgement(out);
    lode_judgements_free(judgements);
}

/* Parameters: level, smallest change, length, values a side. */
static void run_changes(void)
{
    lode_change_options options = LODE_CHANGE_OPTIONS_INIT;
    lode_change_points *points = NULL;
    options.level = PARAMETERS[0];
    options.min_change = PARAMETERS[1];
    options.length = (uint32_t)PARAMETERS[2];
    options.min_count = (uint32_t)PARAMETERS[3];
    lode_status status = lode_change_points_find(&points, BASE, &options, &error);
    printf("%d", (int)status);
    for (size_t i = 0; points && i < lode_change_points_count(points); i++) {
        const lode_change_point *point = lode_change_points_at(points, i);
        printf(" %zu %zu %zu %.17g %.17g %.17g", point->index, point->begin, point->end, point->before,
               point->after, point->p);
    }
    lode_change_points_free(points);
}

static void run_model(void)
{
    lode_model model = {0};
    char text[100] = "";
    lode_status status = lode_model_fit(&model, lists[1], lists[2], counts[1], &error);
    printf("%d %.17g %.17g %d %d %d %u %.17g %.17g %.17g %.17g %.17g ", (int)status, model.c0, model.c1,
           model.numerator, model.denominator, model.logarithms, model.sizes, model.error,
           model.constant_error, model.fit_error, model.r2,
           status == LODE_OK ? lode_model_value(&model, 1000.0) : 0.0);
    lode_model_text(&model, text, sizeof text);
    for (const char *c = text; *c; c++)
        putchar(*c == ' ' ? '_' : *c);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"distributions", run_distributions},
    {"u_test", run_u_test},
    {"mean_difference", run_mean_difference},
    {"median_shift", run_median_shift},
    {"mean_ratio", run_mean_ratio},
    {"prediction", run_prediction},
    {"sampled_ratio", run_sampled_ratio},
    {"adjust", run_adjust},
    {"judge", run_judge},
    {"rows", run_rows},
    {"changes", run_changes},
    {"model", run_model},
};

static int read_number(double *out)
{
    char word[64], *end;
    if (scanf("%63s", word) != 1)
        return 0;
    *out = strtod(word, &end);
    return *end == '\0';
}

static int read_lists(void)
{
    for (size_t i = 0; i < LISTS; i++) {
        double count;
        if (!read_number(&count) || !(count >= 0 && count <= LIST_MAX))
            return 0;
        counts[i] = (size_t)count;
        for (size_t j = 0; j < counts[i]; j++)
            if (!read_number(&lists[i][j]))
                return 0;
    }
    return 1;
}

int main(void)
{
    char name[32];
    for (size_t i = 0; i < LISTS; i++)
        if ((lists[i] = calloc(LIST_MAX, sizeof *lists[i])) == NULL)
            return 1;
    while (scanf("%31s", name) == 1) {
        size_t found = 0;
        while (found < sizeof cases / sizeof *cases && strcmp(cases[found].name, name) != 0)
            found++;
        if (found == sizeof cases / sizeof *cases || !read_lists()) {
            fprintf(stderr, "not a case: %s\n", name);
            return 1;
        }
        cases[found].run();
        putchar('\n');
    }
    for (size_t i = 0; i < LISTS; i++)
        free(lists[i]);
    return 0;
}
