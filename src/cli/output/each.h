/* SPDX-License-Identifier: BSD-3-Clause */
/* Macros with one call for each argument: at most 16 values or 12 pairs; used by out.h only. */
#ifndef CLI_EACH_H
#define CLI_EACH_H

#define OUT_COUNT_AT_(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19,  \
                      _20, _21, _22, _23, _24, count, ...)                                                   \
    count
#define OUT_COUNT_(...)                                                                                      \
    OUT_COUNT_AT_(__VA_ARGS__, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, \
                  3, 2, 1, 0)
#define OUT_PASTE_(a, b)  a##b
#define OUT_EACH_(count)  OUT_PASTE_(OUT_EACH_, count)
#define OUT_PAIRS_(count) OUT_PASTE_(OUT_PAIRS_, count)

#define OUT_EACH_1(f, o, a)       f(o, a)
#define OUT_EACH_2(f, o, a, ...)  (f(o, a), OUT_EACH_1(f, o, __VA_ARGS__))
#define OUT_EACH_3(f, o, a, ...)  (f(o, a), OUT_EACH_2(f, o, __VA_ARGS__))
#define OUT_EACH_4(f, o, a, ...)  (f(o, a), OUT_EACH_3(f, o, __VA_ARGS__))
#define OUT_EACH_5(f, o, a, ...)  (f(o, a), OUT_EACH_4(f, o, __VA_ARGS__))
#define OUT_EACH_6(f, o, a, ...)  (f(o, a), OUT_EACH_5(f, o, __VA_ARGS__))
#define OUT_EACH_7(f, o, a, ...)  (f(o, a), OUT_EACH_6(f, o, __VA_ARGS__))
#define OUT_EACH_8(f, o, a, ...)  (f(o, a), OUT_EACH_7(f, o, __VA_ARGS__))
#define OUT_EACH_9(f, o, a, ...)  (f(o, a), OUT_EACH_8(f, o, __VA_ARGS__))
#define OUT_EACH_10(f, o, a, ...) (f(o, a), OUT_EACH_9(f, o, __VA_ARGS__))
#define OUT_EACH_11(f, o, a, ...) (f(o, a), OUT_EACH_10(f, o, __VA_ARGS__))
#define OUT_EACH_12(f, o, a, ...) (f(o, a), OUT_EACH_11(f, o, __VA_ARGS__))
#define OUT_EACH_13(f, o, a, ...) (f(o, a), OUT_EACH_12(f, o, __VA_ARGS__))
#define OUT_EACH_14(f, o, a, ...) (f(o, a), OUT_EACH_13(f, o, __VA_ARGS__))
#define OUT_EACH_15(f, o, a, ...) (f(o, a), OUT_EACH_14(f, o, __VA_ARGS__))
#define OUT_EACH_16(f, o, a, ...) (f(o, a), OUT_EACH_15(f, o, __VA_ARGS__))

#define OUT_PAIRS_2(o, k, v)       OUT_FIELD_(o, k, v)
#define OUT_PAIRS_4(o, k, v, ...)  (OUT_FIELD_(o, k, v), OUT_PAIRS_2(o, __VA_ARGS__))
#define OUT_PAIRS_6(o, k, v, ...)  (OUT_FIELD_(o, k, v), OUT_PAIRS_4(o, __VA_ARGS__))
#define OUT_PAIRS_8(o, k, v, ...)  (OUT_FIELD_(o, k, v), OUT_PAIRS_6(o, __VA_ARGS__))
#define OUT_PAIRS_10(o, k, v, ...) (OUT_FIELD_(o, k, v), OUT_PAIRS_8(o, __VA_ARGS__))
#define OUT_PAIRS_12(o, k, v, ...) (OUT_FIELD_(o, k, v), OUT_PAIRS_10(o, __VA_ARGS__))
#define OUT_PAIRS_14(o, k, v, ...) (OUT_FIELD_(o, k, v), OUT_PAIRS_12(o, __VA_ARGS__))
#define OUT_PAIRS_16(o, k, v, ...) (OUT_FIELD_(o, k, v), OUT_PAIRS_14(o, __VA_ARGS__))
#define OUT_PAIRS_18(o, k, v, ...) (OUT_FIELD_(o, k, v), OUT_PAIRS_16(o, __VA_ARGS__))
#define OUT_PAIRS_20(o, k, v, ...) (OUT_FIELD_(o, k, v), OUT_PAIRS_18(o, __VA_ARGS__))
#define OUT_PAIRS_22(o, k, v, ...) (OUT_FIELD_(o, k, v), OUT_PAIRS_20(o, __VA_ARGS__))
#define OUT_PAIRS_24(o, k, v, ...) (OUT_FIELD_(o, k, v), OUT_PAIRS_22(o, __VA_ARGS__))

#endif
