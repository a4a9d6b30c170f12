#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Slow and half requests to the server of `lode view`: slow.py --lode PROGRAM [--rounds N] [--seconds S]. Another user of the machine (if this
one is root) fills all connections with requests that do not end, again and again, and feeds them byte by byte; the owner's requests are
answered meanwhile. With --seconds, none of them may take longer. 1,000 rounds with a limit of 1 s, by hand: tests/bench/README.md.
"""

import argparse
import multiprocessing
import os
import select
import socket
import sys
import tempfile
import time
from pathlib import Path

from serving import Server, Tap, has_plugin, make_example

NOBODY = 65534
AT_ONCE = 96  # connections of an attacker, more than the server has
STRANGERS = 16  # connections of clients without a token
REQUESTS = 20  # of the owner, at least
PATIENCE = 60  # seconds; ends what hangs

HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "
# Beginnings, and what follows byte by byte.
KINDS = ((HALF, b"x" * 40), (b"G", b"ET / HTTP/1.1"), (b"GET /api/1/session HTTP/1.1\r\n", b"Host: 127.0.0.1\r\nA: b\r\nC: d"), (b"", b""),
         (b"POST /api/1/stop HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\n", b"x" * 40),
         # Whole ones, of which nobody reads the answers.
         (b"GET /app.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 40, b"\r\n"), (b"GET /api/1/session HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 9, b"G"))


def connect(port):
    """A connection, or None: whoever is refused tries again."""
    link = socket.socket()
    link.setblocking(False)
    try:
        link.connect(("127.0.0.1", port))
    except BlockingIOError:
        pass
    except OSError:
        link.close()
        return None
    return link


def feed(link, data):
    """Whether it is still there."""
    try:
        if data:
            link.send(data)
        return True
    except BlockingIOError:
        return True
    except OSError:
        return False


def one_round(port, number):
    """As many connections as there can be, all begun, none ended, and each fed a little."""
    links = [(connect(port), KINDS[(number + i) % len(KINDS)]) for i in range(AT_ONCE)]
    links = [pair for pair in links if pair[0]]
    select.select([], [link for link, _ in links], [], 0.02)
    alive = [(link, rest) for link, (first, rest) in links if feed(link, first)]
    for at in range(8):
        time.sleep(0.002)
        alive = [(link, rest) for link, rest in alive if feed(link, rest[at:at + 1])]
    for link, _ in links:
        link.close()


def attack(port, user, count, is_over):
    if user is not None:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    while not is_over.value:
        with count.get_lock():
            count.value += 1
            number = count.value
        one_round(port, number)


def ask_while(server, attackers, count, rounds):
    """Seconds of each request of the owner during some rounds, on new connections and on an old one; and how many failed."""
    times, failures = [], []
    kept = server.connection()
    while not count.value:
        time.sleep(0.001)
    while (count.value < rounds or len(times) < REQUESTS) and all(attacker.is_alive() for attacker in attackers):
        for link in (None, kept):
            begun = time.monotonic()
            try:
                answer = server.ask("/api/1/session" if len(times) % 2 else f"/api/1/top/0?limit={len(times)}", connection=link)
                if answer.status != 200:
                    failures.append(answer.status)
            except OSError as error:
                failures.append(repr(error))
                kept.close()
            times.append(time.monotonic() - begun)
        time.sleep(0.005)
    kept.close()
    return times, failures


def besieged(tap, server, asked):
    user = NOBODY if os.geteuid() == 0 else None
    context = multiprocessing.get_context("fork")
    count, is_over = context.Value("i", 0), context.Value("b", 0)
    attackers = [context.Process(target=attack, args=(server.port, user, count, is_over)) for _ in range(asked.clients)]
    for attacker in attackers:
        attacker.start()
    times, failures = ask_while(server, attackers, count, asked.rounds)
    is_over.value = 1
    for attacker in attackers:
        attacker.join()
    times.sort()
    figures = f"{len(times)} requests, median {times[len(times) // 2] * 1000:.1f} ms, at most {times[-1] * 1000:.0f} ms"
    print(f"# {count.value} rounds of {AT_ONCE} connections by {'another user' if user else 'the same user'}; the owner: {figures}")
    tap.check(count.value >= asked.rounds and not failures and len(times) >= REQUESTS, "the owner is answered while others send half requests", [count.value, failures[:5], figures])
    if asked.seconds:
        tap.check(times[-1] <= asked.seconds, f"no request of the owner takes longer than {asked.seconds} s", [figures])


def is_closed(link):
    try:
        return bool(select.select([link], [], [], 0)[0]) and not link.recv(4096)
    except ConnectionError:
        return True
    except BlockingIOError:
        return False


def until(is_so):
    """Whether it is so in the end."""
    begun = time.monotonic()
    while not (found := is_so()) and time.monotonic() - begun < PATIENCE:
        time.sleep(0.02)
    return found


def places(tap, server):
    """Who has not shown the token shares a quarter of the places; who has keeps its own."""
    kept = server.connection()
    server.ask("/api/1/session", connection=kept)
    links = []
    for i in range(2 * STRANGERS):
        link = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
        link.sendall(HALF)
        links.append(link)
        expected = max(0, i + 1 - STRANGERS)
        if not until(lambda: sum(is_closed(link) for link in links) >= expected):
            break
    states = [is_closed(link) for link in links]
    tap.check(states == [True] * STRANGERS + [False] * STRANGERS, "the oldest of too many strangers go", [states])
    tap.check(server.ask("/api/1/session", connection=kept).status == 200, "a client that has shown the token stays")
    # The half requests go on, so slowly that no pause is long.
    until(lambda: all([is_closed(link) or not feed(link, b"x") for link in links]))
    states = [is_closed(link) for link in links]
    tap.check(all(states), "a request whose headers do not end is given up, however it is fed", [states])
    for link in links:
        link.close()


def later_requests(tap, server):
    """What holds for the first request of a connection holds for the next ones."""
    token = f"Authorization: Bearer {server.token}\r\n".encode()
    for name, head in (("no token", b""), ("the token", token)):
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as link:
            link.sendall(b"GET /api/1/session HTTP/1.1\r\nHost: 127.0.0.1\r\n" + head + b"\r\n")
            while not link.recv(65536).endswith(b"}\n"):
                pass
            link.setblocking(False)
            feed(link, HALF)
            tap.check(until(lambda: is_closed(link) or not feed(link, b"x")), f"so is a second one on a connection with {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, type=lambda text: Path(text).resolve())
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--seconds", type=float)
    asked = parser.parse_args()
    tap = Tap()
    if has_plugin(asked.lode):
        print(f"1..0 # SKIP {has_plugin(asked.lode)}")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        stores = make_example(asked.lode, Path(scratch) / "demo")
        with Server(asked.lode, stores[1]) as server:
            server.wait_until_open()
            besieged(tap, server, asked)
            places(tap, server)
            later_requests(tap, server)
            status = server.stop()
            tap.check(status == 0 and server.error_text() == "", "it ends cleanly", [status, server.error_text()[-4000:]])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
