#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode report --pdf`: printed by the real browser, as root and as another user, without a network; with programs that only look like
a browser: messages, what they are given, and that nothing is left after any end. Usage: pdf.py --lode PROGRAM
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "server"))

from serving import Tap, heed_signals  # noqa: E402

SHELL = "/usr/bin:/bin"
PDF = b"%PDF-1.4\nnot much of one\n"


class Pdf(Tap):
    def __init__(self, lode, folder):
        super().__init__()
        self.lode, self.folder = lode, Path(folder)
        self.temporary = self.folder / "t"  # short: the browser has a socket below it
        self.temporary.mkdir(mode=0o1777)
        self.temporary.chmod(0o1777)
        subprocess.run([lode, "example", str(self.folder / "demo")], check=True, stdout=subprocess.DEVNULL)
        self.store = str(self.folder / "demo" / "shop")

    def check(self, passed, name, details=""):
        return super().check(passed, name, [details])

    def environment(self, path):
        return {**os.environ, "TMPDIR": str(self.temporary), "PATH": path}

    def start(self, *options, path, **more):
        return subprocess.Popen([self.lode, "report", self.store, *options], env=self.environment(path), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                stdin=subprocess.DEVNULL, cwd=self.folder, preexec_fn=heed_signals, **more)

    def run(self, *options, path, **more):
        process = self.start(*options, path=path, **more)
        out, errors = process.communicate(timeout=300)
        return process.returncode, out, errors.decode()

    def browser(self, name, body):
        """A folder with a program that is found as Chromium; PDF is where it has to write."""
        place = self.folder / name
        place.mkdir()
        program = place / "chromium"
        program.write_text('#!/bin/sh\nfor word in "$@"; do case $word in --print-to-pdf=*) PDF=${word#*=};; esac; done\n' + body)
        program.chmod(0o755)
        return f"{place}:{SHELL}"

    def is_clean(self):
        return list(self.temporary.iterdir()) == []


def says_what_is_missing(t):
    empty = t.folder / "empty"
    empty.mkdir()
    status, _, errors = t.run("--pdf", "none.pdf", path=str(empty))
    t.check(status == 2 and "needs Chromium or Chrome" in errors and "-o report.html" in errors and t.is_clean(), "without a browser, a message says what is needed", errors)
    status, _, errors = t.run("--pdf", "a.html", path=str(empty))
    t.check(status == 2 and "does not end in .pdf" in errors, "a PDF is called one", errors)
    status, _, errors = t.run("--pdf", "a.pdf", "-o", "a.html", path=str(empty))
    t.check(status == 2 and "cannot be used together" in errors, "one file is written", errors)


def gives_the_browser_nothing_of_the_user(t):
    path = t.browser("curious", f'env > "{t.folder}/variables"; printf "%s\\n" "$@" > "{t.folder}/words"; ls -ld "$HOME" > "{t.folder}/mode"\nprintf "%s\\n" "%PDF-1.4" "not much of one" > "$PDF"\n')
    status, _, errors = t.run("--pdf", "curious.pdf", path=path)
    words = (t.folder / "words").read_text().split("\n")
    variables = dict(line.split("=", 1) for line in (t.folder / "variables").read_text().splitlines() if "=" in line)
    private = [variables.get(name, "") for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TMPDIR")]
    t.check(status == 0 and (t.folder / "curious.pdf").read_bytes() == PDF, "what it prints is the file", errors)
    t.check(all(text.startswith(str(t.temporary) + "/lode-report-") for text in private), "all folders of the user are a private one", private)
    t.check((t.folder / "mode").read_text().startswith("drwx------") and "DISPLAY" not in variables, "nobody else can read it, and there is no display", "")
    t.check(any(word.startswith("--user-data-dir=" + private[0]) for word in words) and "--host-resolver-rules=MAP * ~NOTFOUND" in words and words[-2].startswith("file:///"),
            "a profile of its own, no names of hosts, a file", words)
    t.check(("--no-sandbox" in words) == (os.geteuid() == 0) and t.is_clean(), "only root has no sandbox, and nothing is left", words)
    status, _, errors = t.run("--pdf", "curious.pdf", path=path)
    t.check(status == 2 and "--force" in errors, "an existing file is not replaced", errors)
    status, out, errors = t.run("--pdf", "-", path=path)
    t.check(status == 0 and out == PDF, "- is standard output", errors)
    short, t.temporary = t.temporary, t.folder / ("long" * 12)
    t.temporary.mkdir()
    t.run("--pdf", "-", path=path)
    home = re.search("^HOME=(.*)$", (t.folder / "variables").read_text(), re.M).group(1)
    t.check(home.startswith("/tmp/lode-report-") and not Path(home).exists(), "a socket fits below the folder, however long TMPDIR is", home)
    t.temporary = short


def fails_clearly(t):
    path = t.browser("broken", 'echo "cannot do this" >&2\nexit 3\n')
    status, _, errors = t.run("--pdf", "broken.pdf", path=path)
    t.check(status == 2 and "wrote no PDF" in errors and "cannot do this" in errors and not (t.folder / "broken.pdf").exists() and t.is_clean(), "what the browser said is in the message", errors)
    path = t.browser("html", 'echo "<html>" > "$PDF"\n')
    status, _, errors = t.run("--pdf", "html.pdf", path=path)
    t.check(status == 2 and "wrote no PDF" in errors and not (t.folder / "html.pdf").exists() and t.is_clean(), "what is no PDF is not taken", errors)
    status, _, errors = t.run("--pdf", "html.pdf", "/nonexistent/store", path=path)
    t.check(status == 2 and t.is_clean(), "a store that is not there leaves nothing", errors)


def ends_by_signals(t):
    path = t.browser("slow", f'echo $$ > "{t.folder}/started"\nsleep 1000 & echo $! >> "{t.folder}/started"\nwait\n')
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        (t.folder / "started").write_text("")
        process = t.start("--pdf", "slow.pdf", path=path)
        for _ in range(6000):
            if (t.folder / "started").read_text().count("\n") == 2 or process.poll() is not None:
                break
            time.sleep(0.01)
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
        pids = [int(text) for text in (t.folder / "started").read_text().split()]
        left = [pid for pid in pids if Path(f"/proc/{pid}/status").exists() and "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()]
        t.check(process.returncode == -number and len(pids) == 2 and not left and t.is_clean() and not (t.folder / "slow.pdf").exists(),
                f"{signal.Signals(number).name}: ended by it, no process and no file is left", (process.returncode, pids, left, errors))


def pages_of(path):
    """The number of pages, and the text of them; None without poppler."""
    if not shutil.which("pdfinfo") or not shutil.which("pdftotext"):
        return None
    about = subprocess.run(["pdfinfo", path], capture_output=True, check=True).stdout.decode()
    text = subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, check=True).stdout.decode()
    return int(re.search(r"Pages:\s+(\d+)", about).group(1)), text


def prints_with_a_real_browser(t):
    if not shutil.which("chromium"):
        t.skip("a PDF of a real browser", "there is no chromium")
        return
    path = os.environ["PATH"]
    status, _, errors = t.run("--pdf", "real.pdf", "--title", "A run of the shop", path=path)
    pdf = (t.folder / "real.pdf").read_bytes() if status == 0 else b""
    t.check(status == 0 and pdf.startswith(b"%PDF-") and len(pdf) > 20000 and t.is_clean(), "Chromium prints a report", errors)
    found = pages_of(str(t.folder / "real.pdf")) if status == 0 else None
    if found:
        pages, text = found
        wanted = ("A run of the shop", "Diagnosis", "Functions by self time", "Hot path", "Flame graph", "Findings", "Commands")
        t.check(2 <= pages <= 8 and all(word in text for word in wanted), "all parts are on a few pages", (pages, [word for word in wanted if word not in text]))
        total = subprocess.run([t.lode, "diagnose", t.store], capture_output=True, check=True).stdout.decode()
        mean = re.search(r", (\d+) requests? in|(\d+) requests in", total)
        t.check(mean is None or (mean.group(1) or mean.group(2)) in text, "with numbers of the commands", text[:300])
    if shutil.which("unshare") and subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode == 0:
        done = subprocess.run(["unshare", "-rn", t.lode, "report", t.store, "--pdf", "alone.pdf"], env=t.environment(path), cwd=t.folder, capture_output=True, timeout=300, check=False)
        t.check(done.returncode == 0 and t.is_clean(), "where there is no network at all", done.stderr)
    log = t.folder / "connections"
    if shutil.which("strace") and subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode == 0:
        subprocess.run(["strace", "-f", "-qq", "-e", "trace=socket,connect,sendto,sendmsg,sendmmsg", "-o", str(log), t.lode, "report", t.store, "--pdf", "traced.pdf"], env=t.environment(path), cwd=t.folder,
                       capture_output=True, timeout=300, check=False)
        # Chromium connects a datagram socket to a name server, to learn whether there is a route, and sends nothing.
        sent = [line for line in log.read_text().splitlines() if "AF_INET" in line and ("SOCK_STREAM" in line or "send" in line or ("connect" in line and '"2001:4860:4860::8888"' not in line))]
        t.check((t.folder / "traced.pdf").exists() and not sent, "nothing is sent to a network", sent[:5])
    if os.geteuid() == 0 and shutil.which("setpriv"):
        t.folder.chmod(0o755)
        place = t.folder / "nobody"
        place.mkdir()
        os.chown(place, 65534, 65534)
        subprocess.run(["chmod", "-R", "a+rX", str(t.folder / "demo")], check=True)
        done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", t.lode, "report", t.store, "--pdf", str(place / "user.pdf")],
                              env=t.environment(path), cwd="/", capture_output=True, timeout=300, check=False)
        t.check(done.returncode == 0 and (place / "user.pdf").read_bytes().startswith(b"%PDF-") and t.is_clean(), "of another user than root, too", done.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    with tempfile.TemporaryDirectory() as folder:
        t = Pdf(str(Path(parser.parse_args().lode).resolve()), folder)
        status, _, errors = t.run("--pdf", "x.pdf", path="/nonexistent")
        if "page" in errors and "Chromium" not in errors:
            t.skip("report --pdf", "this program has no page")
            return t.finish()
        for check in (says_what_is_missing, gives_the_browser_nothing_of_the_user, fails_clearly, ends_by_signals, prints_with_a_real_browser):
            check(t)
        return t.finish()


if __name__ == "__main__":
    sys.exit(main())
