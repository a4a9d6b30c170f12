// SPDX-License-Identifier: BSD-3-Clause
// Asset build tool: writes asset files, asks for their line counts, makes a manifest.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;

struct Asset {
    fs::path path;
    long lines = 0;
    uint64_t hash = 0;
};

__attribute__((noinline)) static std::string slurp(const fs::path &p)
{
    std::ifstream f(p, std::ios::binary);
    std::string s(fs::file_size(p), '\0');
    f.read(s.data(), std::streamsize(s.size()));
    return s;
}

__attribute__((noinline)) static long count_lines(const fs::path &p)
{
#ifdef FIX
    std::string s = slurp(p);
    long n = 0;
    for (char c : s)
        n += c == '\n';
    return n;
#else
    std::string cmd = "wc -l < '" + p.string() + "'";
    FILE *f = popen(cmd.c_str(), "r");
    if (!f)
        throw std::runtime_error("popen");
    long n = 0;
    if (fscanf(f, "%ld", &n) != 1)
        n = -1;
    pclose(f);
    return n;
#endif
}

__attribute__((noinline)) static uint64_t content_hash(const std::string &s)
{
    uint64_t h = 1469598103934665603ull;
    for (int round = 0; round < 24; round++)
        for (char c : s)
            h = (h ^ uint8_t(c)) * 1099511628211ull;
    return h;
}

__attribute__((noinline)) static void write_asset(const fs::path &p, int i)
{
    std::ofstream f(p, std::ios::binary);
    for (int k = 0; k < 200 + i; k++)
        f << "vertex " << k << ' ' << k * i % 977 << '\n';
}

int main()
{
    char dir[] = "./assets_XXXXXX";
    if (!mkdtemp(dir))
        return 1;
    std::vector<Asset> assets(240);
    for (size_t i = 0; i < assets.size(); i++) {
        assets[i].path = fs::path(dir) / ("asset" + std::to_string(i) + ".obj");
        write_asset(assets[i].path, int(i));
    }
    uint64_t manifest = 0;
    for (auto &a : assets) {
        a.lines = count_lines(a.path);
        a.hash = content_hash(slurp(a.path));
        manifest = manifest * 31 + a.hash + uint64_t(a.lines);
    }
    fs::remove_all(dir);
    printf("manifest %016llx\n", (unsigned long long)manifest);
}
