// SPDX-License-Identifier: BSD-3-Clause
// A ledger: tellers post signed transactions to one shared book.
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

struct Transaction {
    uint32_t account;
    uint32_t amount;
    uint64_t signature;
};

class Ledger {
public:
    void post(uint32_t account, uint32_t amount);
    uint64_t audit() const;
private:
    std::mutex book_mutex;
    std::vector<Transaction> book;
    uint64_t balance = 0;
};

__attribute__((noipa)) uint64_t sign_transaction(uint32_t account, uint32_t amount)
{
    uint64_t state = (uint64_t(account) << 32) ^ amount ^ 0x9e3779b97f4a7c15ull;
    for (int round = 0; round < 9000; ++round) {
        state ^= state >> 29;
        state *= 0xbf58476d1ce4e5b9ull;
        state ^= state >> 32;
    }
    return state;
}

__attribute__((noinline)) void Ledger::post(uint32_t account, uint32_t amount)
{
#ifdef FIX
    uint64_t signature = sign_transaction(account, amount);
    std::lock_guard<std::mutex> guard(book_mutex);
#else
    std::lock_guard<std::mutex> guard(book_mutex);
    uint64_t signature = sign_transaction(account, amount);
#endif
    book.push_back({account, amount, signature});
    balance += amount;
}

__attribute__((noinline)) uint64_t Ledger::audit() const
{
    uint64_t sum = balance;
    for (const Transaction &t : book)
        sum += t.signature;
    return sum;
}

__attribute__((noinline)) void run_teller(Ledger *ledger, int teller, int count)
{
    for (int i = 0; i < count; ++i)
        ledger->post(teller * 1000 + i % 97, 100 + i % 13);
}

int main()
{
    Ledger ledger;
    std::vector<std::thread> tellers;
    for (int t = 0; t < 2; ++t)
        tellers.emplace_back(run_teller, &ledger, t, 22000);
    for (auto &t : tellers)
        t.join();
    std::printf("audit %llu\n", (unsigned long long)ledger.audit());
    return 0;
}
