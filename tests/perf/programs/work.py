# SPDX-License-Identifier: BSD-3-Clause
"""Works in two functions."""


def inner_work(count):
    return sum(i * i % 7 for i in range(count))


def outer_work(count):
    return sum(inner_work(count) for _ in range(20))


if __name__ == "__main__":
    raise SystemExit(0 if outer_work(100000) > 0 else 1)
