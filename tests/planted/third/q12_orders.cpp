// SPDX-License-Identifier: BSD-3-Clause
// Shop back end: invoices are produced from orders whose items are fetched
// from a database process over a Unix socket.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr int kOrders = 48000;
constexpr int kMaxBatch = 500;

struct Query {
    int32_t count;
    int32_t ids[kMaxBatch];
};

struct Item {
    int32_t order;
    int32_t quantity;
    int32_t price;
};

void read_full(int fd, void *p, size_t n)
{
    char *c = static_cast<char *>(p);
    while (n) {
        const ssize_t r = read(fd, c, n);
        if (r <= 0)
            std::exit(r == 0 ? 0 : 1);
        c += r;
        n -= r;
    }
}

void write_full(int fd, const void *p, size_t n)
{
    const char *c = static_cast<const char *>(p);
    while (n) {
        const ssize_t r = write(fd, c, n);
        if (r <= 0)
            std::exit(1);
        c += r;
        n -= r;
    }
}

} // namespace

// ---- database process -------------------------------------------------

__attribute__((noinline)) Item lookup_item(int order)
{
    uint32_t h = order * 2654435761u;
    for (int i = 0; i < 200; i++)
        h = (h ^ (h >> 15)) * 2246822519u;
    return {order, int32_t(1 + h % 9), int32_t(100 + (h >> 8) % 9000)};
}

__attribute__((noinline)) void database_loop(int fd)
{
    static Query q;
    static Item reply[kMaxBatch];
    for (;;) {
        read_full(fd, &q.count, sizeof(q.count));
        if (q.count == 0)
            return;
        read_full(fd, q.ids, q.count * sizeof(int32_t));
        for (int i = 0; i < q.count; i++)
            reply[i] = lookup_item(q.ids[i]);
        write_full(fd, reply, q.count * sizeof(Item));
    }
}

// ---- client -----------------------------------------------------------

__attribute__((noinline)) void query_items(int fd, const int *ids, int n, Item *out)
{
    Query q;
    q.count = n;
    for (int i = 0; i < n; i++)
        q.ids[i] = ids[i];
    write_full(fd, &q, sizeof(int32_t) * (n + 1));
    read_full(fd, out, n * sizeof(Item));
}

__attribute__((noinline)) void load_items(int fd, const std::vector<int> &orders,
                                          std::vector<Item> &items)
{
    items.resize(orders.size());
#ifdef FIX
    for (size_t i = 0; i < orders.size(); i += kMaxBatch)
        query_items(fd, &orders[i], kMaxBatch, &items[i]);
#else
    for (size_t i = 0; i < orders.size(); i++)
        query_items(fd, &orders[i], 1, &items[i]);
#endif
}

__attribute__((noinline)) uint64_t render_invoices(const std::vector<Item> &items)
{
    uint64_t h = 7;
    char line[80];
    for (const Item &it : items) {
        const int n = std::snprintf(line, sizeof(line), "%d;%d;%d;%d\n", it.order, it.quantity,
                                    it.price, it.quantity * it.price);
        for (int i = 0; i < n; i++)
            h = h * 131 + line[i];
    }
    return h;
}

int main()
{
    static_assert(kOrders % kMaxBatch == 0);
    int sv[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
        return 1;
    const pid_t pid = fork();
    if (pid == 0) {
        close(sv[0]);
        database_loop(sv[1]);
        _exit(0);
    }
    close(sv[1]);

    std::vector<int> orders(kOrders);
    for (int i = 0; i < kOrders; i++)
        orders[i] = 100000 + i * 3;
    std::vector<Item> items;
    load_items(sv[0], orders, items);
    const uint64_t h = render_invoices(items);

    const int32_t quit = 0;
    write_full(sv[0], &quit, sizeof(quit));
    waitpid(pid, nullptr, 0);
    std::printf("orders %d invoices %llx\n", kOrders, (unsigned long long)h);
    return 0;
}
