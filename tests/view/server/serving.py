# SPDX-License-Identifier: BSD-3-Clause
"""A server of `lode view` for tests: started, asked over real sockets, stopped."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import corpora  # noqa: E402
from tap import Tap  # noqa: E402,F401

SECONDS = 120


def corpus():
    """The folder of real stores, or None."""
    folder = corpora.root()
    return folder if folder.is_dir() else None


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout=SECONDS):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    def json(self):
        return json.loads(self.body)


def heed_signals():
    """Signals that are ignored stay so in a program that is started, as under nohup."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


class Server:
    """`lode view STORE...`; a context manager that ends it, and the process."""

    def __init__(self, lode, *arguments, env=None, cwd=None):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen([lode, "view", *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=self.errors, cwd=cwd, env={**os.environ, **(env or {})}, preexec_fn=heed_signals)
        self.lines, self.token, self.port, self.path = [], None, None, None
        while self.token is None:
            line = self.process.stdout.readline().decode()
            if not line:
                raise RuntimeError(f"no server: {self.error_text()}")
            self.lines.append(line)
            found = re.search(r"#token=([0-9a-f]+)", line)
            self.token = found and found.group(1)
            port = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
            self.port = int(port.group(1)) if port else None
            listening = re.match(r"listening on (.*); ", line)
            self.path = listening.group(1) if listening else self.path
        self.lines.append(self.process.stdout.readline().decode() if not self.path else "")

    def error_text(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")

    def connection(self, host="127.0.0.1"):
        return UnixConnection(self.path) if self.path else http.client.HTTPConnection(host, self.port, timeout=SECONDS)

    def ask(self, path, method="GET", headers=None, token=True, host=None, connection=None, body=None):
        """`headers` replace the usual ones; those that are None are not sent."""
        all_headers = {"Host": host or f"127.0.0.1:{self.port or 80}"}
        if token:
            all_headers["Authorization"] = f"Bearer {self.token}"
        if body is not None:
            all_headers["Content-Length"] = str(len(body))
        all_headers.update(headers or {})
        link = connection or self.connection()
        link.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in all_headers.items():
            if value is not None:
                link.putheader(name, value)
        link.endheaders(body)
        answer = Answer(link.getresponse())
        if not connection:
            link.close()
        return answer

    def command(self, words, **options):
        """A command line without the stores: ("top", 0, {"limit": "3"})."""
        name, stores, parameters = words
        stores = stores if isinstance(stores, (list, tuple)) else [stores]
        query = urlencode([(key, value) for key, values in parameters.items()
                           for value in (values if isinstance(values, list) else [values])])
        return self.ask(f"/api/1/{name}/{'/'.join(map(str, stores))}{'?' + query if query else ''}", **options)

    def session(self):
        return self.ask("/api/1/session").json()

    def wait_until_open(self):
        while any(store["state"] == "opening" for store in self.session()["stores"]):
            time.sleep(0.01)
        return self.session()["stores"]

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.wait()

    def wait(self):
        status = self.process.wait(SECONDS)
        self.process.stdout.close()
        return status

    def __enter__(self):
        return self

    def __exit__(self, *what):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()
        return False


def make_example(lode, folder):
    subprocess.run([lode, "example", folder], check=True, stdout=subprocess.DEVNULL)
    return [folder / name for name in ("shop", "solver", "thumbs")]


def has_plugin(lode):
    """None, or why there is no server."""
    done = subprocess.run([lode, "view", "/nonexistent"], capture_output=True, text=True, check=False)
    found = re.search(r"plug-in", done.stderr)
    return done.stderr.strip() if found else None
