// SPDX-License-Identifier: BSD-3-Clause
// A map viewer walks over its tiles again and again through an LRU cache.
#include <cstdint>
#include <cstdio>
#include <list>
#include <unordered_map>
#include <vector>

using Tile = std::vector<uint8_t>;

#ifdef FIX
static const size_t cache_capacity = 72;
#else
static const size_t cache_capacity = 60;
#endif

__attribute__((noinline)) Tile decode_tile(int id)
{
    Tile t(4096);
    uint32_t x = id + 1;
    for (auto &b : t) {
        for (int i = 0; i < 16; ++i)
            x = x * 1664525u + 1013904223u + (x >> 17);
        b = x >> 24;
    }
    return t;
}

class TileCache {
public:
    const Tile &get(int id);
private:
    struct Entry { int id; Tile tile; };
    std::list<Entry> order;
    std::unordered_map<int, std::list<Entry>::iterator> index;
};

__attribute__((noinline)) const Tile &TileCache::get(int id)
{
    auto found = index.find(id);
    if (found != index.end()) {
        order.splice(order.begin(), order, found->second);
        return order.front().tile;
    }
    if (order.size() >= cache_capacity) {
        index.erase(order.back().id);
        order.pop_back();
    }
    order.push_front({id, decode_tile(id)});
    index[id] = order.begin();
    return order.front().tile;
}

__attribute__((noinline)) uint32_t draw_tile(const Tile &t, int frame)
{
    uint32_t h = frame;
    for (uint8_t b : t)
        h = h * 33 + b;
    return h;
}

__attribute__((noinline)) uint64_t draw_view(TileCache &cache, int frame)
{
    uint64_t sum = 0;
    for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 8; ++x)
            sum += draw_tile(cache.get(y * 8 + x), frame);
    return sum;
}

int main()
{
    TileCache cache;
    uint64_t sum = 0;
    for (int frame = 0; frame < 140; ++frame)
        sum += draw_view(cache, frame);
    std::printf("view %llu\n", (unsigned long long)sum);
    return 0;
}
