// SPDX-License-Identifier: BSD-3-Clause
// Archiver: blocks of a data set are compressed (simple LZ scheme) in
// parallel with std::async.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <future>
#include <vector>

namespace {

constexpr size_t kBlock = 1 << 20;
constexpr int kBlocks = 56;

struct Block {
    std::vector<uint8_t> input;
    std::vector<uint8_t> output;
};

} // namespace

__attribute__((noinline)) void fill_block(Block &b, int id)
{
    uint32_t s = 17 + id;
    b.input.resize(kBlock);
    for (size_t i = 0; i < kBlock; i++) {
        if (i > 512 && (i >> 6) % 3 != 0) {
            b.input[i] = b.input[i - 300];
        } else {
            s = s * 1664525u + 1013904223u;
            b.input[i] = s >> 25;
        }
    }
}

__attribute__((noinline)) void compress_block(Block &b)
{
    std::vector<uint32_t> head(1 << 14, 0);
    std::vector<uint32_t> prev(kBlock, 0);
    const uint8_t *in = b.input.data();
    b.output.resize(kBlock);
    size_t o = 0, i = 1;
    b.output[o++] = in[0];
    while (i + 8 < kBlock) {
        uint32_t w;
        std::memcpy(&w, in + i, 4);
        const uint32_t h = (w * 2654435761u) >> 18;
        size_t best = 0, best_at = 0, cand = head[h];
        for (int depth = 0; cand && depth < 12 && i - cand < 65535; depth++) {
            size_t len = 0;
            while (len < 255 && i + len < kBlock && in[cand + len] == in[i + len])
                len++;
            if (len > best) {
                best = len;
                best_at = cand;
            }
            cand = prev[cand];
        }
        prev[i] = head[h];
        head[h] = i;
        if (best >= 4) {
            b.output[o++] = 0xff;
            b.output[o++] = best;
            b.output[o++] = (i - best_at) & 0xff;
            b.output[o++] = (i - best_at) >> 8;
            i += best;
        } else {
            b.output[o++] = in[i++];
        }
    }
    while (i < kBlock)
        b.output[o++] = in[i++];
    b.output.resize(o);
}

__attribute__((noinline)) uint32_t block_digest(const Block &b)
{
    uint32_t h = 2166136261u;
    for (uint8_t c : b.output)
        h = (h ^ c) * 16777619u;
    return h;
}

__attribute__((noinline)) void compress_all(std::vector<Block> &blocks)
{
#ifdef FIX
    for (size_t i = 0; i < blocks.size(); i += 2) {
        std::vector<std::future<void>> pending;
        for (size_t k = i; k < i + 2 && k < blocks.size(); k++)
            pending.push_back(
                std::async(std::launch::async, compress_block, std::ref(blocks[k])));
        for (auto &f : pending)
            f.get();
    }
#else
    for (auto &b : blocks)
        (void)std::async(std::launch::async, compress_block, std::ref(b));
#endif
}

int main()
{
    std::vector<Block> blocks(kBlocks);
    for (int i = 0; i < kBlocks; i++)
        fill_block(blocks[i], i);

    compress_all(blocks);

    size_t bytes = 0;
    uint32_t digest = 0;
    for (const auto &b : blocks) {
        bytes += b.output.size();
        digest = digest * 31 + block_digest(b);
    }
    std::printf("in %zu out %zu digest %08x\n", kBlock * kBlocks, bytes, digest);
    return 0;
}
