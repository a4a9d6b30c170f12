/* SPDX-License-Identifier: BSD-3-Clause */
/* Items of CBOR, with libcbor as a second opinion. */
#include "format/zorka/chunks/cbor.h"
#include "unit.h"
#include <cbor.h>
#include <string.h>

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Items that libcbor accepts are skipped with the same length, and vice versa. */
static void items_are_what_libcbor_takes_for_them(void **state)
{
    static const uint8_t firsts[] = {0x00, 0x18, 0x1b, 0x20, 0x38, 0x41, 0x5f, 0x61, 0x7f, 0x80, 0x82, 0x9f,
                                     0xa0, 0xa1, 0xbf, 0xc6, 0xd8, 0xf4, 0xf6, 0xf9, 0xfa, 0xfb, 0xff, 0x01};
    uint64_t random = 7;
    unsigned whole = 0;
    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        uint8_t bytes[12];
        struct cbor_load_result result;
        for (size_t k = 0; k < sizeof bytes; k++) {
            uint64_t number = next_random(&random) >> 20;
            bytes[k] = number & 1 ? firsts[(number >> 1) % sizeof firsts] : (uint8_t)(number >> 8);
            /* libcbor wants text to be UTF-8; here, that is for those who print it. */
            if (bytes[k] >> 5 == ZOR_TEXT)
                bytes[k] ^= 0x20;
            /* It allocates what a length says: only short ones. */
            if (bytes[k] >> 5 >= ZOR_BYTES && bytes[k] >> 5 <= ZOR_MAP && (bytes[k] & 0x1f) >= 24 &&
                (bytes[k] & 0x1f) < 31)
                bytes[k] ^= 0x1b;
            /* libcbor 0.8 knows no tags from 6 to 20. */
            if (bytes[k] >= 0xc6 && bytes[k] <= 0xd4)
                bytes[k] = 0xc1;
        }
        struct zor_input in = {bytes, sizeof bytes, 0};
        cbor_item_t *item = cbor_load(bytes, sizeof bytes, &result);
        bool is_item = lode_zor_skip(&in);
        bool differs = (item != NULL) != is_item || (item && in.at != result.read);
        /* It has no simple values but the known ones, and takes f8 with any of those. */
        for (size_t k = 0; differs && k < sizeof bytes; k++)
            if (bytes[k] >= 0xe0 && bytes[k] <= 0xf8 && !(bytes[k] >= 0xf4 && bytes[k] <= 0xf7))
                differs = false;
        if (differs)
            fail_msg("item %u: %d bytes by libcbor, %d here; begins %02x %02x %02x %02x", i,
                     item ? (int)result.read : -1, is_item ? (int)in.at : -1, bytes[0], bytes[1], bytes[2],
                     bytes[3]);
        whole += is_item;
        if (item)
            cbor_decref(&item);
    }
    assert_true(whole > 1000);
}

static void nesting_and_lengths_are_bounded(void **state)
{
    static uint8_t deep[4096];
    (void)state;
    for (unsigned first = 0; first < 4; first++) {
        static const uint8_t nesting[] = {0x81, 0x9f, 0xc6, 0xbf};
        memset(deep, nesting[first], sizeof deep);
        struct zor_input in = {deep, sizeof deep, 0};
        assert_false(lode_zor_skip(&in));
        assert_int_equal(in.at, 0);
    }
    memset(deep, 0x81, ZOR_NESTING_MAX);
    deep[ZOR_NESTING_MAX] = 0x00;
    struct zor_input in = {deep, sizeof deep, 0};
    assert_true(lode_zor_skip(&in));
    assert_int_equal(in.at, ZOR_NESTING_MAX + 1);
    for (unsigned first = 2; first < 6; first++) {
        const uint8_t huge[] = {
            (uint8_t)(first << 5 | 27), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0};
        struct zor_input long_one = {huge, sizeof huge, 0};
        assert_false(lode_zor_skip(&long_one));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_what_libcbor_takes_for_them),
        cmocka_unit_test(nesting_and_lengths_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
