/* SPDX-License-Identifier: BSD-3-Clause */
/* Which functions specifications cover: patterns, modules, order, simple names, and .dbg files. */
#include "format/uftrace/args/argspec.h"
#include "format/uftrace/args/debug.h"
#include "uft_specs.h"
#include <fnmatch.h>
#include <lode/name.h>
#include <regex.h>
#include <stdlib.h>
#include <time.h>

static const uint8_t payload[64] = {1, [8] = 2, [16] = 3, [24] = 4};

static void open_line(struct specs *specs, const char *type, const char *line)
{
    specs_open(specs,
               &(const struct lode_uft_spec_strings){.argspec = line, .pattern_type = type, .word = 8});
}

static const char *show(const struct specs *specs, const char *name, const char *module)
{
    const struct lode_uft_spec *spec = lode_uft_specs_find(specs->specs, name, module, false);
    return spec ? specs_show(specs, spec, payload, sizeof payload) : "none";
}

/* Whether "<pattern>@arg1" covers a function. */
static bool covers(const char *type, const char *pattern, const char *name)
{
    struct specs specs;
    char line[256];
    snprintf(line, sizeof line, "%s@arg1", pattern);
    open_line(&specs, type, line);
    bool result = strcmp(show(&specs, name, "/opt/prog"), "1") == 0;
    specs_close(&specs);
    return result;
}

static void patterns_match_as_the_recorder_says(void **state)
{
    static const struct {
        const char *type, *pattern, *name;
        bool covers;
    } cases[] = {
        {"regex", "foo", "foo", true},
        {"regex", "foo", "xfoo", false},
        {"regex", "f.o", "xfaox", true},
        {"regex", "^f.o$", "xfoo", false},
        {"regex", "^f.o$", "foo", true},
        {"regex", "a-b", "xa-by", true},
        {"regex", "fo+{2}", "foo", true},
        {"regex", "fo{2,3}d", "food", true},
        {"regex", "fo{2,3}d", "fooood", false},
        {"regex", "fo{3}", "foo", false},
        {"regex", "fo{0}x", "fx", true},
        {"regex", "(ab|cd)+e", "cdabe", true},
        {"regex", "^(ab|cd)+$", "abx", false},
        {"regex", "[[:digit:]]x", "a7x", true},
        {"regex", "[^a-c]z", "bz", false},
        {"regex", "[]a]q", "]q", true},
        {"regex", "x(|y)z", "xz", true},
        {"regex", "f\\.o.", "f.ox", true},
        {"regex", "f\\.o.", "faox", false},
        {"regex", "a|b", "xxb", true},
        {"regex", "", "x", false},
        {"glob", "f*", "foo", true},
        {"glob", "f*", "xfoo", false},
        {"glob", "f?o", "foo", true},
        {"glob", "*a*b*c", "xaybzc", true},
        {"glob", "*a*b*c", "xaybz", false},
        {"glob", "f[!o]o", "fao", true},
        {"glob", "f[!o]o", "foo", false},
        {"glob", "f.o", "foo", false},
        {"glob", "f\\*?", "f*x", true},
        {"simple", "f.*", "foo", false},
        {"simple", "f.*", "f.*", true},
        {NULL, "f.*", "foo", true},
        /* Names are compared in their simple form, and so are mangled patterns. */
        {"regex", "operator new", "_Znwm", true},
        {"regex", "_Znwm", "_ZnwmRKSt9nothrow_t", true},
        {"regex", "_Znwm", "_Znam", false},
        {"regex", "^app::G", "_ZN3app5GuardC1Ev", true},
        {"regex", "Guard", "_ZN3app5GuardC1Ev", false},
        {"regex", "_ZN3.*", "_ZN3app5GuardC1Ev", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (covers(cases[i].type, cases[i].pattern, cases[i].name) != cases[i].covers)
            fail_msg("%s %s on %s", cases[i].type ? cases[i].type : "", cases[i].pattern, cases[i].name);
}

/* Numbers that are the same in each run. */
static unsigned next_number(uint64_t *state, unsigned below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33) % below;
}

static void compare_with_libc(const char *pattern, bool is_glob, uint64_t *state)
{
    static const char letters[] = "aaabb:_ .-]d1!";
    const struct lode_uft_pattern *compiled;
    struct lode_arena arena;
    size_t budget = 4096;
    regex_t regex;
    lode_arena_init(&arena, SIZE_MAX);
    struct uft_text text = {pattern, pattern + strlen(pattern)};
    lode_status status = lode_uft_pattern_compile(&compiled, &arena, text, is_glob, &budget);
    bool is_known = is_glob || regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) == 0;
    for (unsigned i = 0; i < 6 && is_known && status == LODE_OK; i++) {
        char name[10] = "";
        for (unsigned length = next_number(state, 9); length > 0; length--)
            name[length - 1] = letters[next_number(state, sizeof letters - 1)];
        bool expected = is_glob ? fnmatch(pattern, name, 0) == 0 : regexec(&regex, name, 0, NULL, 0) == 0;
        if (lode_uft_pattern_matches(compiled, name, strlen(name)) != expected)
            fail_msg("%s on %s: should be %d", pattern, name, expected);
    }
    if (is_known && !is_glob)
        regfree(&regex);
    lode_arena_free(&arena);
}

static void patterns_match_as_the_c_library_does(void **state)
{
    static const char *const pieces[] = {
        "a",    "b",     "ab",          ":",     "(", "|", ")",   "*",   "+",   "?",    "{2}",      "{,2}",
        "{1,}", "[a-b]", "[[:alpha:]]", "[]a]",  "^", "$", ".",   "\\w", "\\.", "\\s",  "[[.a.]b]", "[b-]",
        "[^a]", "-",     "_",           "(a|b)", "{", "[", "\\W", "!",   "\\_", "[!a]", "(a)",      "\\d",
    };
    uint64_t seed = 1;
    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        char pattern[64] = "";
        for (unsigned count = 1 + next_number(&seed, 6); count > 0; count--)
            strcat(pattern, pieces[next_number(&seed, sizeof pieces / sizeof *pieces)]);
        compare_with_libc(pattern, i % 4 == 0, &seed);
    }
}

static void malformed_pieces_are_findings_and_left_out(void **state)
{
    static const char *const bad[] = {
        "g",           "@arg1",        "g@arg0",      "g@arg",         "g@arg1x",     "g@arg1/",
        "g@arg1/q",    "g@arg1/i7",    "g@arg1/i32x", "g@arg1/32",     "g@fparg1/16", "g@arg1/e",
        "g@arg1/e:",   "g@arg1/e32:x", "g@arg1/tx",   "g@arg1/t-8",    "(((@arg1",    "g**|*@arg1",
        "[g@arg1",     "g{2@arg1",     "g{3,2}@arg1", "(g)\\1@arg1",   "g.\\@arg1",   "g@arg99999",
        "g{256}@arg1", "g@fparg1/e:",  "[b-a]@arg1",  "[[:no:]]@arg1",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct specs specs;
        char line[256];
        snprintf(line, sizeof line, "f@arg1;%s;h@arg2/x", bad[i]);
        open_line(&specs, "regex", line);
        if (specs.findings != 1)
            fail_msg("%s: %llu findings", bad[i], (unsigned long long)specs.findings);
        assert_non_null(strstr(specs.last, bad[i]));
        assert_string_equal(show(&specs, "f", "p"), "1");
        assert_string_equal(show(&specs, "h", "p"), "0x1");
        assert_string_equal(show(&specs, "g", "p"), "none");
        specs_close(&specs);
    }
}

static void registers_triggers_and_empty_pieces_do_no_harm(void **state)
{
    struct specs specs;
    (void)state;
    open_line(&specs, "regex",
              ";;f@arg1/x%rdi,arg2%stack+1;g@filter,depth=3,arg1,trace-on,read=proc/statm;h@retval;"
              "i@arg1/t8:pair%RDI+RSI,arg2;");
    assert_int_equal(specs.findings, 0);
    assert_string_equal(show(&specs, "f", "p"), "0x1, 2");
    assert_string_equal(show(&specs, "g", "p"), "1");
    assert_string_equal(show(&specs, "h", "p"), "none");
    assert_string_equal(show(&specs, "i", "p"), "pair{...}, 2");
    specs_close(&specs);
}

static void rules_add_up_in_their_order(void **state)
{
    struct specs specs;
    (void)state;
    open_line(&specs, "regex", "m3@arg2;m3@arg1;m.3@arg3/x;m3@arg3;n@arg1/x;n@arg1;o@arg1/i32,arg1/x");
    assert_string_equal(show(&specs, "m3", "p"), "1, 2, 3");
    assert_string_equal(show(&specs, "mx3", "p"), "0x1");
    assert_string_equal(show(&specs, "n", "p"), "1");
    assert_string_equal(show(&specs, "o", "p"), "0x1");
    specs_close(&specs);
    /* A pattern gives no other form to what was named, and patterns before it decide the order. */
    open_line(&specs, "regex", "f.@arg3/x;f1@arg1;f1@arg2;f.@arg1/x,arg2/x,arg4/x");
    assert_string_equal(show(&specs, "f1", "p"), "0x1, 2, 3, 0x4");
    assert_string_equal(show(&specs, "f2", "p"), "0x1, 0x2, 0x3, 0x4");
    /* Functions that the same rules cover share what they say. */
    assert_ptr_equal(lode_uft_specs_find(specs.specs, "f2", "p", false),
                     lode_uft_specs_find(specs.specs, "f3", "p", false));
    specs_close(&specs);
}

static void a_module_restricts_a_rule(void **state)
{
    struct specs specs;
    (void)state;
    open_line(&specs, "regex", "f@libfoo,arg1;f@libfoo.so,arg2;g@arg1,prog;h@plt,arg1");
    assert_string_equal(show(&specs, "f", "/usr/lib/libfoo.so.1"), "1, 2");
    assert_string_equal(show(&specs, "f", "libfoobar.so"), "1");
    assert_string_equal(show(&specs, "f", "/libfoo/prog"), "none");
    assert_string_equal(show(&specs, "g", "/opt/prog"), "1");
    assert_string_equal(show(&specs, "g", "/opt/pro"), "none");
    assert_string_equal(show(&specs, "h", "/opt/any"), "1");
    specs_close(&specs);
}

static void what_was_asked_for_goes_before_debug_before_automatic(void **state)
{
    struct specs specs;
    (void)state;
    specs_open(&specs, &(const struct lode_uft_spec_strings){.argspec = "f@arg1/x,retval/i32",
                                                             .retspec = "g@retval/x,arg1",
                                                             .argauto = "f@arg1;malloc@arg1/u;_Znwm@arg1/u",
                                                             .retauto = "f@retval;malloc@retval/p",
                                                             .word = 8,
                                                             .has_auto = true});
    const struct lode_uft_spec *debug = lode_uft_spec_parse(specs.specs, &specs.arena, "@arg1,arg2", 10);
    assert_non_null(debug);
    const struct lode_uft_spec *asked = lode_uft_specs_find(specs.specs, "f", "p", false);
    assert_ptr_equal(lode_uft_specs_choose(specs.specs, "f", "p", false, debug), asked);
    assert_ptr_equal(lode_uft_specs_choose(specs.specs, "malloc", "p", false, debug), debug);
    assert_string_equal(specs_show(&specs, asked, payload, 8), "0x1");
    assert_string_equal(show(&specs, "malloc", "p"), "1");
    assert_string_equal(show(&specs, "_Znwm", "p"), "1");
    /* Results among arguments, and arguments among results, were not recorded. */
    const struct lode_uft_spec *result = lode_uft_specs_find(specs.specs, "f", "p", true);
    assert_string_equal(specs_show(&specs, result, payload, 8), "1");
    result = lode_uft_specs_find(specs.specs, "g", "p", true);
    assert_string_equal(specs_show(&specs, result, payload, 8), "0x1");
    assert_null(lode_uft_specs_find(specs.specs, "g", "p", false));
    specs_close(&specs);
}

/* ---- names ---- */

static const struct {
    const char *symbol, *name;
} names[] = {
    {"main", "main"},
    {"_Z3foov", "foo"},
    {"_ZL3foov", "foo"},
    {"_ZN3app7throwerEi", "app::thrower"},
    {"_ZN3app5GuardD2Ev", "app::Guard::~Guard"},
    {"_ZN3FooIiEC2IiEET_", "Foo::Foo"},
    {"_ZN12_GLOBAL__N_14anonEi", "_GLOBAL__N_1::anon"},
    {"_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector::push_back"},
    {"_ZNSaIcEC1Ev", "std::allocator::allocator"},
    {"_ZNSo3putEc", "std::basic_ostream::put"},
    {"_ZN1CclEi", "C::operator()"},
    {"_ZN1CclIcEEiT_", "C::operator()"},
    {"_ZNK1CltIiEEbT_", "C::operator<"},
    {"_ZN1ClsIdEES_T_", "C::operator<<"},
    {"_ZN1CptEv", "C::operator->"},
    {"_ZN1CpmEi", "C::operator->*"},
    {"_ZN1CssEi", "C::operator<=>"},
    {"_ZN1CixEi", "C::operator[]"},
    {"_ZN1CnaEm", "C::operator new[]"},
    {"_ZNK1CcvSt6vectorIiSaIiEEEv", "C::operator(cast)"},
    {"_ZNK1CcvPT_IiEEv", "C::operator(cast)"},
    {"_Zli3_kmy", "operator\"\""},
    {"_ZZ3lamvENKUliE1_clEi", "lam::$_2::operator()"},
    {"_ZZZ3lamvENKUliE1_clEiENKUliE_clEi", "lam::$_2::operator()::$_0::operator()"},
    {"_ZZ3foovEN1A1bEv", "foo::A::b"},
    {"_ZZ3fooiEd0_NKUlvE_clEv", "foo::$_0::operator()"},
    {"_Z5callfIZZ3lamvENKUliE1_clEiEUliE_EiT_", "callf"},
    {"_Z6tretfpIiEPFT_dES0_", "tretfp"},
    {"_ZN3foo3barILi3ELb1ELc65ELj4294967295EEEvv", "foo::bar"},
    {"_ZN3foo3barILNS_4EnumE1EEEvv", "foo::bar"},
    {"_ZN3foo3barIXadL_ZN1C3bazEvEEEEvv", "foo::bar"},
    {"_ZSt12construct_atIcJRKcEEDTgsnwcvPvLi0E_T_pispcl7declvalIT0_EEEEPS3_DpOS4_", "std::construct_at"},
    {"_ZN3foo3barEv.constprop.0.cold", "foo::bar"},
    {"_ZN3foo3barEv@VER_1", "foo::bar"},
    {"_ZThn16_N1D1wEv", "D::w"},
    {"_ZTv0_n24_N1DD0Ev", "D::~D"},
    {"_ZTch0_h16_N1D1wEv", "D::w"},
    {"_ZTW3foo", "TLS_wrap::foo"},
    {"_ZTV1D", "__vtable__D"},
    {"_ZNKSt8ios_base7failureB5cxx114whatEv", "std::ios_base::failure::cxx11::what"},
    {"_ZNSt8ios_base7failureB5cxx11D0Ev", "std::ios_base::failure::cxx11::~cxx11"},
    {"_ZN1B3BoxCI1N1A4BaseEEi", "B::Box::Box"},
    {"_ZN6useCI14mainEv", "useCI1::main"},
    {"_ZNSsC1EOSs", "std::basic_string<>::basic_string<>"},
    {"_ZNSs4swapERSs", "std::basic_string<>::swap"},
    {"_ZN1aleIiEEbT_", "a::operator<="},
    {"_Z12decltypeTypeIiEDTfp_ET_", "decltypeType"},
    {"_GLOBAL__sub_I__ZN3app7throwerEi", "_GLOBAL__sub_I_app::thrower"},
    {"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
    {"_RNvCs1234_7mycrate3foo", "_RNvCs1234_7mycrate3foo"},
    /* What is no mangled name stays as it is. */
    {"i", "i"},
    {"foo(int)", "foo(int)"},
    {"_Z", "_Z"},
    {"_ZN", "_ZN"},
    {"_ZNE", "_ZNE"},
    {"_Z3fo", "_Z3fo"},
    {"_ZN3foo99999999999999999999barEv", "_ZN3foo99999999999999999999barEv"},
    {"_ZN3fooIiE", "_ZN3fooIiE"},
    {"_ZN1aIL", "_ZN1aIL"},
    {"_ZZ1avE", "_ZZ1avE"},
    {"", ""},
    {"a\nb", "a?b"},
};

static void names_lose_parameters_and_template_arguments(void **state)
{
    char name[256];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(lode_simple_name(names[i].symbol, name, sizeof name), strlen(names[i].name));
        assert_string_equal(name, names[i].name);
    }
    assert_int_equal(lode_simple_name("_ZN3app7throwerEi", name, 6), 12);
    assert_string_equal(name, "app::");
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void no_name_takes_long(void **state)
{
    enum {
        LENGTH = 1 << 20
    };
    static char symbol[LENGTH + 1];
    static const char *const pieces[] = {"I",   "N",  "Z",  "E",   "C1",   "1aC1", "X",   "L",
                                         "S_",  "Ul", "cv", "nw",  "DTcl", "T_",   "A1_", "1a",
                                         "B1a", "Li", "IL", "1aI", "fL",   "_"};
    char name[64];
    (void)state;
    double start = seconds();
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        size_t length = strlen(pieces[i]);
        memcpy(symbol, "_ZN1b", 5);
        for (size_t at = 5; at < LENGTH; at++)
            symbol[at] = pieces[i][(at - 5) % length];
        size_t got = lode_simple_name(symbol, name, sizeof name);
        assert_true(got <= 4 * (size_t)LENGTH);
    }
    /* A gigabyte in full. */
    const char *bomb =
        "_Z1fSt4pairIiiES_IS0_S0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_ES_IS5_S5_ES_IS6_S6_ES_IS7_S7_ES_"
        "IS8_S8_ES_IS9_S9_ES_ISA_SA_ES_ISB_SB_ES_ISC_SC_ES_ISD_SD_ES_ISE_SE_ES_ISF_SF_ES_ISG_SG_ES_ISH_"
        "SH_ES_ISI_SI_ES_ISJ_SJ_ES_ISK_SK_ES_ISL_SL_ES_ISM_SM_E";
    assert_int_equal(lode_simple_name(bomb, name, sizeof name), strlen(bomb));
    assert_true(seconds() - start < 20);
}

/* ---- hostile patterns ---- */

static void fill(char *text, size_t length, const char *piece)
{
    for (size_t i = 0; i < length; i++)
        text[i] = piece[i % strlen(piece)];
    text[length] = '\0';
}

static void patterns_that_are_too_large_are_findings(void **state)
{
    static const char *const pieces[] = {"(",  "(a", "((((a*)*)*)*)*", "a{255}", "[a-z]", "a|", "(a{99}){99}",
                                         "x.", "\\."};
    static char line[100001];
    (void)state;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct specs specs;
        fill(line, 100000 - 5, pieces[i]);
        strcat(line, "@arg1");
        open_line(&specs, i % 2 ? "glob" : "regex", line);
        specs_close(&specs);
        open_line(&specs, "regex", line);
        assert_int_equal(specs.findings, 1);
        specs_close(&specs);
    }
    /* Many small ones add up: those beyond the budget are left out. */
    struct specs specs;
    fill(line, 100000, "abcdef.*@arg1;");
    open_line(&specs, "regex", line);
    assert_true(specs.findings > 5000);
    assert_string_equal(show(&specs, "abcdefg", "p"), "1");
    specs_close(&specs);
}

static void no_pattern_takes_long(void **state)
{
    static const char *const evil[] = {"(a*)*b",
                                       "(a|a)*b",
                                       "(a+)+$x",
                                       "((a{0,30}){0,15})b",
                                       "(a?){100}a{100}b",
                                       "(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)x",
                                       "(a|b)*a(a|b){30}x",
                                       "(()*)*b",
                                       "(|a|aa)+b",
                                       "^(a|aa|aaa)*$y"};
    static char name[1001];
    (void)state;
    fill(name, 1000, "a");
    double start = seconds();
    for (size_t i = 0; i < sizeof evil / sizeof *evil; i++)
        for (unsigned again = 0; again < 20; again++)
            assert_false(covers("regex", evil[i], name));
    for (unsigned again = 0; again < 20; again++)
        assert_false(covers("glob", "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", name));
    assert_true(seconds() - start < 20);
    /* Names beyond what a symbol may have are not searched. */
    char *longer = malloc(1 << 20);
    assert_non_null(longer);
    fill(longer, (1 << 20) - 1, "a");
    assert_false(covers("regex", "a.*", longer));
    free(longer);
}

static void many_rules_for_one_name_do_not_slow_down(void **state)
{
    enum {
        RULES = 20000
    };
    char *line = malloc(RULES * 8 + 1);
    struct specs specs;
    (void)state;
    assert_non_null(line);
    fill(line, RULES * 8, "f@arg01;");
    open_line(&specs, "regex", line);
    double start = seconds();
    for (unsigned i = 0; i < 20000; i++)
        assert_non_null(lode_uft_specs_find(specs.specs, "f", "p", false));
    assert_true(seconds() - start < 20);
    assert_string_equal(show(&specs, "f", "p"), "1");
    specs_close(&specs);
    free(line);
}

static void a_function_has_no_more_values_than_a_record_holds(void **state)
{
    struct specs specs;
    char line[4096] = "f@arg1";
    (void)state;
    for (unsigned i = 2; i <= 128; i++)
        snprintf(line + strlen(line), sizeof line - strlen(line), ",arg%u", i);
    open_line(&specs, "regex", line);
    assert_int_equal(specs.findings, 0);
    assert_non_null(lode_uft_specs_find(specs.specs, "f", "p", false));
    specs_close(&specs);
    strcat(line, ",arg129");
    open_line(&specs, "regex", line);
    assert_int_equal(specs.findings, 1);
    specs_close(&specs);
    /* Two rules that are small enough by themselves. */
    snprintf(strstr(line, ",arg129"), 32, ";f@arg200");
    open_line(&specs, "regex", line);
    assert_int_equal(specs.findings, 0);
    assert_null(lode_uft_specs_find(specs.specs, "f", "p", false));
    specs_close(&specs);
}

/* ---- .dbg files ---- */

static struct lode_uft_debug read_debug(struct specs *specs, const char *text)
{
    struct lode_uft_debug debug;
    struct lode_range bytes = {(const uint8_t *)text, strlen(text)};
    open_line(specs, "regex", NULL);
    assert_int_equal(
        lode_uft_debug_read(&debug, bytes, "prog.dbg", specs->specs, &specs->arena, &specs->report), LODE_OK);
    return debug;
}

static void debug_files_give_places_and_values(void **state)
{
    struct specs specs;
    struct lode_uft_debug debug =
        read_debug(&specs, "# path name: /opt/prog\n# build-id: 0123\n"
                           "E: enum color {RED=1,GREEN,BLUE=8}\n"
                           "F: 2000 ns::late\nL: 20 b c.cc\nR: @retval/e:color\n"
                           "F: 11e9 leaf\nL: 5 abc.c\nA: @arg1/x%rdi,fparg1/64%xmm0\n"
                           "F: 11e9 alias\nL: 6 abc.c\nR: @retval/i32\n"
                           "F: 3000 bare");
    (void)state;
    assert_int_equal(specs.findings, 0);
    assert_int_equal(debug.count, 3);
    const struct lode_uft_debug_entry *leaf = lode_uft_debug_find(&debug, 0x11e9);
    assert_int_equal(leaf->line, 5);
    assert_string_equal(leaf->file, "abc.c");
    assert_non_null(leaf->result);
    assert_string_equal(specs_show(&specs, leaf->arguments, payload, 16), "0x1, 0.000000");
    const struct lode_uft_debug_entry *late = lode_uft_debug_find(&debug, 0x2000);
    assert_string_equal(late->file, "b c.cc");
    assert_null(late->arguments);
    assert_string_equal(specs_show(&specs, late->result, payload, 8), "RED");
    assert_null(lode_uft_debug_find(&debug, 0x3000)->file);
    assert_null(lode_uft_debug_find(&debug, 0x3001));
    assert_null(lode_uft_debug_find(&debug, 0));
    specs_close(&specs);
}

static void malformed_lines_of_debug_files_are_findings(void **state)
{
    static const char *const bad[] = {"F: xyz name",  "L: x abc.c", "L: 5",       "L: 99999999999 abc.c",
                                      "A: arg1",      "A: @",       "A: @arg1/q", "R: @libfoo,retval",
                                      "E: color {A}", "Q: what",    "L:5 abc.c"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct specs specs;
        char text[256];
        snprintf(text, sizeof text, "F: 10 f\n%s\nF: 20 g\nA: @arg1\n", bad[i]);
        struct lode_uft_debug debug = read_debug(&specs, text);
        if (specs.findings != 1)
            fail_msg("%s: %llu findings", bad[i], (unsigned long long)specs.findings);
        assert_non_null(lode_uft_debug_find(&debug, 0x20)->arguments);
        specs_close(&specs);
    }
    struct specs specs;
    struct lode_uft_debug debug = read_debug(&specs, "A: @arg1\nL: 3 x\n");
    assert_int_equal(specs.findings, 2);
    assert_int_equal(debug.count, 0);
    specs_close(&specs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_as_the_recorder_says),
        cmocka_unit_test(patterns_match_as_the_c_library_does),
        cmocka_unit_test(malformed_pieces_are_findings_and_left_out),
        cmocka_unit_test(registers_triggers_and_empty_pieces_do_no_harm),
        cmocka_unit_test(rules_add_up_in_their_order),
        cmocka_unit_test(a_module_restricts_a_rule),
        cmocka_unit_test(what_was_asked_for_goes_before_debug_before_automatic),
        cmocka_unit_test(names_lose_parameters_and_template_arguments),
        cmocka_unit_test(no_name_takes_long),
        cmocka_unit_test(patterns_that_are_too_large_are_findings),
        cmocka_unit_test(no_pattern_takes_long),
        cmocka_unit_test(many_rules_for_one_name_do_not_slow_down),
        cmocka_unit_test(a_function_has_no_more_values_than_a_record_holds),
        cmocka_unit_test(debug_files_give_places_and_values),
        cmocka_unit_test(malformed_lines_of_debug_files_are_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
