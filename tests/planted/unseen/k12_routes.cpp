// SPDX-License-Identifier: BSD-3-Clause
// Healthy: shortest routes over a road grid by Dijkstra's algorithm with a heap.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

struct Edge {
    uint32_t to, cost;
};

class Graph {
    std::vector<uint32_t> first_;
    std::vector<Edge> edges_;

public:
    __attribute__((noinline)) explicit Graph(uint32_t w, uint32_t h)
    {
        uint32_t x = 5;
        edges_.reserve(size_t(w) * h * 4);
        for (uint32_t r = 0; r < h; r++)
            for (uint32_t c = 0; c < w; c++) {
                uint32_t n = r * w + c;
                first_.push_back(uint32_t(edges_.size()));
                auto add = [&](uint32_t to) {
                    x = x * 1664525u + 1013904223u;
                    edges_.push_back({to, (x >> 20) % 90 + 10});
                };
                if (c + 1 < w)
                    add(n + 1);
                if (c > 0)
                    add(n - 1);
                if (r + 1 < h)
                    add(n + w);
                if (r > 0)
                    add(n - w);
            }
        first_.push_back(uint32_t(edges_.size()));
    }
    uint32_t size() const { return uint32_t(first_.size() - 1); }

    __attribute__((noinline)) std::vector<uint32_t> distances(uint32_t from) const
    {
        using Item = std::pair<uint32_t, uint32_t>;
        std::vector<uint32_t> d(size(), std::numeric_limits<uint32_t>::max());
        std::priority_queue<Item, std::vector<Item>, std::greater<Item>> q;
        d[from] = 0;
        q.push({0, from});
        while (!q.empty()) {
            auto [dist, n] = q.top();
            q.pop();
            if (dist != d[n])
                continue;
            for (uint32_t e = first_[n]; e < first_[n + 1]; e++) {
                uint32_t nd = dist + edges_[e].cost;
                if (nd < d[edges_[e].to]) {
                    d[edges_[e].to] = nd;
                    q.push({nd, edges_[e].to});
                }
            }
        }
        return d;
    }
};

int main()
{
    Graph g(300, 300);
    uint64_t sum = 0;
    for (uint32_t depot = 0; depot < 16; depot++) {
        auto d = g.distances((depot * 5000u + 77) % g.size());
        for (auto v : d)
            sum += v;
        printf("depot %u: farthest corner %u\n", depot, d.back());
    }
    printf("sum %llu\n", (unsigned long long)sum);
}
