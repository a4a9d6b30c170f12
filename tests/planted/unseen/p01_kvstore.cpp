// SPDX-License-Identifier: BSD-3-Clause
// In-memory key/value store: writer threads store packed, checksummed blobs.
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Blob {
    std::vector<uint8_t> bytes;
    uint64_t sum = 0;
};

__attribute__((noinline)) static std::vector<uint8_t> pack_rle(const std::vector<uint8_t> &in)
{
    std::vector<uint8_t> out;
    out.reserve(in.size() * 2);
    for (size_t i = 0; i < in.size();) {
        size_t j = i + 1;
        while (j < in.size() && j - i < 255 && in[j] == in[i])
            j++;
        out.push_back(uint8_t(j - i));
        out.push_back(in[i]);
        i = j;
    }
    return out;
}

__attribute__((noinline)) static uint64_t checksum(const std::vector<uint8_t> &v)
{
    uint64_t h = 1469598103934665603ull;
    for (int round = 0; round < 6; round++)
        for (uint8_t b : v)
            h = (h ^ b) * 1099511628211ull;
    return h;
}

class Store {
    std::mutex mu_;
    std::map<std::string, Blob> data_;

public:
    __attribute__((noinline)) void put(const std::string &key, const std::vector<uint8_t> &value)
    {
#ifdef FIX
        Blob b;
        b.bytes = pack_rle(value);
        b.sum = checksum(b.bytes);
        std::lock_guard<std::mutex> g(mu_);
        data_[key] = std::move(b);
#else
        std::lock_guard<std::mutex> g(mu_);
        Blob &b = data_[key];
        b.bytes = pack_rle(value);
        b.sum = checksum(b.bytes);
#endif
    }

    __attribute__((noinline)) uint64_t digest()
    {
        uint64_t d = 0;
        std::lock_guard<std::mutex> g(mu_);
        for (auto &[k, b] : data_)
            d = d * 31 + b.sum + b.bytes.size();
        return d;
    }
};

__attribute__((noinline)) static void make_value(std::vector<uint8_t> &v, uint32_t seed)
{
    for (size_t i = 0; i < v.size(); i++) {
        if (i % 3 == 0)
            seed = seed * 1664525u + 1013904223u;
        v[i] = uint8_t(seed >> 24);
    }
}

__attribute__((noinline)) static void writer(Store &s, int id, int count)
{
    std::vector<uint8_t> v(6000);
    for (int i = 0; i < count; i++) {
        make_value(v, uint32_t(id * 100000 + i));
        s.put("w" + std::to_string(id) + ":" + std::to_string(i % 500), v);
    }
}

int main()
{
    Store s;
    std::vector<std::thread> t;
    for (int i = 0; i < 2; i++)
        t.emplace_back(writer, std::ref(s), i, 8000);
    for (auto &x : t)
        x.join();
    printf("digest %016llx\n", (unsigned long long)s.digest());
}
