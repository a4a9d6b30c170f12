# SPDX-License-Identifier: BSD-3-Clause
"""Which part of a long list of cases a run covers."""

import os


class Share:
    """The K-th of N parts, written K/N. The parts are disjoint, and together they are all cases."""

    def __init__(self, text="1/1"):
        part, _, parts = text.partition("/")
        self.part, self.parts = int(part) - 1, int(parts)
        if not 0 <= self.part < self.parts:
            raise ValueError(f"not a share K/N: {text}")

    @staticmethod
    def of_faults():
        """All, unless LODE_SHARE_FAULTS or LODE_SHARE in the environment says otherwise."""
        return Share(os.environ.get("LODE_SHARE_FAULTS") or os.environ.get("LODE_SHARE") or "1/1")

    @staticmethod
    def of_cases():
        """All, unless LODE_SHARE in the environment says otherwise."""
        return Share(os.environ.get("LODE_SHARE") or "1/1")

    def times(self, every):
        """The share's part of each `every`-th case."""
        return Share(f"{self.part + 1}/{self.parts * every}")

    def has(self, number):
        return number % self.parts == self.part

    def of(self, cases):
        """Its part of a list."""
        return [case for number, case in enumerate(cases) if self.has(number)]

    def shifted(self, by):
        return Share(f"{(self.part + by) % self.parts + 1}/{self.parts}")

    def __str__(self):
        return f"part {self.part + 1} of {self.parts}"
