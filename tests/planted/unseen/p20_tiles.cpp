// SPDX-License-Identifier: BSD-3-Clause
// Map viewer: decodes tiles through an LRU cache while panning over the map.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

constexpr int kTile = 64;
using Tile = std::vector<float>;

__attribute__((noinline)) static std::shared_ptr<Tile> decode_tile(int id)
{
    auto t = std::make_shared<Tile>(kTile * kTile);
    uint32_t x = id + 1;
    for (auto &e : *t)
        e = float((x = x * 1664525u + 1013904223u) >> 16) / 65536.0f;
    for (int pass = 0; pass < 40; pass++)
        for (int i = 1; i < kTile * kTile - 1; i++)
            (*t)[i] = ((*t)[i - 1] + 2 * (*t)[i] + (*t)[i + 1]) * 0.25f;
    return t;
}

class TileCache {
    using Entry = std::pair<int, std::shared_ptr<Tile>>;
    size_t capacity_;
    std::list<Entry> lru_;
    std::unordered_map<int, std::list<Entry>::iterator> map_;

public:
    explicit TileCache(size_t capacity) : capacity_(capacity) {}

    __attribute__((noinline)) std::shared_ptr<Tile> get(int id)
    {
        auto it = map_.find(id);
        if (it != map_.end()) {
            lru_.splice(lru_.begin(), lru_, it->second);
            return it->second->second;
        }
        auto t = decode_tile(id);
        lru_.emplace_front(id, t);
        map_[id] = lru_.begin();
        if (lru_.size() > capacity_) {
            map_.erase(lru_.back().first);
            lru_.pop_back();
        }
        return t;
    }
};

__attribute__((noinline)) static double draw_tile(const Tile &t, int frame)
{
    double s = 0;
    for (int layer = 0; layer < 8; layer++)
        for (int i = 0; i < kTile * kTile; i++)
            s += t[i] * ((i + frame + layer) & 7);
    return s;
}

int main()
{
    // The view shows 10 x 10 tiles, drawn in the same order in every frame.
    constexpr int kView = 100, kFrames = 12;
#ifdef FIX
    TileCache cache(128);
#else
    TileCache cache(96);
#endif
    double sum = 0;
    for (int frame = 0; frame < kFrames; frame++)
        for (int i = 0; i < kView; i++)
            sum += draw_tile(*cache.get(i), frame);
    printf("sum %.3f\n", sum);
}
