#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Pretend hosts: an MPI job whose ranks have networks and host names of their own, joined by a bridge.

Usage: hosts.py --lode PROGRAM [--kills N]

What goes between them is real TCP, so nothing that ranks of one machine share helps. Everything is made in namespaces of one process, and
is gone with it, however it ends. Needs root and iproute2.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import killed
from jobs import MPICH, OPENMPI, Job, environment, missing, room, run

from building import Lode, Tap, fingerprints, made_recordings

HOSTS = 3
SECONDS = 200
# Processes die with the first one, that with this one, and what was made with the namespaces.
APART = ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
INSIDE = "LODE_TEST_INSIDE"
WIRE_SHARE = 0.15  # of what is sent, that headers of packets and the talk of launchers may come to

# Runs a command on a host. Launchers call it as they would call ssh.
AGENT = """#!/bin/sh
host=$1
shift
exec ip netns exec "$host" unshare --uts sh -c 'hostname "$0" && exec sh -c "$1"' "$host" "$*"
"""
# Starts a launcher on the first host.
LAUNCHER = """#!/bin/sh
exec ip netns exec host1 unshare --uts sh -c 'hostname host1 && exec %s "$@"' sh "$@"
"""


def ip(*words):
    done = subprocess.run(["ip", *map(str, words)], capture_output=True, text=True, timeout=20, check=False)
    if done.returncode != 0:
        raise OSError(f"ip {' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout


def write_script(path, text):
    path.write_text(text, encoding="ascii")
    path.chmod(0o755)
    return str(path)


class Network:
    """Hosts host1, host2, ... on one bridge."""

    def __init__(self, folder):
        self.folder = Path(folder)
        os.makedirs("/run/netns", exist_ok=True)
        self.mount("-t", "tmpfs", "none", "/run/netns")
        ip("link", "set", "lo", "up")
        ip("link", "add", "bridge0", "type", "bridge")
        ip("link", "set", "bridge0", "up")
        names = ["127.0.0.1 localhost"]
        for i in range(1, HOSTS + 1):
            self.add(i)
            names.append(f"10.77.0.{i} host{i}")
        hosts = self.folder / "hosts"
        hosts.write_text("\n".join(names) + "\n", encoding="ascii")
        self.mount("--bind", str(hosts), "/etc/hosts")
        self.agent = write_script(self.folder / "agent", AGENT)

    @staticmethod
    def mount(*words):
        done = subprocess.run(["mount", *words], capture_output=True, text=True, timeout=20, check=False)
        if done.returncode != 0:
            raise OSError(f"mount {' '.join(words)}: {done.stderr.strip()}")

    @staticmethod
    def add(i):
        host = f"host{i}"
        ip("netns", "add", host)
        ip("link", "add", f"port{i}", "type", "veth", "peer", "name", "eth0", "netns", host)
        ip("link", "set", f"port{i}", "master", "bridge0", "up")
        ip("-n", host, "addr", "add", f"10.77.0.{i}/24", "dev", "eth0")
        ip("-n", host, "link", "set", "eth0", "up")
        ip("-n", host, "link", "set", "lo", "up")

    def sent(self):
        """Bytes that each host has sent."""
        links = {link["ifname"]: link["stats64"]["rx"]["bytes"] for link in json.loads(ip("-s", "-j", "link", "show"))}
        return [links[f"port{i}"] for i in range(1, HOSTS + 1)]

    def across(self, mpi, hosts, slots):
        """An MPI whose jobs have so many ranks on each of the first hosts."""
        launcher = write_script(self.folder / f"launch-{mpi.name}", LAUNCHER % mpi.launcher)
        names = [f"host{i}:{slots}" for i in range(1, hosts + 1)]
        where = {"openmpi": ("--mca", "plm_rsh_agent", self.agent, "-x", "LODE_PLUGINS", "--host", ",".join(names)),
                 "mpich": ("-launcher", "rsh", "-launcher-exec", self.agent, "-hosts", ",".join(names))}
        return mpi._replace(launcher=launcher, options=(*mpi.options, *where[mpi.name]))


def same_bytes(tap, lode, network, folder):
    """The same job across hosts and in one process."""
    # Ranks of MPICH would find out that they share a machine.
    env = environment(lode.program, UCX_TLS="tcp,self", FI_PROVIDER="tcp")
    recordings = made_recordings(lode, folder, 20)
    large = Path(folder) / "large"
    lode.must("synth", "recording", "--records", 300000, "--tasks", 9, "--depth", 60, "-o", large)
    arguments = ["--threads", "1", "--json", *recordings, large, "-o"]
    alone = Path(folder) / "alone" / "db"  # the name of a database is in it
    alone.parent.mkdir()
    lode.must("build", "--mpi", "off", *arguments, alone)
    for mpi, hosts, slots in ((OPENMPI, 2, 2), (OPENMPI, HOSTS, 1), (MPICH, 2, 1)):
        name = f"{hosts * slots} ranks of {mpi.name} on {hosts} hosts"
        if reason := missing(mpi, lode.program):
            tap.skip(name, reason)
            continue
        database = Path(folder) / f"{mpi.name}-{hosts}" / "db"
        database.parent.mkdir()
        far = network.across(mpi, hosts, slots)
        names = run(far.job(hosts * slots, "hostname"), env).out.split()
        wanted = sorted(f"host{i}" for i in range(1, hosts + 1) for _ in range(slots))
        tap.check(sorted(names) == wanted, f"{name}: ranks are where they should be", names)
        before = network.sent()
        ended = run(far.job(hosts * slots, lode.program, "build", *arguments, database), env)
        sent = [after - early for after, early in zip(network.sent(), before)][:hosts]
        tap.check(ended.status == 0 and fingerprints(database) == fingerprints(alone), f"{name}: the same bytes as from one process",
                  ended.describe())
        tap.note(f"bytes sent by host: {sent}")
        if ended.status != 0:
            continue
        told = sum(phase["sent_bytes"] for phase in json.loads(ended.out)["phases"])
        if slots == 1:
            tap.check(abs(sum(sent) - told) <= WIRE_SHARE * told, f"{name}: what it says was sent is what the network counted",
                      [f"{told}, and {sum(sent)}"])
        else:
            tap.check(sum(sent) >= told / 2, f"{name}: it went over the wire", [f"{told}, and {sum(sent)}"])


def lost_ranks(tap, options, network, folder):
    if missing(OPENMPI, options.lode):
        return
    campaign = killed.Campaign(options, network.across(OPENMPI, 2, killed.RANKS // 2), folder, killed.RECORDING)
    killed.look_at(tap, campaign, options.kills, "openmpi on 2 hosts")


def inside(tap, options):
    lode = Lode(options.lode)
    with tempfile.TemporaryDirectory(prefix="lode-hosts-", dir=room()) as folder:
        try:
            network = Network(folder)
        except OSError as error:
            tap.skip("pretend hosts", str(error))
            return
        same_bytes(tap, lode, network, folder)
        lost_ranks(tap, options, network, folder)


def outside(tap, title="pretend hosts", tools=(), apart=()):
    """Starts this script again, apart from the machine; says why not, if that cannot be."""
    absent = [tool for tool in ("setpriv", "unshare", "ip", *tools) if shutil.which(tool) is None]
    reason = f"there is no {', '.join(absent)}" if absent else None
    command = [*APART, *apart]
    if not reason:
        tried = run([*command, "true"], dict(os.environ), 20)
        reason = f"namespaces cannot be made: {tried.err.strip()}" if tried.status != 0 else None
    if reason:
        tap.skip(title, reason)
        return tap.finish()
    with Job([*command, sys.executable, *sys.argv], {**os.environ, INSIDE: "1"}, SECONDS) as job:
        ended = job.wait()
    print(ended.out, end="")
    print(ended.err, end="", file=sys.stderr)
    return ended.status


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--kills", type=int, default=1, help="jobs that lose a rank")
    parser.add_argument("--records", type=int, default=4000000, help="that such a job reads")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tap = Tap()
    if not os.environ.get(INSIDE):
        return outside(tap)
    inside(tap, options)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
