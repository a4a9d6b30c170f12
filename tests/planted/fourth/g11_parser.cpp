// SPDX-License-Identifier: BSD-3-Clause
// Parses and evaluates expressions with nodes from a reused arena.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Node {
    char op;
    int64_t value;
    Node *left, *right;
};

class Arena {
public:
    Arena() : nodes(4096) {}
    __attribute__((always_inline)) inline Node *make(char op, int64_t value, Node *left, Node *right)
    {
        if (used == nodes.size())
            abort();
        nodes[used] = {op, value, left, right};
        return &nodes[used++];
    }
    void reset() { used = 0; }
private:
    std::vector<Node> nodes;
    size_t used = 0;
};

__attribute__((always_inline)) static inline Node *parse_term(Arena &arena, const char *&p)
{
    int64_t v = 0;
    while (*p >= '0' && *p <= '9')
        v = v * 10 + (*p++ - '0');
    Node *n = arena.make('n', v, nullptr, nullptr);
    while (*p == '*') {
        ++p;
        v = 0;
        while (*p >= '0' && *p <= '9')
            v = v * 10 + (*p++ - '0');
        n = arena.make('*', 0, n, arena.make('n', v, nullptr, nullptr));
    }
    return n;
}

__attribute__((noinline)) Node *parse_expression(Arena &arena, const char *p)
{
    Node *n = parse_term(arena, p);
    while (*p == '+') {
        ++p;
        n = arena.make('+', 0, n, parse_term(arena, p));
    }
    return n;
}

__attribute__((noinline)) int64_t evaluate(const Node *n)
{
    int64_t sum = 0;
    for (; n->op == '+'; n = n->left) {
        int64_t product = 1;
        const Node *t = n->right;
        for (; t->op == '*'; t = t->left)
            product = product * t->right->value % 1000003;
        sum += product * t->value;
    }
    return sum;
}

__attribute__((noinline)) void make_text(char *text, int seed)
{
    uint32_t x = seed + 1;
    *text++ = '1';
    for (int i = 0; i < 600; ++i) {
        x = x * 1664525u + 1013904223u;
        *text++ = x >> 30 ? '*' : '+';
        for (uint32_t v = x >> 12 & 0xfff; v; v /= 10)
            *text++ = char('0' + v % 10);
    }
    *text = 0;
}

int main()
{
    Arena arena;
    static char text[8192];
    int64_t check = 0;
    for (int i = 0; i < 60000; ++i) {
        arena.reset();
        make_text(text, i);
        check += evaluate(parse_expression(arena, text)) % 10007;
    }
    std::printf("check %lld\n", (long long)check);
    return 0;
}
