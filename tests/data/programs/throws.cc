/* SPDX-License-Identifier: BSD-3-Clause */
/* Classes, templates and exceptions that unwind several calls. */
#include <stdexcept>
#include <vector>

namespace shop
{

struct Item {
    explicit Item(int price) : price(price)
    {
    }
    int price;
};

template <typename T> __attribute__((noinline)) T twice(T value)
{
    return value + value;
}

class Order
{
  public:
    __attribute__((noinline)) void add(const Item &item)
    {
        if (item.price < 0)
            refuse(item);
        items.push_back(item);
    }
    __attribute__((noinline)) int total() const
    {
        int sum = 0;
        for (const Item &item : items)
            sum += twice(item.price);
        return sum;
    }

  private:
    __attribute__((noinline)) void refuse(const Item &)
    {
        throw std::invalid_argument("a negative price");
    }
    std::vector<Item> items;
};

} // namespace shop

__attribute__((noinline)) static bool place(shop::Order &order, int price)
{
    try {
        order.add(shop::Item(price));
        return true;
    } catch (const std::invalid_argument &) {
        return false;
    }
}

int main()
{
    shop::Order order;
    int refused = 0;
    for (int price = -2; price < 6; price++)
        refused += !place(order, price);
    return order.total() == refused;
}
