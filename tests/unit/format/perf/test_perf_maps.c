/* SPDX-License-Identifier: BSD-3-Clause */
/* Versions of mappings against a table with an entry for each address. */
#include "format/perf/read/maps.h"
#include "unit.h"
#include <string.h>

enum {
    ADDRESSES = 256,
    OPERATIONS = 10000,
    VERSIONS = 400,
    MODULES = 5
};

/* What is mapped at each address, as the number of the insertion; 0: nothing. */
struct table {
    uint16_t owner[ADDRESSES];
};

/* What was inserted. */
struct inserted {
    uint64_t shift;
    uint32_t module;
};

struct version {
    struct table table;
    uint32_t root;
};

struct world {
    struct perf_maps maps;
    struct inserted inserted[OPERATIONS + 1];
    uint16_t count;
    struct version now, kept[VERSIONS];
    uint32_t edition;
    size_t kept_count;
    uint64_t random;
};

/* xorshift64*: the same on every machine. */
static uint32_t below(struct world *world, uint32_t most)
{
    world->random ^= world->random >> 12;
    world->random ^= world->random << 25;
    world->random ^= world->random >> 27;
    return (uint32_t)(world->random * UINT64_C(0x2545f4914f6cdd1d) >> 33) % most;
}

static void compare_at(const struct world *world, const struct version *version, uint32_t address)
{
    const struct perf_mapping *found = lode_perf_maps_find(&world->maps, version->root, address);
    uint16_t owner = version->table.owner[address];
    assert_int_equal(found != NULL, owner != 0);
    if (found == NULL)
        return;
    assert_true(found->start <= address && address < found->end);
    assert_int_equal(found->module, world->inserted[owner].module);
    assert_int_equal(found->shift, world->inserted[owner].shift);
}

static void compare(const struct world *world, const struct version *version)
{
    for (uint32_t address = 0; address < ADDRESSES; address++)
        compare_at(world, version, address);
}

static void insert(struct world *world)
{
    uint32_t start = below(world, ADDRESSES - 1), size = 1 + below(world, ADDRESSES - start);
    uint16_t number = ++world->count;
    /* Most are small, so that there are many. */
    size = size > 12 && below(world, 8) ? 1 + below(world, 12) : size;
    size = size > ADDRESSES - start ? ADDRESSES - start : size;
    struct perf_mapping mapping = {start, (uint64_t)start + size, below(world, 1000), below(world, MODULES),
                                   true};
    world->inserted[number] = (struct inserted){mapping.shift, mapping.module};
    assert_true(lode_perf_maps_insert(&world->maps, &world->now.root, world->edition, &mapping));
    for (uint32_t address = start; address < start + size; address++)
        world->now.table.owner[address] = number;
}

/* A piece of a mapping is removed if it begins there and is of the module. */
static void remove_any(struct world *world)
{
    uint32_t start = below(world, ADDRESSES), module = below(world, MODULES);
    uint16_t *owner = world->now.table.owner, number = owner[start];
    assert_true(lode_perf_maps_remove(&world->maps, &world->now.root, world->edition, start, module));
    bool begins = number && (start == 0 || owner[start - 1] != number);
    if (!begins || world->inserted[number].module != module)
        return;
    for (uint32_t address = start; address < ADDRESSES && owner[address] == number; address++)
        owner[address] = 0;
}

/* The version stays as it is; sometimes an old one goes on, as a forked process does. */
static void keep(struct world *world)
{
    size_t slot = world->kept_count < VERSIONS ? world->kept_count++ : below(world, VERSIONS);
    world->kept[slot] = world->now;
    if (below(world, 4) == 0)
        world->now = world->kept[below(world, (uint32_t)world->kept_count)];
    world->edition = lode_perf_maps_edition(&world->maps);
}

static void versions_are_what_a_table_says(void **state)
{
    static struct world world;
    (void)state;
    world.random = 0x5eed;
    assert_true(lode_perf_maps_init(&world.maps, SIZE_MAX));
    world.edition = lode_perf_maps_edition(&world.maps);
    for (unsigned i = 0; i < OPERATIONS; i++) {
        if (below(&world, 5) == 0)
            remove_any(&world);
        else
            insert(&world);
        for (unsigned j = 0; j < 8; j++)
            compare_at(&world, &world.now, below(&world, ADDRESSES));
        if (below(&world, 3) == 0)
            keep(&world);
        if (i % 1000 == 0)
            compare(&world, &world.now);
    }
    for (size_t i = 0; i < world.kept_count; i++)
        compare(&world, &world.kept[i]);
    /* An operation copies a few paths of a tree of 100 mappings at most, not the tree. */
    print_message("# %zu nodes\n", world.maps.nodes.count);
    assert_true(world.maps.nodes.count < (size_t)OPERATIONS * 30);
    lode_perf_maps_free(&world.maps);
}

/* Many, by rising address, as the kernel lists them: no tree becomes a list. */
static void trees_stay_shallow(void **state)
{
    enum {
        MAPPINGS = 30000
    };
    struct perf_maps maps;
    uint32_t root = 0;
    (void)state;
    assert_true(lode_perf_maps_init(&maps, SIZE_MAX));
    for (uint64_t i = 0; i < MAPPINGS; i++) {
        struct perf_mapping mapping = {i * 16, i * 16 + 8, 0, 1, true};
        assert_true(lode_perf_maps_insert(&maps, &root, lode_perf_maps_edition(&maps), &mapping));
    }
    assert_non_null(lode_perf_maps_find(&maps, root, 16));
    assert_null(lode_perf_maps_find(&maps, root, 24));
    print_message("# %zu nodes for %d mappings\n", maps.nodes.count, MAPPINGS);
    assert_true(maps.nodes.count < (size_t)MAPPINGS * 64);
    lode_perf_maps_free(&maps);
}

static void nodes_are_limited(void **state)
{
    struct perf_maps maps;
    uint32_t root = 0;
    uint64_t count = 0;
    (void)state;
    assert_true(lode_perf_maps_init(&maps, 64));
    for (bool done = true; done && count < 1000; count++) {
        struct perf_mapping mapping = {count * 16, count * 16 + 8, 0, 1, true};
        done = lode_perf_maps_insert(&maps, &root, lode_perf_maps_edition(&maps), &mapping);
    }
    assert_true(count < 64);
    assert_int_equal(maps.nodes.count, 64);
    lode_perf_maps_free(&maps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_what_a_table_says),
        cmocka_unit_test(trees_stay_shallow),
        cmocka_unit_test(nodes_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
