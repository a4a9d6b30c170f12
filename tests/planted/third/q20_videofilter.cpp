// SPDX-License-Identifier: BSD-3-Clause
// Video filter: each frame is converted to linear light, graded and packed
// again. Working buffers hold four float channels per pixel.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace {

constexpr int kWidth = 2048;
constexpr int kHeight = 1152;
constexpr size_t kPixels = size_t(kWidth) * kHeight;
constexpr int kFrames = 8;

struct FloatFrame {
    float *data;
    FloatFrame() : data(static_cast<float *>(std::malloc(kPixels * 4 * sizeof(float)))) {}
    ~FloatFrame() { std::free(data); }
    FloatFrame(const FloatFrame &) = delete;
    FloatFrame &operator=(const FloatFrame &) = delete;
};

struct Grade {
    float gain[4] = {1.1f, 0.9f, 1.05f, 1.0f};
    float lift[4] = {0.01f, 0.0f, 0.02f, 0.0f};
};

float g_linear[256];

} // namespace

__attribute__((noinline)) void decode_frame(uint8_t *packed, int n)
{
    for (size_t i = 0; i < kPixels * 4; i++)
        packed[i] = uint8_t(i * 3 + n * 7);
}

__attribute__((noinline)) void to_linear(const uint8_t *packed, FloatFrame &out)
{
    for (size_t i = 0; i < kPixels * 4; i++)
        out.data[i] = g_linear[packed[i]];
}

__attribute__((noinline)) void apply_grade(const FloatFrame &in, FloatFrame &out, const Grade &g)
{
    for (size_t i = 0; i < kPixels; i++)
        for (int c = 0; c < 4; c++)
            out.data[4 * i + c] = in.data[4 * i + c] * g.gain[c] + g.lift[c];
}

__attribute__((noinline)) uint64_t pack_frame(const FloatFrame &in, uint8_t *packed)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < kPixels * 4; i++) {
        const float v = in.data[i] * 255.0f;
        packed[i] = v > 255.0f ? 255 : uint8_t(v);
        sum += packed[i];
    }
    return sum;
}

#ifdef FIX
__attribute__((noinline)) uint64_t process_frame(uint8_t *packed, const Grade &g)
{
    static FloatFrame linear, graded;
    to_linear(packed, linear);
    apply_grade(linear, graded, g);
    return pack_frame(graded, packed);
}
#else
__attribute__((noinline)) uint64_t process_frame(uint8_t *packed, const Grade &g)
{
    FloatFrame linear, graded;
    to_linear(packed, linear);
    apply_grade(linear, graded, g);
    return pack_frame(graded, packed);
}
#endif

int main()
{
    std::unique_ptr<uint8_t[]> packed(new uint8_t[kPixels * 4]);
    Grade g;
    for (int i = 0; i < 256; i++)
        g_linear[i] = (i / 255.0f) * (i / 255.0f);
    uint64_t sum = 0;
    for (int n = 0; n < kFrames; n++) {
        decode_frame(packed.get(), n);
        sum += process_frame(packed.get(), g);
    }
    std::printf("frames %d sum %llu\n", kFrames, (unsigned long long)sum);
    return 0;
}
