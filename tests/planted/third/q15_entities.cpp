// SPDX-License-Identifier: BSD-3-Clause
// Game logic: projectiles refer to their targets by entity id; each hit looks
// up the target entity and applies damage.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <unordered_map>
#include <vector>

namespace {

constexpr int kEntities = 6000;
constexpr int kFrames = 84;
constexpr int kHitsPerFrame = 2500;

struct Entity {
    uint32_t id;
    float x, y, z;
    float health;
    int32_t armor;
    uint32_t team;
    uint32_t hits;
    float velocity[3];
    uint32_t flags;
};

struct Hit {
    uint32_t target;
    float damage;
};

struct World {
    std::vector<Entity> entities;
#ifdef FIX
    std::unordered_map<uint32_t, size_t> index;
#endif
};

} // namespace

__attribute__((noinline)) void spawn_entities(World &w)
{
    uint32_t id = 1;
    for (int i = 0; i < kEntities; i++) {
        id = id * 1664525u + 1013904223u;
        Entity e{};
        e.id = id;
        e.x = float(i % 100);
        e.y = float(i / 100);
        e.health = 1000.0f;
        e.armor = i % 10;
        e.team = i & 1;
        e.velocity[0] = 0.01f * (i % 7);
        e.velocity[1] = 0.02f * (i % 5);
#ifdef FIX
        w.index[id] = w.entities.size();
#endif
        w.entities.push_back(e);
    }
}

__attribute__((noinline)) Entity *find_entity(World &w, uint32_t id)
{
#ifdef FIX
    auto it = w.index.find(id);
    return it == w.index.end() ? nullptr : &w.entities[it->second];
#else
    for (auto &e : w.entities)
        if (e.id == id)
            return &e;
    return nullptr;
#endif
}

__attribute__((noinline)) void collect_hits(const World &w, int frame, std::vector<Hit> &hits)
{
    uint32_t s = frame * 7919 + 1;
    hits.clear();
    for (int i = 0; i < kHitsPerFrame; i++) {
        s = s * 1103515245u + 12345u;
        hits.push_back({w.entities[(s >> 8) % kEntities].id, float((s >> 20) % 50)});
    }
}

__attribute__((noinline)) void apply_hits(World &w, const std::vector<Hit> &hits)
{
    for (const Hit &h : hits) {
        Entity *e = find_entity(w, h.target);
        if (!e)
            continue;
        e->health -= h.damage / (1 + e->armor);
        e->hits++;
    }
}

__attribute__((noinline)) void move_entities(World &w)
{
    for (auto &e : w.entities)
        for (int s = 0; s < 60; s++) {
            e.x += e.velocity[0] * 0.016f;
            e.y += e.velocity[1] * 0.016f;
            e.z += std::sqrt(e.x * e.x + e.y * e.y) * 0.001f;
        }
}

int main()
{
    World w;
    std::vector<Hit> hits;
    spawn_entities(w);
    for (int f = 0; f < kFrames; f++) {
        collect_hits(w, f, hits);
        apply_hits(w, hits);
        move_entities(w);
    }
    double health = 0, z = 0;
    uint64_t n = 0;
    for (const auto &e : w.entities) {
        health += e.health;
        n += e.hits;
        z += e.z;
    }
    std::printf("hits %llu health %.2f z %.2f\n", (unsigned long long)n, health, z);
    return 0;
}
