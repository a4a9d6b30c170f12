// SPDX-License-Identifier: BSD-3-Clause
// Healthy: an event-driven echo server that mostly waits for its few slow clients.
#include <arpa/inet.h>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

constexpr int kClients = 3, kMessages = 12;

class Server {
    int listen_ = -1, ep_ = -1, open_ = 0;
    long bytes_ = 0;

    void watch(int fd)
    {
        epoll_event ev{};
        ev.events = EPOLLIN;
        ev.data.fd = fd;
        epoll_ctl(ep_, EPOLL_CTL_ADD, fd, &ev);
    }

    __attribute__((noinline)) void on_client(int fd)
    {
        char buf[512];
        ssize_t n = recv(fd, buf, sizeof(buf), 0);
        if (n <= 0) {
            close(fd);
            open_--;
            return;
        }
        bytes_ += n;
        send(fd, buf, size_t(n), MSG_NOSIGNAL);
    }

public:
    sockaddr_in addr{};

    Server()
    {
        socklen_t len = sizeof(addr);
        addr.sin_family = AF_INET;
        addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        listen_ = socket(AF_INET, SOCK_STREAM, 0);
        bind(listen_, reinterpret_cast<sockaddr *>(&addr), sizeof(addr));
        listen(listen_, 8);
        getsockname(listen_, reinterpret_cast<sockaddr *>(&addr), &len);
        ep_ = epoll_create1(0);
        watch(listen_);
    }

    __attribute__((noinline)) void run()
    {
        int accepted = 0;
        while (accepted < kClients || open_ > 0) {
            epoll_event ev[8];
            int n = epoll_wait(ep_, ev, 8, -1);
            for (int i = 0; i < n; i++) {
                if (ev[i].data.fd == listen_) {
                    watch(accept(listen_, nullptr, nullptr));
                    accepted++;
                    open_++;
                } else {
                    on_client(ev[i].data.fd);
                }
            }
        }
        close(listen_);
        close(ep_);
    }
    long bytes() const { return bytes_; }
};

// A user types a message, waits for the answer, and thinks for a while.
static void client(sockaddr_in addr, int id)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    connect(fd, reinterpret_cast<sockaddr *>(&addr), sizeof(addr));
    for (int i = 0; i < kMessages; i++) {
        std::string m = "client " + std::to_string(id) + " message " + std::to_string(100 + i);
        send(fd, m.data(), m.size(), MSG_NOSIGNAL);
        std::vector<char> back(m.size());
        recv(fd, back.data(), back.size(), MSG_WAITALL);
        std::this_thread::sleep_for(std::chrono::milliseconds(50 + 5 * id));
    }
    close(fd);
}

int main()
{
    Server s;
    std::vector<std::thread> t;
    for (int i = 0; i < kClients; i++)
        t.emplace_back(client, s.addr, i);
    s.run();
    for (auto &x : t)
        x.join();
    printf("echoed %ld bytes\n", s.bytes());
}
