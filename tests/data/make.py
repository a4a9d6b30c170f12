#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Makes the stores of this folder again, all or those of some kinds: make.py --lode PROGRAM [KIND...].
README.md says what each is for. All but recordings of uftrace have the same bytes each time; those have the times of the machine they are made on,
so make them again for a reason only.
"""

import argparse
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE / "making"), str(HERE.parent / "answers"), str(HERE.parent / "tools")]

import content  # noqa: E402
import databases  # noqa: E402
import db_nasty  # noqa: E402
import db_write  # noqa: E402
import diagnose_made as made  # noqa: E402
import handmade  # noqa: E402
import measured  # noqa: E402
import profiles  # noqa: E402
import recorded  # noqa: E402
import spans  # noqa: E402

# Shapes that are easily mistaken for others (tests/answers/db_nasty.py, which has more).
NASTY = range(8)
# Names of stores of the larger corpus that tests ask for, and what has the same traits here: the names are links.
LINKS = {
    "hpctoolkit/final": {
        "viewer-issue-233": "example-solver", "viewer-derived-metrics.db": "example-solver",  # ranks with threads, several metrics, traces
        "viewer-issue-328": "made-gpu", "hatchet-saxpy-mpi-cuda-database": "made-gpu", "toolkit-loops-cuda-nvidia-t-v0": "made-gpu",
        "toolkit-loops-cuda-nvidia-t-v4": "made-gpu", "toolkit-loops-hip-amd-t-v0": "made-gpu", "viewer-lmp-openmp-v0": "made-openmp",
        "made-loops-cputime-t": "made-ranks", "made-loops-cputime-t-mpi3ranks": "made-ranks", "made-loops-cputime-t-Mstats": "made-statistics",
        "made-merged-5-measurements": "synthetic", "db2pprof": "nasty-mutual-recursion", "db2pprof-sort-database": "made-openmp",
        "toolkit-loops-perf.nostruct-v0": "made-new", "toolkit-small-v4": "made-small", "viewer-d.x": "made-old",
        **{f"toolkit-loops-cputime-t-v{number}": name for number, name in ((0, "made-ranks"), (3, "made-ranks"), (4, "made-statistics"), (5, "made-statistics"))},
        **{f"{pair}{number}": name for pair in ("hatchet-hatchet-cpi-v4-database-v", "viewer-loop-fork-cycles-v") for number, name in enumerate(("made-old", "made-new"))},
        **{f"{pair}-v{number}": name for pair, last in (("toolkit-loops-perf", 5), ("toolkit-recursion-cuda-nvidiapc-t", 4))
           for number, name in ((0, "made-old"), (last, "made-new"))}},
    "uftrace/recorded": {"autoargs": "args", "n_autoargs": "args", "pg_args": "args-named", "mt": "workers", "n_mt": "workers", "forkexec": "children",
                         "n_forkexec": "children", "exc": "throws", "n_exc": "throws", "longjmp": "jumps", "killed": "ended", "nolibcall": "instrumented", "events": "workers",
                         "cyg": "instrumented", "n_cyg": "instrumented"},
    "zorka/stores": {"first": "synthetic-zico", "master": "example-shop", "real-agent": "shop-zico"},
    "measurements": {"loops-cputime-t": "threads", "recursion-cuda-nvidiapc-t": "ranks", "loops-cuda-nvidiapc-t": "threads", "small-v3": "threads", "loops-perf": "threads"},
}
SYNTH = ["--profiles", "6", "--contexts", "120", "--samples", "40", "--metrics", "2"]


def run(*words, cwd=None):
    subprocess.run([*map(str, words)], check=True, stdout=subprocess.DEVNULL, cwd=cwd)


def fresh(path):
    shutil.rmtree(path, ignore_errors=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def gpu():
    """A rank that starts kernels on two streams."""
    host = made.Thread({made.MAIN: 0.25, made.MAIN + ((made.CUDA, "cudaLaunchKernel"),): 0.125, made.MAIN + ((made.CUDA, "cudaDeviceSynchronize"),): 0.5},
                       rank=0, line=(0, 0.875), others={1: {made.KERNEL: 0.5}, 2: {made.KERNEL: 0.5}, 3: {made.KERNEL: 64.0}})
    streams = [made.Stream([(0.1 + 0.2 * i, 0.2 + 0.2 * i) for i in range(3)], stream=0), made.Stream([(0.15, 0.5), (0.6, 0.7)], stream=1)]
    data = made.database([host, *streams], ("CPUTIME (sec)", "GPUOP (sec)", "GKER (sec)", "GKER:COUNT"))
    for function in data["meta"]["functions"]:
        function["offset"] = 0 if function["module"] is None else function["offset"]
    return data


def openmp():
    """Four threads, one of which has most of the work of a region."""
    first = made.Thread({made.MAIN: 0.25, made.REGION: 2.0}, rank=0, line=(0, 2.25))
    others = [made.Thread({made.WORKER: 0.5, made.WAIT: 1.5}, rank=0, thread=i, line=(0.25, 2.25)) for i in range(1, 4)]
    return made.database([first, *others])


def make_databases(lode, root):
    final, expected = fresh(root / "hpctoolkit" / "final"), fresh(root / "hpctoolkit" / "expected")
    final.mkdir()
    expected.mkdir()
    models = {name: model() for name, model in databases.MODELS.items()}
    models.update({"made-gpu": gpu(), "made-openmp": openmp()})
    for seed in NASTY:
        shape, data = db_nasty.make(seed)
        models["nasty-" + shape.replace("_", "-")] = data
    for name, data in models.items():
        db_write.write(final / name, data)
        content.write_expected(expected / f"{name}.yaml.gz", data)
        if content.read(final / name) != content.plain(data):
            raise SystemExit(f"{name}: the bytes do not say what the model says")
    with tempfile.TemporaryDirectory() as folder:
        run(lode, "example", f"{folder}/demo")
        shutil.copytree(f"{folder}/demo/solver", final / "example-solver")
        run(lode, "synth", "recording", "--records", "1500", "--functions", "30", "--tasks", "3", "-o", f"{folder}/recording")
        run(lode, "build", f"{folder}/recording", "-o", final / "built")
    run(lode, "synth", "database", *SYNTH, "-o", final / "synthetic")
    for name in ("example-solver", "built", "synthetic"):
        content.write_expected(expected / f"{name}.yaml.gz", content.read(final / name))


def write_without_flags(folder, data):
    """As the writers of the summer of 2022 did: profiles of 40 bytes, without flags."""
    db_write.write(folder, data)
    path = folder / "profile.db"
    file = bytearray(path.read_bytes())
    section = struct.unpack_from("<QQ", file, 16)[1]
    at, count, size = struct.unpack_from("<QIB", file, section)
    records = b"".join(bytes(file[at + i * size:at + i * size + 40]) for i in range(count))
    file[at:at + count * size] = records + bytes(count * size - len(records))
    struct.pack_into("<QQ", file, 16, at - section + len(records), section)
    file[section + 12] = 40
    path.write_bytes(file)


def make_drafts(lode, root):
    final = root / "hpctoolkit" / "final"
    drafts = fresh(root / "hpctoolkit" / "draft-xml")
    drafts.mkdir()
    for name in ("made-small", "made-ranks", "made-openmp"):
        run(lode, "convert", "--format", "hpctoolkit-draft-xml", final / name, "-o", drafts / name)
    # A writer of that day left the area of values empty.
    shutil.copytree(drafts / "made-small", drafts / "made-zero")
    databases.zero_values(drafts / "made-zero" / "cct.db")
    fresh(root / "hpctoolkit" / "pre-b").mkdir()
    write_without_flags(root / "hpctoolkit" / "pre-b" / "made-small", databases.MODELS["made-small"]())


def make_recordings(_, root):
    recorded.make(fresh(root / "uftrace" / "recorded"))


def make_handmade(_, root):
    handmade.make(fresh(root / "uftrace" / "handmade"))


def make_requests(lode, root):
    stores = fresh(root / "zorka" / "stores")
    stores.mkdir()
    with tempfile.TemporaryDirectory() as folder:
        run(lode, "example", f"{folder}/demo")
        shutil.copytree(f"{folder}/demo/shop", stores / "example-shop")
        run(lode, "convert", "--layout", "zico", f"{folder}/demo/shop", "-o", stores / "shop-zico")
    for layout in ("page", "zico"):
        run(lode, "synth", "recording", "--format", "zorka", "--layout", layout, "--records", "3000", "--calls-per-request", "60", "--functions", "40",
            "--tasks", "3", "-o", stores / f"synthetic-{layout}")


def make_measurements(_, root):
    measured.make(fresh(root / "measurements"))


def make_profiles(_, root):
    profiles.make(fresh(root / "pprof"), fresh(root / "folded"))


def make_spans(_, root):
    for kind in ("otlp", "jaeger", "zipkin"):
        shutil.rmtree(root / kind, ignore_errors=True)
    spans.write(root)


def make_links(_, root):
    for folder, links in LINKS.items():
        for name, target in links.items():
            link = root / folder / name
            link.unlink(missing_ok=True)
            link.symlink_to(target)
    for name, target in LINKS["hpctoolkit/final"].items():
        link = root / "hpctoolkit" / "expected" / f"{name}.yaml.gz"
        link.unlink(missing_ok=True)
        link.symlink_to(f"{target}.yaml.gz")


KINDS = {"databases": make_databases, "drafts": make_drafts, "recordings": make_recordings, "handmade": make_handmade, "requests": make_requests,
         "measurements": make_measurements, "profiles": make_profiles, "spans": make_spans, "links": make_links}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", type=Path, required=True, help="the program")
    parser.add_argument("--into", type=Path, default=HERE, help="where to write (default: here)")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}; all by default")
    options = parser.parse_args()
    for kind in options.kinds or KINDS:
        KINDS[kind](options.lode.resolve(), options.into.resolve())


if __name__ == "__main__":
    main()
