// SPDX-License-Identifier: BSD-3-Clause
// Portal page: each page is assembled from the answers of five independent
// services (user, stock, news, weather, adverts) reached over sockets.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr int kServices = 5;
constexpr int kPages = 30;
constexpr int kReplyWords = 256;

struct Request {
    uint32_t page;
    uint32_t service;
};

struct Reply {
    uint32_t words[kReplyWords];
};

// response time of the remote service in microseconds
constexpr int kLatency[kServices] = {6000, 4500, 5500, 5000, 4000};

int g_client[kServices];

} // namespace

__attribute__((noinline)) void service_main(int id, int fd)
{
    Request rq;
    Reply rp;
    while (read(fd, &rq, sizeof(rq)) == (ssize_t)sizeof(rq)) {
        std::this_thread::sleep_for(std::chrono::microseconds(kLatency[id]));
        uint32_t s = rq.page * 977 + rq.service;
        for (auto &w : rp.words) {
            s = s * 1664525u + 1013904223u;
            w = s;
        }
        if (write(fd, &rp, sizeof(rp)) != (ssize_t)sizeof(rp))
            break;
    }
    close(fd);
}

__attribute__((noinline)) void send_request(int service, uint32_t page)
{
    const Request rq{page, uint32_t(service)};
    if (write(g_client[service], &rq, sizeof(rq)) != (ssize_t)sizeof(rq))
        std::perror("write");
}

__attribute__((noinline)) void receive_reply(int service, Reply &rp)
{
    char *p = reinterpret_cast<char *>(&rp);
    size_t got = 0;
    while (got < sizeof(rp)) {
        const ssize_t n = read(g_client[service], p + got, sizeof(rp) - got);
        if (n <= 0)
            return;
        got += n;
    }
}

__attribute__((noinline)) uint64_t merge_replies(const std::vector<Reply> &replies)
{
    uint64_t h = 1;
    for (int round = 0; round < 60; round++)
        for (const Reply &r : replies)
            for (uint32_t w : r.words)
                h = (h ^ w) * 1099511628211ull;
    return h;
}

__attribute__((noinline)) uint64_t build_page(uint32_t page)
{
    std::vector<Reply> replies(kServices);
#ifdef FIX
    for (int s = 0; s < kServices; s++)
        send_request(s, page);
    for (int s = 0; s < kServices; s++)
        receive_reply(s, replies[s]);
#else
    for (int s = 0; s < kServices; s++) {
        send_request(s, page);
        receive_reply(s, replies[s]);
    }
#endif
    return merge_replies(replies);
}

int main()
{
    std::vector<std::thread> services;
    for (int s = 0; s < kServices; s++) {
        int sv[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
            return 1;
        g_client[s] = sv[0];
        services.emplace_back(service_main, s, sv[1]);
    }

    uint64_t sum = 0;
    for (int p = 0; p < kPages; p++)
        sum += build_page(p);

    for (int s = 0; s < kServices; s++)
        close(g_client[s]);
    for (auto &t : services)
        t.join();
    std::printf("pages %d digest %llx\n", kPages, (unsigned long long)sum);
    return 0;
}
