#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Building on ranks: what one rank needs as their number grows, and how much faster two are than one.

Usage: building.py BUILD_DIRECTORY [--ranks N,N,...] [--records N] [--tasks N] [--memory SIZE] [--speed RECORDS] [--repeats N]

The first table is about one recording on 1 to 64 ranks of Open MPI, more than there are processors: times mean little there, but memory,
messages and bytes are those of a cluster. The second is about 50 million records in 16 tasks on one rank and on two, one thread each.
"""
import argparse
import json
import os
import shutil
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "ranks"))

from jobs import OPENMPI, environment, missing, run  # noqa: E402

SECONDS = 900
MIB = 1 << 20
COLUMNS = ("ranks", "seconds", "MiB a rank", "rounds", "messages a rank", "merging: MiB sent", "exchange: MiB sent", "of them counts",
           "bytes a value", "all: MiB sent")


def row(ranks, seconds, stats):
    """What one rank has at most, and what all send each other."""
    if stats["comm_size"] != ranks:
        sys.exit(f"{stats['comm_size']} ranks instead of {ranks}")
    phases = {phase["phase"]: phase for phase in stats["phases"]}
    messages = sum(phase["messages"] for phase in phases.values())
    everything = sum(phase["sent_bytes"] for phase in phases.values())
    exchanged = phases["finishing"]["sent_bytes"]
    # The values of each context are added up over all ranks: 8 bytes, each rank gets its part of the sums.
    counts = 8 * stats["contexts"] * (ranks - 1)
    # Of the values, one in `ranks` is where it belongs already.
    per_value = (exchanged - counts) / stats["values"] * ranks / (ranks - 1) if ranks > 1 else 0
    return (f"{ranks}", f"{seconds:.1f}", f"{stats['memory_bytes'] / MIB:.1f}", f"{stats['rounds']:,}", f"{messages:,}",
            f"{phases['merging']['sent_bytes'] / MIB:.1f}", f"{exchanged / MIB:.1f}", f"{counts / MIB:.1f}", f"{per_value:.2f}",
            f"{everything / MIB:.1f}")


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.lode = os.path.abspath(os.path.join(options.build, "src/cli/lode"))
        self.env = environment(self.lode)

    def make(self, name, records, tasks):
        target = os.path.join(self.folder, name)
        ended = run([self.lode, "synth", "recording", "--records", records, "--tasks", tasks, "-o", target], self.env, SECONDS)
        if ended.status != 0:
            sys.exit("\n".join(ended.describe()))
        return target

    def build(self, ranks, recording, *options):
        """Seconds from the start of the launcher to its end, and what the program says of itself."""
        database = os.path.join(self.folder, "db")
        command = [self.lode, "build", "--threads", "1", "--json", "--stats", *options, recording, "-o", database]
        ended = run(OPENMPI.job(ranks, *command), self.env, SECONDS)
        if ended.status != 0:
            sys.exit("\n".join(ended.describe()))
        shutil.rmtree(database)
        return ended.seconds, json.loads(ended.out)

    def growth(self):
        o = self.options
        recording = self.make("growth", o.records, o.tasks)
        print(f"{o.records:,} records, {o.tasks} tasks, --memory {o.memory}")
        for number, ranks in enumerate(o.ranks):
            seconds, stats = self.build(ranks, recording, "--memory", o.memory)
            if number == 0:
                print(f"{stats['contexts']:,} contexts, {stats['values']:,} values, {stats['samples']:,} samples")
                print("| " + " | ".join(COLUMNS) + " |\n|" + "---:|" * len(COLUMNS))
            print("| " + " | ".join(row(ranks, seconds, stats)) + " |", flush=True)
        shutil.rmtree(recording)

    def speed(self):
        o = self.options
        recording = self.make("speed", o.speed, 16)
        print(f"\n{o.speed:,} records, 16 tasks\n| | 1 rank | 2 ranks | faster | with its launcher | | faster |\n|---|{'---:|' * 6}")
        for trace in ("none", "full"):
            # In turns, so that what else the machine does falls on both.
            times = [[self.times(ranks, recording, trace) for ranks in (1, 2)] for _ in range(o.repeats)]
            cells = []
            for kind in (0, 1):
                one, two = (min(row[i][kind] for row in times) for i in (0, 1))
                cells += [f"{one:.2f} s", f"{two:.2f} s", f"{one / two:.2f}"]
            print(f"| --trace {trace} | " + " | ".join(cells) + " |", flush=True)
        shutil.rmtree(recording)

    def times(self, ranks, recording, trace):
        """Seconds of building, and from the start of the launcher to its end: MPI takes half a second to start and to end."""
        seconds, stats = self.build(ranks, recording, "--trace", trace)
        return sum(phase["seconds"] for phase in stats["phases"]), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--ranks", type=lambda text: [int(word) for word in text.split(",")], default=[1, 2, 4, 8, 16, 32, 64])
    parser.add_argument("--records", type=int, default=20_000_000)
    parser.add_argument("--tasks", type=int, default=256)
    parser.add_argument("--memory", default="16M", help="that a rank has for values")
    parser.add_argument("--speed", type=int, default=50_000_000, help="records of the second table; 0 leaves it out")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("LODE_BENCH_DIR")) as folder:
        bench = Bench(options, folder)
        if reason := missing(OPENMPI, bench.lode):
            sys.exit(reason)
        if options.ranks:
            bench.growth()
        if options.speed:
            bench.speed()


if __name__ == "__main__":
    main()
