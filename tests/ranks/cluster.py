# SPDX-License-Identifier: BSD-3-Clause
"""A Slurm of some nodes on this machine, for slurm.py: real daemons, in the namespaces of one process, and gone with it however it ends."""

import os
import socket
import subprocess
import time
from pathlib import Path

from hosts import Network, ip
from jobs import has_open, running, variable

TOOLS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "salloc", "scancel", "scontrol", "squeue", "sinfo")
# A shell is the first process there: it waits for orphans. Slurm takes a job for running while one of its processes is a zombie.
APART = ("--uts", "--ipc", "sh", "-c", '"$@"; exit "$?"', "sh")
ROOM = Path("/run/lode")  # everything that is written
NODES = 2
CPUS = 8
HOST, ADDRESS = "machine", "10.77.0.1"
PATIENCE = 60.0

CONFIGURATION = f"""
ClusterName=lode
SlurmctldHost={HOST}
SlurmctldPort=17000
SlurmUser=root
SlurmdUser=root
AuthInfo=socket={ROOM}/munge.socket
StateSaveLocation={ROOM}/state
SlurmdSpoolDir={ROOM}/spool-%n
SlurmctldPidFile={ROOM}/slurmctld.pid
SlurmdPidFile={ROOM}/slurmd-%n.pid
SlurmctldLogFile={ROOM}/slurmctld.log
SlurmdLogFile={ROOM}/slurmd-%n.log
# Nodes on one machine need different names there, for PMIx.
TmpFS={ROOM}/tmp-%n
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
# More processors than there are.
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
KillWait=20
NodeName=n[1-{NODES}] NodeAddr={HOST} Port=[17001-{17000 + NODES}] CPUs={CPUS}
PartitionName=all Nodes=ALL Default=YES OverSubscribe=FORCE:8 State=UP
"""
# A node has its own name and its own shared memory: names of segments are made from the name of the host and the rank there.
NODE = "hostname $0 && mount -t tmpfs -o size=1g none /dev/shm && exec slurmd -f $1 -N $0"


def must(*command, **more):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=PATIENCE, check=False, **more)
    if done.returncode != 0:
        raise OSError(f"{' '.join(map(str, command))}: {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def wait_until(holds, patience=PATIENCE):
    """What it gives, as soon as that is true, or in the end."""
    end = time.monotonic() + patience
    while not (found := holds()) and time.monotonic() < end:
        time.sleep(0.02)
    return found


class Cluster:
    """Nodes n1, n2, ... that are idle."""

    def __init__(self):
        self.make_room()
        self.make_network()
        self.configuration = ROOM / "slurm.conf"
        self.configuration.write_text(CONFIGURATION, encoding="ascii")
        self.env = {"SLURM_CONF": str(self.configuration), "TMPDIR": str(ROOM / "tmp")}
        self.start()

    @staticmethod
    def make_room():
        """Memory that nobody else uses: what is left there was left by a job."""
        Network.mount("-t", "tmpfs", "-o", "size=1g,mode=755", "none", "/run")
        for name in ("", "state", "tmp", *(f"{what}-n{i + 1}" for what in ("spool", "tmp") for i in range(NODES))):
            (ROOM / name).mkdir()

    @staticmethod
    def make_network():
        """One address that is not the loopback's: Slurm looks for names with addresses of that kind only."""
        ip("link", "set", "lo", "up")
        ip("link", "add", "eth0", "type", "veth", "peer", "name", "eth1")
        ip("addr", "add", f"{ADDRESS}/24", "dev", "eth0")
        for name in ("eth0", "eth1"):
            ip("link", "set", name, "up")
        hosts = ROOM / "hosts"
        names = " ".join((HOST, *(f"n{i + 1}" for i in range(NODES))))
        hosts.write_text(f"127.0.0.1 localhost\n{ADDRESS} {names}\n", encoding="ascii")
        Network.mount("--bind", str(hosts), "/etc/hosts")
        socket.sethostname(HOST)

    def start(self):
        key = ROOM / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        files = {"key-file": key, **{name: ROOM / f"munge.{name.partition('-')[0]}" for name in ("socket", "pid-file", "log-file", "seed-file")}}
        must("munged", "--force", *(f"--{name}={path}" for name, path in files.items()))
        must("slurmctld", "-f", self.configuration)
        for i in range(NODES):
            must("unshare", "--mount", "--uts", "sh", "-c", NODE, f"n{i + 1}", self.configuration)
        if not wait_until(lambda: self.ask("sinfo", "-h", "-o", "%t %D").split() == ["idle", str(NODES)]):
            raise OSError(f"nodes are not idle: {self.ask('sinfo')} {self.logs()}")

    def logs(self):
        return "\n".join(f"{path.name}: {line}" for path in sorted(ROOM.glob("*.log"))
                         for line in path.read_text(encoding="utf-8", errors="replace").splitlines()[-10:])

    def ask(self, *command):
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=PATIENCE, check=False,
                              env={**os.environ, **self.env})
        return done.stdout

    def job(self, name):
        """The number of a job; None if it has ended."""
        return self.ask("squeue", "-h", "-n", name, "-o", "%A").strip() or None

    @staticmethod
    def tasks(job):
        """{rank: pid} of the processes of a job that run the program."""
        pids = [pid for pid, (name, _, _) in running().items() if name == "lode" and variable(pid, "SLURM_JOB_ID") == job]
        return {int(variable(pid, "SLURM_PROCID") or 0): pid for pid in pids}

    @staticmethod
    def is_writing(pid, partial):
        return has_open(pid, partial)

    @staticmethod
    def left():
        """What no job may leave: processes, shared memory, temporary files."""
        processes = [f"process {pid}" for pid, (name, _, _) in running().items() if name == "lode"]
        daemons = [(ROOM / f"slurmd-n{i + 1}.pid").read_text(encoding="ascii").strip() for i in range(NODES)]
        folders = [ROOM / "tmp", *(Path("/proc", pid, "root", "dev", "shm") for pid in daemons)]
        files = [str(path) for folder in folders for path in folder.iterdir()]
        return processes + files
