# SPDX-License-Identifier: BSD-3-Clause
"""Time and memory of commands. Times are wall time, or processor time once `use_processor_time` was called."""
import resource
import subprocess
import sys
import threading
import time


def processor_time():
    """Of all processes that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


clock = time.monotonic


def use_processor_time():
    """For figures that are judged: other work on the machine changes them less."""
    global clock
    clock = processor_time


def anonymous_peak(process):
    """The most anonymous memory the process had, in MiB: mapped files are the kernel's to drop."""
    peak = 0
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
                for line in status:
                    if line.startswith("RssAnon:"):
                        peak = max(peak, int(line.split()[1]))
        except OSError:
            break
        time.sleep(0.005)
    return peak / 1024


def run_once(command):
    """Seconds, MiB, and what it printed."""
    start = clock()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        peaks = []
        watcher = threading.Thread(target=lambda: peaks.append(anonymous_peak(process)))
        watcher.start()
        output = process.stdout.read()
        status = process.wait()
        seconds = clock() - start
        watcher.join()
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return seconds, peaks[0], output


def run(command, repeats=3):
    """The best time of several runs, and the largest memory."""
    results = [run_once(command) for _ in range(repeats)]
    return min(r[0] for r in results), max(r[1] for r in results)
