# SPDX-License-Identifier: BSD-3-Clause
"""The Test Anything Protocol, as far as the test scripts need it."""

import sys


class Tap:
    """Prints one line per test, and the plan at the end."""

    def __init__(self):
        self.count = 0
        self.failed = 0

    def check(self, passed, name, details=()):
        """One test. If it failed, the details go to stderr, which Meson shows; it swallows what is on stdout."""
        self.count += 1
        print(f"{'ok' if passed else 'not ok'} {self.count} - {_one_line(name)}")
        if not passed:
            self.failed += 1
            sys.stdout.flush()
            for detail in details:
                self.note(detail, sys.stderr)
        sys.stdout.flush()
        return passed

    def skip(self, name, reason):
        self.count += 1
        print(f"ok {self.count} - {_one_line(name)} # SKIP {_one_line(reason)}")
        sys.stdout.flush()

    def note(self, text, stream=sys.stdout):
        for line in str(text).splitlines() or [""]:
            print(f"# {line}", file=stream)

    def finish(self):
        """Prints the plan and returns the exit status."""
        print(f"1..{self.count}")
        return 1 if self.failed else 0


def _one_line(text):
    # A hash sign would start a TAP directive.
    return " ".join(str(text).split()).replace("#", "no. ")
