/* SPDX-License-Identifier: BSD-3-Clause */
/* Virtual calls, templates, exceptions that unwind several calls and destructors, and threads of the C++ library. */
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace shapes
{

struct Shape {
    virtual ~Shape()
    {
    }
    virtual double area() const = 0;
};

struct Square : Shape {
    explicit Square(double side) : side(side)
    {
    }
    __attribute__((noinline)) double area() const override
    {
        return side * side;
    }
    double side;
};

struct Circle : Shape {
    explicit Circle(double radius) : radius(radius)
    {
    }
    __attribute__((noinline)) double area() const override
    {
        return 3.14159 * radius * radius;
    }
    double radius;
};

struct Guard {
    explicit Guard(int &count) : count(count)
    {
        count++;
    }
    ~Guard()
    {
        count--;
    }
    int &count;
};

template <class T> struct Stack {
    __attribute__((noinline)) void push(const T &value)
    {
        items.push_back(value);
    }
    __attribute__((noinline)) T pop()
    {
        if (items.empty()) {
            throw std::out_of_range("empty");
        }
        T value = items.back();
        items.pop_back();
        return value;
    }
    std::vector<T> items;
};

__attribute__((noinline)) int sink(int depth, int &open)
{
    Guard guard(open);
    if (depth == 0) {
        throw std::runtime_error("bottom");
    }
    return sink(depth - 1, open) + 1;
}

__attribute__((noinline)) int dive(int depth)
{
    int open = 0;
    try {
        return sink(depth, open);
    } catch (const std::exception &) {
        return open;
    }
}

__attribute__((noinline)) double sum(const std::vector<std::unique_ptr<Shape>> &all)
{
    double result = 0;
    for (const auto &shape : all) {
        result += shape->area();
    }
    return result;
}

__attribute__((noinline)) std::string describe(int number)
{
    return "shape " + std::to_string(number);
}

__attribute__((noinline)) int drain()
{
    Stack<std::string> stack;
    int count = 0;
    for (int i = 0; i < 3; i++) {
        stack.push(describe(i));
    }
    try {
        for (;;) {
            stack.pop();
            count++;
        }
    } catch (const std::out_of_range &) {
        return count;
    }
}

__attribute__((noinline)) void run(int *result)
{
    for (int i = 0; i < 5; i++) {
        *result += dive(i) + drain();
        if (i % 2) {
            usleep(200);
        }
    }
}

} // namespace shapes

int main()
{
    std::vector<std::unique_ptr<shapes::Shape>> all;
    for (int i = 0; i < 6; i++) {
        if (i % 2) {
            all.push_back(std::make_unique<shapes::Square>(i));
        } else {
            all.push_back(std::make_unique<shapes::Circle>(i));
        }
    }
    int first = 0, second = 0;
    std::thread other(shapes::run, &first);
    shapes::run(&second);
    other.join();
    std::printf("%.3f %d %d\n", shapes::sum(all), first, second);
    return 0;
}
