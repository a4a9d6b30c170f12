// SPDX-License-Identifier: BSD-3-Clause
// Image processing: separable box blur of a large single-channel image,
// a horizontal pass followed by a vertical pass.
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr int kWidth = 3072;
constexpr int kHeight = 3072;
constexpr int kRadius = 6;
constexpr int kRounds = 2;

struct Image {
    std::vector<float> px = std::vector<float>(size_t(kWidth) * kHeight);
    float &at(int x, int y) { return px[size_t(y) * kWidth + x]; }
    float at(int x, int y) const { return px[size_t(y) * kWidth + x]; }
};

} // namespace

__attribute__((noinline)) void load_image(Image &img)
{
    uint32_t s = 1;
    for (auto &p : img.px) {
        s = s * 1664525u + 1013904223u;
        p = float(s >> 24);
    }
}

__attribute__((noinline)) void blur_horizontal(const Image &in, Image &out)
{
    constexpr float norm = 1.0f / (2 * kRadius + 1);
    for (int y = 0; y < kHeight; y++) {
        float sum = 0;
        for (int x = -kRadius; x < kWidth; x++) {
            if (x + kRadius < kWidth)
                sum += in.at(x + kRadius, y);
            if (x - kRadius - 1 >= 0)
                sum -= in.at(x - kRadius - 1, y);
            if (x >= 0)
                out.at(x, y) = sum * norm;
        }
    }
}

#ifdef FIX
__attribute__((noinline)) void blur_vertical(const Image &in, Image &out)
{
    constexpr float norm = 1.0f / (2 * kRadius + 1);
    std::vector<float> sum(kWidth, 0.0f);
    for (int y = -kRadius; y < kHeight; y++) {
        if (y + kRadius < kHeight)
            for (int x = 0; x < kWidth; x++)
                sum[x] += in.at(x, y + kRadius);
        if (y - kRadius - 1 >= 0)
            for (int x = 0; x < kWidth; x++)
                sum[x] -= in.at(x, y - kRadius - 1);
        if (y >= 0)
            for (int x = 0; x < kWidth; x++)
                out.at(x, y) = sum[x] * norm;
    }
}
#else
__attribute__((noinline)) void blur_vertical(const Image &in, Image &out)
{
    constexpr float norm = 1.0f / (2 * kRadius + 1);
    for (int x = 0; x < kWidth; x++) {
        float sum = 0;
        for (int y = -kRadius; y < kHeight; y++) {
            if (y + kRadius < kHeight)
                sum += in.at(x, y + kRadius);
            if (y - kRadius - 1 >= 0)
                sum -= in.at(x, y - kRadius - 1);
            if (y >= 0)
                out.at(x, y) = sum * norm;
        }
    }
}
#endif

__attribute__((noinline)) double mean(const Image &img)
{
    double s = 0;
    for (float p : img.px)
        s += p;
    return s / img.px.size();
}

int main()
{
    Image a, b;
    load_image(a);
    for (int r = 0; r < kRounds; r++) {
        blur_horizontal(a, b);
        blur_vertical(b, a);
    }
    std::printf("mean %.4f sample %.4f\n", mean(a), a.at(100, 200));
    return 0;
}
