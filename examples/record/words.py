# SPDX-License-Identifier: BSD-3-Clause
"""Counts words of a text that it makes. For doc/recording.md."""


def make_text(count):
    return " ".join(f"word{i * i % 997}" for i in range(count))


def count_words(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts


def main():
    different = 0
    for _ in range(10):
        different = len(count_words(make_text(50000)))
    print(f"{different} different words")


if __name__ == "__main__":
    main()
