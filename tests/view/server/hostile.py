#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Hostile requests to the server of `lode view`: hostile.py --lode PROGRAM [--requests N] [--seed S] [--clients N]. Bytes that are no HTTP,
requests that were changed at random, every command with words of a dictionary as options and values. The server must
answer or close, never crash, and answer rightly afterwards. Several clients send at once, each its part. 10^6 requests, by hand: tests/bench/README.md.
"""

import argparse
import multiprocessing
import random
import socket
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

from serving import Server, Tap, has_plugin, make_example

COMMANDS = ["info", "check", "top", "tree", "profiles", "context", "source", "trace", "replay", "search", "compare", "scaling", "flame", "diagnose", "session", "stop", "build",
            "dump", "..", "%2e%2e", "", "top%00", "TOP", "a" * 300]
OPTIONS = ["metric", "profiles", "from", "to", "task", "id", "depth", "min-time", "include", "exclude", "names", "verbose", "sort", "limit", "by", "callers", "callees", "bottom-up",
           "focus", "lines", "min-percent", "scope", "all", "around", "level", "function", "tree", "rows", "columns", "context", "location", "text", "attribute", "method", "errors", "bins",
           "matrix", "threads", "output", "strict", "json", "help", "", "x" * 500, "limit%00", "-o", "at", "width", "merge", "idle", "probes", "statistic"]
VALUES = ["", "0", "1", "-1", "2", "7", "999999999", "18446744073709551615", "18446744073709551616", "1e308", "nan", "inf", "1s", "1ns", "-1s", "@0", "@18446744073709551615", "2022-09-13T08:57Z",
          "main", "*", "[", "(", "((((((((((", "a" * 4000, "%", "%s%s%s%n", "../../etc/passwd", "/etc/passwd", "rank=0", "rank=0-99999999999", "rank=", "thread=0,rank=1", "$0", "$0/$0", "$0" + "+$0" * 200,
          "\u202e", "\ud83d\ude00", "\x01", "\n", "--help", "true", "function", "line", "module", "loop", "exclusive", "name", "calls", "/a+/", "/(a*)*b/", "/" + "(" * 200, "simple", "full", "rank,thread"]
HEADERS = ["Host", "Authorization", "Origin", "Sec-Fetch-Site", "If-None-Match", "Accept-Encoding", "Range", "Content-Length", "Transfer-Encoding", "Connection", "Expect", "Upgrade", "X"]


def text_of(value):
    return quote(value.encode("utf-8", "surrogatepass"))


def target(chance):
    if chance.random() < 0.05:
        return "/" + "".join(chance.choice("/.%?&=abc01\\;:@[]{}") for _ in range(chance.randrange(60)))
    command = chance.choice(COMMANDS)
    stores = "/".join(chance.choice(["0", "1", "2", "3", "99", "-1", "", "0"]) for _ in range(chance.choice([1, 1, 1, 1, 2, 3, 0])))
    count = chance.choice([0, 1, 1, 2, 3, 9, 70 if chance.random() < 0.05 else 4])
    query = "&".join(f"{chance.choice(OPTIONS)}={text_of(chance.choice(VALUES))}" for _ in range(count))
    return f"/api/1/{command}/{stores}" + ("?" + query if query else "")


def request(chance, server):
    method = "GET" if chance.random() < 0.95 else chance.choice(["HEAD", "PUT", "OPTIONS", "\x00", "G" * 5000, ""])
    place = target(chance)
    if "stop" in place and method != "GET":
        method = "GET"
    lines = [f"{method} {place} HTTP/1.{chance.choice('1110')}", f"Host: {chance.choice(['localhost', '127.0.0.1:1', '[::1]:9'])}"]
    if chance.random() < 0.97:
        lines.append(f"Authorization: Bearer {server.token}")
    for _ in range(chance.choice([0, 0, 0, 1, 2])):
        lines.append(f"{chance.choice(HEADERS)}: {chance.choice(VALUES).encode('ascii', 'replace').decode()}")
    data = bytearray(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace"))
    kind = chance.random()
    if kind < 0.1:  # some bytes are others
        for _ in range(chance.randrange(1, 6)):
            data[chance.randrange(len(data))] = chance.randrange(256)
    elif kind < 0.13:  # it ends too early
        del data[chance.randrange(len(data)):]
    elif kind < 0.14:  # no HTTP at all
        data = bytearray(chance.randbytes(chance.randrange(1, 3000)))
    return bytes(data)


def send(server, requests, chance):
    """Some requests on one connection; how many bytes came back. Who does not get an answer soon goes away."""
    received = 0
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as link:
        try:
            link.sendall(b"".join(requests))
            if chance.random() < 0.1:
                return 0
            link.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            link.settimeout(1)
            while part := link.recv(1 << 20):
                received += len(part)
        except OSError:
            pass
    return received


def attack(server, count, seed):
    """One client: sends until it has sent enough, or nobody listens. How many requests it sent, and how many bytes came back."""
    chance, sent, received, late = random.Random(seed), 0, 0, 0
    while sent < count:
        some = chance.choice([1, 1, 2, 8, 20])
        requests = [request(chance, server) for _ in range(some)]
        try:
            received += send(server, requests, chance)
        except ConnectionRefusedError:
            break
        except TimeoutError:  # of a server that hardly runs, as on a busy machine
            late += 1
            if late == 10:
                break
            continue
        sent += some
    return sent, received


def attack_together(server, asked):
    """The clients are processes of their own, which share nothing but the address."""
    clients = multiprocessing.get_context("fork")
    with clients.Pool(asked.clients) as pool:
        parts = [pool.apply_async(attack, (Address(server), -(-asked.requests // asked.clients), f"{asked.seed}/{i}")) for i in range(asked.clients)]
        return [sum(column) for column in zip(*(part.get() for part in parts))]


class Address:
    def __init__(self, server):
        self.port, self.token = server.port, server.token


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, type=lambda text: Path(text).resolve())
    parser.add_argument("--requests", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clients", type=int, default=3)
    asked = parser.parse_args()
    tap = Tap()
    if has_plugin(asked.lode):
        print(f"1..0 # SKIP {has_plugin(asked.lode)}")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        stores = make_example(asked.lode, Path(scratch) / "demo")
        with Server(asked.lode, *stores) as server:
            server.wait_until_open()
            right = server.command(("top", 1, {})).body
            sent, received = attack_together(server, asked)
            is_alive = server.process.poll() is None and sent >= asked.requests
            tap.check(is_alive, f"the server lives after {sent} hostile requests of {asked.clients} clients (seed {asked.seed})", [server.process.poll(), server.error_text()[-4000:]])
            if server.process.poll() is None:
                tap.check(received > 100 * sent, "it answered", [received])
                tap.check(server.command(("top", 1, {})).body == right, "it answers rightly")
                status = server.stop()
                tap.check(status == 0 and server.error_text() == "", "it ends cleanly", [status, server.error_text()[-4000:]])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
