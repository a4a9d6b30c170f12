/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Activities of functions. activities.txt has all functions of the real databases with the activity
 * that a person gave them; `test_activity --list` prints what the library says.
 */
#include "base/compare.h"
#include "base/memory/array.h"
#include "corpus.h"
#include "unit.h"
#include <dirent.h>
#include <lode/context.h>
#include <lode/name.h>
#include <lode/unstable/kind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS_MAX 100000

/* Lines "activity, tab, module, tab, name". */
static struct lode_array lines;

static void push(char *line)
{
    char **slot = lode_array_push(&lines);
    assert_non_null(slot);
    *slot = line;
}

/* Rules know directories of system libraries only; others do not matter. */
static void write_pair(char *line, size_t size, const char *module, const char *name)
{
    const char *tail = module ? lode_path_tail(module) : "-", *folder = "";
    static const char *const folders[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};
    for (size_t i = 0; module && i < 4; i++)
        if (strncmp(module, folders[i], strlen(folders[i])) == 0)
            folder = folders[i];
    int activity = (int)lode_activity_of(NULL, module, name);
    snprintf(line, size, "%s\t%s%s\t%s", lode_activity_name(activity), folder, tail, name ? name : "-");
}

static void list_functions(const lode_database *db)
{
    for (uint32_t i = 1; i < lode_database_context_count(db); i++) {
        const lode_context *context = lode_database_context_at(db, i);
        const lode_function *function = lode_context_function(context);
        const lode_module *module = function ? lode_function_module(function) : NULL;
        char *line = malloc(4096);
        assert_non_null(line);
        if (function == NULL) {
            free(line);
            continue;
        }
        if (module == NULL)
            module = lode_context_module(context);
        write_pair(line, 4096, module ? lode_module_path(module) : NULL, lode_function_name(function));
        push(line);
    }
}

static int compare_lines(const void *left, const void *right)
{
    return lode_compare_strings(left, right);
}

/* All pairs of the corpus, sorted and once each. False: there is no corpus. */
static bool list_corpus(void)
{
    char folder[2048], path[4096];
    lode_array_init(&lines, sizeof(char *), PAIRS_MAX);
    if (!corpus_path(folder, sizeof folder, "hpctoolkit/final"))
        return false;
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return false;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        lode_database *db = NULL;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.' || lode_database_open(&db, path, NULL) != LODE_OK)
            continue;
        list_functions(db);
        lode_database_close(db);
    }
    closedir(directory);
    qsort(lines.items, lines.count, lines.item_size, compare_lines);
    size_t kept = 0;
    for (size_t i = 0; i < lines.count; i++) {
        char **items = lines.items;
        if (kept && strcmp(items[kept - 1], items[i]) == 0)
            free(items[i]);
        else
            items[kept++] = items[i];
    }
    lines.count = kept;
    return kept > 0;
}

static void free_lines(void)
{
    for (size_t i = 0; i < lines.count; i++)
        free(*LODE_ARRAY_AT(&lines, char *, i));
    lode_array_free(&lines);
}

static FILE *open_reviewed(void)
{
    FILE *file = fopen(ACTIVITIES_FILE, "r");
    assert_non_null(file);
    return file;
}

static void reviewed_functions_have_the_activity_that_a_person_gave_them(void **state)
{
    char line[4096];
    size_t count = 0, wrong = 0;
    FILE *file = open_reviewed();
    (void)state;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *module = strchr(line, '\t'), *name = module ? strchr(module + 1, '\t') : NULL;
        if (name == NULL)
            continue;
        *module++ = '\0';
        *name++ = '\0';
        int found = (int)lode_activity_of(NULL, strcmp(module, "-") == 0 ? NULL : module,
                                          strcmp(name, "-") == 0 ? NULL : name);
        count++;
        if (strcmp(lode_activity_name(found), line) != 0 && ++wrong < 20)
            print_message("%s in %s is %s, not %s\n", name, module, lode_activity_name(found), line);
    }
    fclose(file);
    assert_true(count > 1000);
    assert_int_equal(wrong, 0);
}

static void every_function_of_the_corpus_was_reviewed(void **state)
{
    char line[4096];
    size_t at = 0, missing = 0;
    (void)state;
    /* Names of the project's own stores are made up. */
    if (corpus_is_own() || !list_corpus()) {
        print_message("# skipped: the larger corpus is not there\n");
        skip();
    }
    FILE *file = open_reviewed();
    /* Both are sorted. */
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        while (at < lines.count && strcmp(*LODE_ARRAY_AT(&lines, char *, at), line) < 0) {
            if (++missing < 20)
                print_message("not reviewed: %s\n", *LODE_ARRAY_AT(&lines, char *, at));
            at++;
        }
        if (at < lines.count && strcmp(*LODE_ARRAY_AT(&lines, char *, at), line) == 0)
            at++;
    }
    fclose(file);
    missing += lines.count - at;
    free_lines();
    assert_int_equal(missing, 0);
}

static lode_activity by_rules(const char *text, const char *module, const char *name)
{
    lode_kind_rules *rules;
    lode_error error = {0};
    if (lode_kind_rules_parse(&rules, text, strlen(text), &error) != LODE_OK)
        fail_msg("%s", error.text);
    lode_activity found = lode_activity_of(rules, module, name);
    lode_kind_rules_free(rules);
    return found;
}

static void rules_of_a_user_come_first(void **state)
{
    (void)state;
    const char *text =
        "# what our site has\n\n mpi  libsitempi.so*  *\r\nalloc\t*  pool take *\nown * malloc\n";
    assert_int_equal(by_rules(text, "/opt/site/libsitempi.so.3", "anything"), LODE_ACTIVITY_MPI);
    assert_int_equal(by_rules(text, "/opt/app", "pool take one"), LODE_ACTIVITY_ALLOC);
    assert_int_equal(by_rules(text, NULL, "malloc@plt"), LODE_ACTIVITY_OWN);
    assert_int_equal(by_rules(text, "libc.so.6", "free"), LODE_ACTIVITY_ALLOC);
    assert_int_equal(by_rules("", "libc.so.6", "free"), LODE_ACTIVITY_ALLOC);
    /* As in the file, as it is shown, and as it is shown without parameters. */
    assert_int_equal(by_rules("net * _ZN3app4sendEi", NULL, "_ZN3app4sendEi"), LODE_ACTIVITY_NET);
    assert_int_equal(by_rules("net * app::send(int)", NULL, "_ZN3app4sendEi"), LODE_ACTIVITY_NET);
    assert_int_equal(by_rules("net * app::send", NULL, "_ZN3app4sendEi"), LODE_ACTIVITY_NET);
    assert_int_equal(by_rules("net * app::send", NULL, "app::send(int)"), LODE_ACTIVITY_NET);
    assert_int_equal(by_rules("own * <gpu kernel>", NULL, "<gpu kernel>"), LODE_ACTIVITY_OWN);
    assert_int_equal(by_rules("join-thread * app::finish", NULL, "app::finish()"), LODE_ACTIVITY_LOCK);
    assert_int_equal(by_rules("file /opt/io/* *", "/opt/io/libfast.so", NULL), LODE_ACTIVITY_FILE);
}

static void wrong_rules_are_refused_with_their_line(void **state)
{
    static const struct {
        const char *text, *part;
    } cases[] = {{"own * *\nmpx * *\n", "line 2"}, {"mpi libx.so", "line 1"}, {"\n\nmpi", "line 3"}};
    char *many = malloc(8 * 5000 + 1);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lode_kind_rules *rules;
        lode_error error = {0};
        assert_int_equal(lode_kind_rules_parse(&rules, cases[i].text, strlen(cases[i].text), &error),
                         LODE_ERR_ARGUMENT);
        assert_null(rules);
        assert_non_null(strstr(error.text, cases[i].part));
    }
    lode_kind_rules *rules;
    assert_non_null(many);
    for (size_t i = 0; i < 5000; i++)
        memcpy(many + 8 * i, "own * *\n", 8);
    assert_int_equal(lode_kind_rules_parse(&rules, many, 8 * 5000, NULL), LODE_ERR_LIMIT);
    memset(many, 'x', 8 * 5000);
    assert_int_equal(lode_kind_rules_parse(&rules, many, 8 * 5000, NULL), LODE_ERR_ARGUMENT);
    memcpy(many, "own *\0 *", 8);
    assert_int_equal(lode_kind_rules_parse(&rules, many, 8, NULL), LODE_ERR_ARGUMENT);
    free(many);
}

static void every_activity_has_a_name_and_a_kind(void **state)
{
    (void)state;
    for (int i = 0; i < LODE_ACTIVITY_COUNT; i++) {
        assert_non_null(lode_activity_name(i));
        assert_non_null(lode_activity_title(i));
        assert_non_null(lode_kind_name((int)lode_activity_kind(i)));
    }
    assert_null(lode_activity_name(-1));
    assert_null(lode_activity_title(LODE_ACTIVITY_COUNT));
    assert_int_equal(lode_activity_kind(LODE_ACTIVITY_COUNT), LODE_KIND_OWN);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reviewed_functions_have_the_activity_that_a_person_gave_them),
        cmocka_unit_test(every_function_of_the_corpus_was_reviewed),
        cmocka_unit_test(rules_of_a_user_come_first),
        cmocka_unit_test(wrong_rules_are_refused_with_their_line),
        cmocka_unit_test(every_activity_has_a_name_and_a_kind),
    };
    if (count == 2 && strcmp(arguments[1], "--list") == 0 && list_corpus()) {
        for (size_t i = 0; i < lines.count; i++)
            puts(*LODE_ARRAY_AT(&lines, char *, i));
        free_lines();
        return 0;
    }
    correct_skips();
    return cmocka_run_group_tests_name("activity", tests, NULL, NULL);
}
