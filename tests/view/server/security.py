#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Who may ask the server of `lode view`, over real sockets: security.py --lode PROGRAM. Each line of doc/view.md,
"Security", has a check here. What browsers enforce of the headers is tested in a browser (tests/view/*.mjs).
"""

import argparse
import gzip
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from serving import Server, Tap, has_plugin, make_example

SOMEBODY = 12345
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")


def tokens(tap, server):
    token = server.token
    tap.check(len(token) == 64, "the token has 32 bytes")
    for name, header in (("no token", None), ("an empty one", "Bearer "), ("a wrong one", "Bearer " + "0" * 64), ("a short one", f"Bearer {token[:-1]}"),
                         ("a longer one", f"Bearer {token}0"), ("the right one in capitals", f"Bearer {token.upper()}"), ("another scheme", f"Basic {token}"),
                         ("no scheme", token), ("a changed last digit", f"Bearer {token[:-1]}{'0' if token[-1] != '0' else '1'}")):
        answer = server.ask("/api/1/session", token=False, headers={"Authorization": header})
        tap.check(answer.status == 401 and "stores" not in answer.json(), f"{name}: refused", [answer.status, answer.body[:200]])
    for path in (f"/api/1/session?token={token}", f"/api/1/session?access_token={token}"):
        tap.check(server.ask(path, token=False).status == 401, "a token in the address is none")
    tap.check(server.ask("/api/1/session", token=False, headers={"Cookie": f"token={token}; Authorization=Bearer {token}"}).status == 401,
              "a token in a cookie is none")
    tap.check(server.ask("/api/1/session").status == 200, "the right token is accepted")
    tap.check("set-cookie" not in server.ask("/").headers, "no cookie is set")
    tap.check(server.ask("/", token=False).status == 200, "the page needs no token")
    for path in ("/api/1/top/0", "/api/1/stop", "/api/1/nothing", "/api/", "/api"):
        status = server.ask(path, token=False, method="POST" if path.endswith("stop") else "GET").status
        tap.check(status == 401, f"{path} without a token: refused", [status])


def hosts(tap, server):
    for host, expected in (("localhost", 200), ("localhost:9999", 200), ("LOCALHOST", 200), ("127.0.0.1:1", 200), ("[::1]:8080", 200), ("[::1]", 200),
                           ("evil.example", 421), ("evil.example:80", 421), ("localhost.evil.com", 421), ("127.0.0.1.evil.com", 421), ("127.0.0.2", 421),
                           ("localhost:80@evil.example", 421), ("localhost:", 421), ("localhost:x", 421), ("", 421), ("0.0.0.0", 421), ("[::1]evil", 421)):
        for path in ("/api/1/session", "/"):
            answer = server.ask(path, host=host, headers={"Host": host})
            tap.check(answer.status in ((expected,) if host else (400, 421)), f"Host '{host}' for {path}: {answer.status}", [answer.body[:200]])
    here = f"127.0.0.1:{server.port}"
    for origin, expected in ((f"http://{here}", 200), ("http://evil.example", 403), ("null", 403), (f"https://{here}", 403), ("http://127.0.0.1:1", 403),
                             (f"http://{here}.evil.com", 403), ("", 403), (f"http://localhost:{server.port}", 403)):
        status = server.ask("/api/1/session", host=here, headers={"Origin": origin}).status
        tap.check(status == expected, f"Origin '{origin}': {status}")
    for site, expected in (("same-origin", 200), ("none", 200), ("cross-site", 403), ("same-site", 403), ("", 403)):
        status = server.ask("/api/1/session", headers={"Sec-Fetch-Site": site}).status
        tap.check(status == expected, f"Sec-Fetch-Site '{site}': {status}")


def raw(server, text):
    """The beginning of what comes back for these bytes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as link:
        reply = b""
        try:
            link.sendall(text if isinstance(text, bytes) else text.encode())
            while b"\r\n" not in reply and (part := link.recv(65536)):
                reply += part
        except ConnectionError:
            pass
        return reply


def status_of(reply):
    return int(reply.split(b" ", 2)[1]) if reply.startswith(b"HTTP/") else None


def methods(tap, server):
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "FROB"):
        answer = server.ask("/api/1/session", method=method)
        tap.check(answer.status in (400, 405, 501), f"{method}: {answer.status}")
    preflight = server.ask("/api/1/session", method="OPTIONS", token=False,
                           headers={"Origin": "http://evil.example", "Access-Control-Request-Headers": "authorization", "Access-Control-Request-Method": "GET"})
    tap.check(preflight.status == 405 and not any("access-control" in name for name in preflight.headers), "a preflight is refused without CORS headers")
    tap.check(server.ask("/api/1/stop").status == 405, "stop is not for GET")
    tap.check(server.ask("/", method="HEAD").status == 200, "HEAD is answered")
    head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {server.token}\r\n"
    reply = raw(server, f"POST /api/1/stop HTTP/1.1\r\n{head}Content-Length: 5\r\n\r\nhello")
    tap.check(status_of(reply) == 413, "a body is refused", [reply[:100]])
    reply = raw(server, f"GET /api/1/session HTTP/1.1\r\nHost: evil.example\r\n{head}\r\n")
    tap.check(status_of(reply) == 400, "two Host headers are refused", [reply[:100]])
    reply = raw(server, f"GET /api/1/session HTTP/1.1\r\n{head}Authorization: Bearer 0\r\n\r\n")
    tap.check(status_of(reply) == 400, "two tokens are refused", [reply[:100]])
    reply = raw(server, f"GET /api/1/session HTTP/1.1\r\nAuthorization: Bearer {server.token}\r\n\r\n")
    tap.check(status_of(reply) in (400, 421), "no Host is refused", [reply[:100]])
    for count, last, expected in ((62, "", 200), (63, "", 431), (70, "", 431), (62, "Host: evil.example\r\n", 431), (70, "Host: evil.example\r\n", 431), (200, "", 431)):
        reply = raw(server, f"GET /api/1/session HTTP/1.1\r\n{head}{''.join(f'X{i}: y' + chr(13) + chr(10) for i in range(count))}{last}\r\n")
        tap.check(status_of(reply) == expected, f"{count + 2} headers{' and another host' if last else ''}: {expected}", [reply[:100]])


def headers_are_safe(tap, server):
    for path, token in (("/", False), ("/api/1/session", True), ("/api/1/session", False), ("/nothing", True), ("/api/1/top/0", True), ("/api/1/top/99", True)):
        answer = server.ask(path, token=token)
        given = {name: answer.headers.get(name) for name in ("content-security-policy", "x-content-type-options", "referrer-policy",
                                                             "cross-origin-resource-policy", "cross-origin-opener-policy")}
        expected = {"content-security-policy": POLICY, "x-content-type-options": "nosniff", "referrer-policy": "no-referrer",
                    "cross-origin-resource-policy": "same-origin", "cross-origin-opener-policy": "same-origin"}
        tap.check(given == expected, f"{path} ({answer.status}) has the safe headers", [given])
    error = server.ask("/api/1/nothing").json()
    tap.check(error["schema"] == {"name": "lode-view-error", "version": 1} and error["message"], "errors are JSON")


def paths(tap, server):
    for path in ("/../etc/passwd", "/..%2f..%2fetc%2fpasswd", "/%2e%2e/etc/passwd", "/api/../../etc/passwd", "/api/1/../1/session", "/etc/passwd", "//etc/passwd",
                 "/index.html/..", "/api/1/source/0/..%2f..", "/api/1/top/..", "/api/1/top/-1", "/api/1/top/0x0", "/api/1/top/00000000000000000000",
                 "/api/1/top/%2e", "/api/1/session/0", "/%00", "/index.html%00", "/api/1/top/0%00", "/%zz", "/api/1/top/0?limit=%zz", "/api/1/top/0?limit=%00"):
        answer = server.ask(path)
        tap.check(answer.status in (400, 404) and b"root:" not in answer.body, f"{path}: {answer.status}")
    for command in ("build", "convert", "merge", "slice", "export", "example", "synth", "dump", "runs", "gate", "view", "help", "version", "complete", "tui"):
        tap.check(server.ask(f"/api/1/{command}/0").status == 404, f"'{command}' is not for the page")
    for option in ("output", "force", "threads", "strict", "csv", "json", "source-path", "color", "help", "markdown", "table", "base", "new", "rules", "memory",
                   "o", "-o", "--output", "", "limit=3&output"):
        answer = server.ask(f"/api/1/source/1?{option}=/tmp/x")
        tap.check(answer.status == 400, f"option '{option}' is refused", [answer.status, answer.body[:100]])
    for option in ("kinds=/etc/passwd", "base=/etc", "base=0", "fail-on=likely", "deep", "threads=9"):
        answer = server.ask(f"/api/1/diagnose/1?{option}")
        # The command would answer 400, too, after it has read the file.
        tap.check(answer.status == 400 and b"cannot be used here" in answer.body, f"diagnose: option '{option}' is refused", [answer.status, answer.body[:200]])
    tap.check(server.ask("/api/1/diagnose/1").status == 200, "diagnose is for the page")
    for path in ("/api/1/compare/0?base=0&new=1", "/api/1/trace/1?columns=9000", "/api/1/trace/1?rows=5000", "/api/1/top/1?limit=-1", "/api/1/top/1?limit=99999999999999999999",
                 "/api/1/top/1/1", "/api/1/top", "/api/1/compare/1", "/api/1/context/1", "/api/1/top/1?" + "&".join(["metric=x"] * 65)):
        tap.check(server.ask(path).status == 400, f"{path[:60]}: refused")
    injected = server.ask("/api/1/context/1?context=--help")
    tap.check(injected.status == 400 and b"EXAMPLES" not in injected.body, "an operand that looks like an option is an operand", [injected.body[:200]])
    value = server.ask("/api/1/top/1?profiles=--threads%3D9")
    tap.check(value.status == 400, "a value that looks like an option is a value", [value.body[:200]])


def sizes(tap, server):
    head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {server.token}\r\n"
    reply = raw(server, f"GET /api/1/session HTTP/1.1\r\n{head}X: {'x' * 6000}\r\n\r\n")
    tap.check(status_of(reply) == 200, "a long header is fine", [reply[:100]])
    for name, text in (("a header of 100 kB", f"GET / HTTP/1.1\r\n{head}X: {'x' * 100000}\r\n\r\n"), ("a target of 100 kB", f"GET /{'x' * 100000} HTTP/1.1\r\n{head}\r\n"),
                       ("3,000 headers", f"GET / HTTP/1.1\r\n{head}{''.join(f'X{i}: y' + chr(13) + chr(10) for i in range(3000))}\r\n"),
                       ("a target of 9,000 bytes", f"GET /{'x' * 9000} HTTP/1.1\r\n{head}\r\n")):
        reply = raw(server, text)
        tap.check(status_of(reply) in (None, 400, 413, 414, 431), f"{name}: {status_of(reply)}")
    # What fills the memory of a connection is freed, answered or not: a leak fails the end of a sanitized server.
    for count in (0, 30, 120):
        for size in range(26000, 33000, 700):
            with socket.create_connection(("127.0.0.1", server.port), timeout=60) as link:
                link.sendall(f"GET /api/1/top/0?{'a=b&' * count}c={'d' * (size - 4 * count)} HTTP/1.1\r\n{head}\r\n".encode())
    tap.check(server.ask("/api/1/session").status == 200, "targets that fill the memory of a connection do not stop it")
    # Who goes away in the middle of a request leaves no connection behind: there is room for a few only.
    for i in range(300):
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as link:
            link.sendall(f"GET /api/1/session HTTP/1.1\r\n{'' if i % 2 else head}".encode())
    tap.check(server.ask("/api/1/session").status == 200, "300 clients that leave in the middle of a request do not stop it")
    links = []
    try:
        for _ in range(200):
            links.append(socket.create_connection(("127.0.0.1", server.port), timeout=5))
    except OSError:
        pass
    for link in links:
        link.close()
    time.sleep(0.2)
    tap.check(server.ask("/api/1/session").status == 200, "200 idle connections do not stop it")


def packed(tap, server):
    """Large answers are packed for those who can unpack them, and for nobody else."""
    path = "/api/1/trace/1?columns=2000&rows=64&limit=0"
    plain = server.ask(path)
    tap.check(len(plain.body) > 16384 and "content-encoding" not in plain.headers and plain.headers.get("vary") == "Accept-Encoding", "who does not say so gets no gzip", [plain.headers, len(plain.body)])
    for accepted, is_packed in (("gzip", True), ("gzip, deflate, br", True), ("br;q=1.0, gzip;q=0.5", True), ("GZIP", True), ("x-gzip", True), ("*", True), ("deflate, *;q=0.1", True), ("gzip; q=1", True),
                                ("", False), ("identity", False), ("gzip;q=0", False), ("gzip;q=0.000", False), ("gzip ; q=0, identity", False), ("*;q=0", False), ("gzip;q=0, *", False),
                                ("br, deflate", False), ("gzipped", False), ("not-gzip", False), (",,;", False), ("gzip;q=0.001", True)):
        for again in ("", ", cached"):
            answer = server.ask(path, headers={"Accept-Encoding": accepted})
            is_right = (gzip.decompress(answer.body) if is_packed else answer.body) == plain.body and answer.headers.get("content-encoding") == ("gzip" if is_packed else None)
            tap.check(answer.status == 200 and is_right and answer.headers.get("vary") == "Accept-Encoding", f"Accept-Encoding '{accepted}'{again}: {'packed' if is_packed else 'plain'}", [answer.headers, len(answer.body)])
    answer = server.ask(path, headers={"Accept-Encoding": "gzip"})
    tap.check(answer.headers["etag"] != plain.headers["etag"] and len(answer.body) * 4 < len(plain.body), "it is smaller, and has a tag of its own", [answer.headers, len(answer.body), len(plain.body)])
    for tag, accepted, expected in ((answer.headers["etag"], "gzip", 304), (plain.headers["etag"], "gzip", 200), (plain.headers["etag"], None, 304), (answer.headers["etag"], None, 200)):
        known = server.ask(path, headers={"Accept-Encoding": accepted, "If-None-Match": tag})
        tap.check(known.status == expected and known.headers.get("vary") == "Accept-Encoding", f"tag {tag} with Accept-Encoding {accepted}: {expected}", [known.status, known.headers])
    small = server.ask("/api/1/top/1?limit=1", headers={"Accept-Encoding": "gzip"})
    tap.check(small.status == 200 and "content-encoding" not in small.headers and small.json()["rows"], "a small answer is not packed", [small.headers])


def listeners(server):
    """Addresses that the process listens on, from /proc."""
    inodes = set()
    for name in os.listdir(f"/proc/{server.process.pid}/fd"):
        try:
            target = os.readlink(f"/proc/{server.process.pid}/fd/{name}")
        except OSError:
            continue
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    found = []
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[9] in inodes and (fields[3] == "0A" or table.startswith("udp")):
                found.append((table, fields[1].split(":")[0]))
    return sorted(found)


def local(tap, lode, stores, folder):
    with Server(lode, stores[1]) as server:
        expected = [("tcp", "0100007F"), ("tcp6", "00000000000000000000000001000000")]
        found = listeners(server)
        tap.check(found in (expected, expected[:1]), "it listens on 127.0.0.1 and ::1 only", [found])
        arguments = Path(f"/proc/{server.process.pid}/cmdline").read_bytes() + Path(f"/proc/{server.process.pid}/environ").read_bytes()
        tap.check(server.token.encode() not in arguments, "the token is not in the arguments")
        if len(found) == 2:
            tap.check(server.ask("/api/1/session", host=f"[::1]:{server.port}", connection=server.connection("::1")).status == 200, "::1 is served")
        with Server(lode, stores[1]) as other:
            tap.check(other.token != server.token, "each start has a token of its own")
        taken = subprocess.run([lode, "view", stores[1], "--port", str(server.port)], capture_output=True, text=True, check=False, timeout=60)
        tap.check(taken.returncode == 2 and "cannot listen" in taken.stderr, "a port that is taken is an error", [taken])


# Run by somebody else: what can be read of a server, besides the page, whose port is known.
STRANGER = """
import os, sys, urllib.error, urllib.request
port, process, *token = sys.argv[1:]
print("user", os.getuid(), os.getgid(), os.getgroups())
for path in ("api/1/session", "api/1/top/0", *(() if token else ("api/1/stop",))):
    try:
        headers = {"Authorization": "Bearer " + word for word in token}
        print(path, urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/{path}", b"" if path.endswith("stop") else None, headers)).status)
    except urllib.error.HTTPError as error:
        print(path, error.code)
for name in ("environ", "mem", "maps", "stack", "fd", "cmdline"):
    try:
        place = f"/proc/{process}/{name}"
        print(name, os.listdir(place) if name == "fd" else open(place, "rb").read(100000))
    except OSError:
        print(name, "refused")
"""


def as_user(user, code, *arguments):
    """What a program prints that somebody runs."""
    done = subprocess.run(["/usr/bin/python3", "-c", code, *map(str, arguments)], user=user, group=user, extra_groups=[], cwd="/", env={},
                          capture_output=True, text=True, check=False, timeout=60)
    return done.stdout, done.stderr


def strangers(tap, lode, stores):
    """Another user of the machine sees the port and the process, and no more."""
    if os.geteuid() != 0 or not Path("/usr/bin/python3").exists():
        tap.skip("another user gets nothing from the port", "only root can be another user")
        return
    with Server(lode, stores[1]) as server:
        server.wait_until_open()
        output, errors = as_user(SOMEBODY, STRANGER, server.port, server.process.pid)
        found = dict(line.split(" ", 1) for line in output.splitlines())
        tap.check(found.get("user") == f"{SOMEBODY} {SOMEBODY} []", "the other user is another user", [found, errors])
        tap.check([found.get(path) for path in ("api/1/session", "api/1/top/0", "api/1/stop")] == ["401"] * 3, "another user gets nothing from the port", [found, errors])
        tap.check(all(found.get(name) == "refused" for name in ("environ", "mem", "maps", "stack", "fd")), "nor from the process", [found])
        tap.check("cmdline" in found and server.token not in output, "its arguments may be visible, the token is not", [found])
        # The same program, with what only the owner has: what was refused is there.
        output, errors = as_user(0, STRANGER, server.port, server.process.pid, server.token)
        found = dict(line.split(" ", 1) for line in output.splitlines())
        tap.check([found.get(path) for path in ("api/1/session", "api/1/top/0")] == ["200"] * 2 and found.get("fd") != "refused", "the owner, with the token, gets it", [found, errors])


def sockets(tap, lode, stores, folder):
    path = folder / "lode.sock"
    with Server(lode, stores[1], "--socket", path) as server:
        tap.check(oct(path.stat().st_mode & 0o7777) == "0o600" and listeners(server) == [], "a socket of mode 0600, and no port", [path.stat()])
        tap.check(server.ask("/api/1/session", host="localhost").status == 200, "it is served")
        tap.check(server.ask("/api/1/session", token=False, host="localhost").status == 401, "the socket needs a token, too")
        if os.geteuid() == 0 and Path("/usr/bin/python3").exists():
            folder.chmod(0o755)
            code = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); print('connected')"
            output, errors = as_user(SOMEBODY, code, path)
            tap.check("Errno 13" in errors and output == "", "another user cannot connect", [errors[-300:]])
            # It is the mode of the socket that keeps them out, not the folder.
            path.chmod(0o666)
            output, errors = as_user(SOMEBODY, code, path)
            path.chmod(0o600)
            tap.check(output == "connected\n", "with another mode they could", [errors[-300:]])
        else:
            tap.skip("another user cannot connect", "only root can be another user")
        busy = subprocess.run([lode, "view", stores[1], "--socket", path], capture_output=True, text=True, check=False, timeout=60)
        tap.check(busy.returncode == 2 and path.exists(), "a socket that is in use is not taken", [busy])
        tap.check(server.stop() == 0 and not path.exists(), "the socket is removed at the end")
    with Server(lode, stores[1], "--socket", path) as server:
        server.process.kill()
        server.process.wait()
    tap.check(path.exists(), "a server that was killed leaves its socket")
    with Server(lode, stores[1], "--socket", path) as server:
        tap.check(server.ask("/api/1/session", host="localhost").status == 200, "the next one replaces it")
    path.unlink(missing_ok=True)
    path.write_text("a file")
    done = subprocess.run([lode, "view", stores[1], "--socket", path], capture_output=True, text=True, check=False, timeout=60)
    tap.check(done.returncode == 2 and path.read_text() == "a file", "a file is not replaced by a socket", [done])


def ends(tap, lode, stores):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with Server(lode, *stores) as server:
            link = server.connection()
            server.ask("/api/1/session", connection=link)
            tap.check(server.stop(number) == 0 and server.error_text() == "", f"{number.name} ends it cleanly", [server.error_text()])
    with Server(lode, *stores) as server:
        answer = server.ask("/api/1/stop", method="POST")
        tap.check(answer.status == 204 and server.wait() == 0, "stop ends it", [answer.status])
    with Server(lode, stores[1], "--idle", "1s") as server:
        tap.check(server.wait() == 0, "--idle ends it")


def one_is_bad(tap, lode, stores, folder):
    """A store that cannot be opened does not hide the others."""
    (folder / "none").mkdir()
    broken = folder / "broken"
    shutil.copytree(stores[1], broken)
    (broken / "meta.db").write_bytes((broken / "meta.db").read_bytes()[:100])
    with Server(lode, folder / "missing", stores[1], folder / "none", broken, stores[0]) as server:
        found = server.wait_until_open()
        tap.check([store["state"] for store in found] == ["failed", "ready", "failed", "failed", "ready"], "the good ones among bad stores are open", [found])
        tap.check(all(store.get("problem") for store in found if store["state"] == "failed"), "the bad ones say why", [found])
        messages = server.error_text()
        tap.check(f"{folder}/missing: no such file" in messages and f"{folder}/none" in messages, "and so does the terminal", [messages])
        statuses = [server.command(("top", number, {})).status for number in range(5)]
        tap.check(statuses == [422, 200, 422, 422, 200], "the good ones answer", [statuses])
    done = subprocess.run([lode, "view", folder / "missing", folder / "none"], capture_output=True, text=True, check=False, timeout=60)
    tap.check(done.returncode == 2 and done.stderr.count("lode: ") == 2 and not done.stdout, "without a good one there is no server", [done])


def sums(folder):
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        status = path.lstat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
        found[str(path)] = (status.st_mode, status.st_mtime_ns, digest)
    return found


def runs(tap, lode, stores, folder):
    """A catalogue is read, and only the stores of its runs that are as they were are opened."""
    file, moved = folder / "runs.sqlite", folder / "moved"
    made = [subprocess.run([lode, "runs", "add", str(store), "--catalogue", str(file)], capture_output=True, timeout=300).returncode for store in stores]
    if any(made):
        tap.skip("catalogues of runs", "this program has none")
        return
    before = file.read_bytes()
    for words, why in ((["--catalogue", "none.sqlite"], "there is no catalogue"), (["--catalogue", str(stores[1])], "catalogue"), (["--project", "x", str(stores[1])], "needs --catalogue")):
        done = subprocess.run([lode, "view", *words], capture_output=True, text=True, check=False, timeout=60, cwd=folder)
        tap.check(done.returncode == 2 and why in done.stderr and done.stdout == "", f"lode view {words[0]} {words[1]} says why and ends", [done.stderr, done.stdout])
    with Server(lode, stores[0]) as server:
        server.wait_until_open()
        found = [server.ask("/api/1/runs/list").status, server.ask("/api/1/open?run=1", method="POST").status]
        tap.check(found == [404, 404], "without --catalogue there are no runs", found)
    with Server(lode, "--catalogue", file) as server:
        for path, method, expected in (("runs/list", "GET", 200), ("runs/trend", "GET", 200), ("runs/list?limit=1&label=title%3Dx", "GET", 200), ("runs/list", "POST", 405),
                                       ("runs", "GET", 400), ("runs/add", "GET", 400), ("runs/remove", "GET", 400), ("runs/check", "GET", 400), ("runs/list/1", "GET", 400),
                                       ("runs/0", "GET", 400), ("runs/list?catalogue=x", "GET", 400), ("runs/list?project=x", "GET", 400), ("runs/trend?svg=x", "GET", 400),
                                       ("runs/trend?function=--svg%3Dx", "GET", 400), ("runs/list?function=x", "GET", 400), ("open?run=1", "GET", 405), ("open", "POST", 400),
                                       ("open?run=", "POST", 400), ("open?run=0", "POST", 400), ("open?run=1&run=2", "POST", 400), ("open?run=x", "POST", 400),
                                       ("open?run=-1", "POST", 400), ("open?run=99999999999999999999", "POST", 400), ("open?run=99", "POST", 422), ("open?path=/", "POST", 400)):
            answer = server.ask(f"/api/1/{path}", method=method)
            tap.check(answer.status == expected, f"{method} {path}: {answer.status}", [answer.body[:200]])
        tap.check(server.ask("/api/1/open?run=1", method="POST", token=False).status == 401, "a run is not opened without a token")
        tap.check([len(server.ask("/api/1/open?run=1", method="POST").json()["stores"]) for _ in range(3)] == [1, 1, 1], "a store of a run is opened once")
        stores[1].rename(moved)
        answers = [server.ask("/api/1/open?run=2", method="POST") for _ in range(40)]
        moved.rename(stores[1])
        tap.check({answer.status for answer in answers} == {422}, "a store that is gone is refused", [answers[0].body])
        tap.check(len(server.ask("/api/1/open?run=2", method="POST").json()["stores"]) == 2, "refusals take no place: it is opened when it is back")
        tap.check(server.ask("/api/1/runs/list").json()["rows"] == json.loads(subprocess.run([lode, "runs", "list", "--json", "--catalogue", str(file)], capture_output=True,
                                                                                          timeout=300).stdout)["rows"], "the list is that of lode runs")
    tap.check(file.read_bytes() == before and not (folder / "x").exists(), "nothing is written to the catalogue")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, type=lambda text: Path(text).resolve())
    lode = parser.parse_args().lode
    tap = Tap()
    if has_plugin(lode):
        print(f"1..0 # SKIP {has_plugin(lode)}")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        stores = make_example(lode, folder / "demo")
        before = sums(folder / "demo")
        with Server(lode, *stores) as server:
            server.wait_until_open()
            for part in (tokens, hosts, methods, headers_are_safe, paths, packed, sizes):
                part(tap, server)
            status = server.stop()
            tap.check(status == 0 and server.error_text() == "", "it ends cleanly after all that", [status, server.error_text()])
        local(tap, lode, stores, folder)
        strangers(tap, lode, stores)
        sockets(tap, lode, stores, folder)
        ends(tap, lode, stores)
        one_is_bad(tap, lode, stores, folder)
        runs(tap, lode, stores, folder)
        tap.check(sums(folder / "demo") == before, "nothing is written into the stores")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
