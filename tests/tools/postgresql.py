# SPDX-License-Identifier: BSD-3-Clause
"""
A private PostgreSQL server for a test: in a folder of its own, on a UNIX socket only. It does not run as root, so that root becomes
'nobody' for it. Without the programs of a server, Missing says why; a test skips then.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
import uuid
from pathlib import Path

SOCKET_MAX = 85  # the path of a socket has at most 107 bytes, with the name in it
MARK = "---- the next statement"
SETTINGS = """
listen_addresses = ''
unix_socket_directories = '{socket}'
unix_socket_permissions = 0700
max_connections = {connections}
fsync = {fsync}
synchronous_commit = {fsync}
full_page_writes = {fsync}
shared_buffers = {buffers}
max_wal_size = 1GB
autovacuum = {vacuum}
logging_collector = off
"""


class Missing(Exception):
    """There is no server here, and why."""


def programs():
    """The folder of initdb, pg_ctl and psql: Debian does not have it in PATH."""
    named = os.environ.get("PG_BINDIR")
    places = [Path(named)] if named else []
    found = shutil.which("initdb")
    places += [Path(found).parent] if found else []
    for pattern in ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin"):
        places += sorted(Path("/").glob(pattern[1:]), key=lambda path: (len(str(path)), str(path)), reverse=True)
    for place in places:
        if all((place / name).exists() for name in ("initdb", "pg_ctl", "psql")):
            return place
    raise Missing("no initdb, pg_ctl and psql (Debian: postgresql; or set PG_BINDIR)")


class Server:
    """Started when it is entered. Its user 'admin' is the superuser; whoever reaches the socket can be anybody."""

    def __init__(self, fsync="off", connections=60, buffers="32MB", vacuum="off"):
        self.bin = programs()
        try:
            pwd.getpwuid(os.geteuid())
        except KeyError:
            raise Missing("this user has no name, which initdb needs") from None
        self.settings = {"fsync": fsync, "connections": connections, "buffers": buffers, "vacuum": vacuum}
        self.owner = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        self.holder = self.folder = None

    def _as_owner(self, *words):
        def become():
            os.setgroups([])
            os.setgid(self.owner.pw_gid)
            os.setuid(self.owner.pw_uid)
        env = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_", "LANG"))}
        done = subprocess.run([*map(str, words)], cwd=self.folder, env={**env, "LANG": "C.UTF-8", "HOME": str(self.folder)}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=become if self.owner else None, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{words[0]}: {done.stdout.decode()}")

    def __enter__(self):
        base = os.environ.get("TMPDIR", "/tmp")
        self.holder = tempfile.TemporaryDirectory(prefix="lode-pg.", dir=base if len(base) < SOCKET_MAX - 20 else "/tmp", ignore_cleanup_errors=True)
        self.folder = Path(self.holder.name)
        if self.owner:
            os.chown(self.folder, self.owner.pw_uid, self.owner.pw_gid)
        self._as_owner(self.bin / "initdb", "-D", self.folder / "data", "-U", "admin", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync",
                       "--no-instructions")
        with open(self.folder / "data/postgresql.conf", "a", encoding="utf-8") as file:
            file.write(SETTINGS.format(socket=self.folder, **self.settings))
        self.start()
        return self

    def __exit__(self, *_):
        self.stop("immediate")
        self.holder.cleanup()

    def start(self):
        self._as_owner(self.bin / "pg_ctl", "-D", self.folder / "data", "-l", self.folder / "server.log", "-w", "-t", "60", "-s", "start")

    def stop(self, how="fast"):
        """'immediate': as a crash."""
        if (self.folder / "data/postmaster.pid").exists():
            self._as_owner(self.bin / "pg_ctl", "-D", self.folder / "data", "-w", "-t", "60", "-s", "-m", how, "stop")

    def address(self, database, user="admin"):
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def sql(self, text, database="postgres", user="admin", check=True):
        """Lines of a statement; fields are separated by '|'. Without `check`, (status, lines, errors)."""
        done = subprocess.run([self.bin / "psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-d", self.address(database, user), "-f", "-"],
                              input=text.encode(), capture_output=True, check=False)
        lines = done.stdout.decode().splitlines()
        if not check:
            return done.returncode, lines, done.stderr.decode()
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode())
        return lines

    def errors(self, statements, database="postgres", user="admin"):
        """What each of some statements, which stand alone, is refused with; '' if it is not. One program asks all."""
        script = "".join(f"\\warn {MARK}\n{text};\n" for text in statements)
        done = subprocess.run([self.bin / "psql", "-X", "-A", "-t", "-q", "-d", self.address(database, user), "-f", "-"],
                              input=script.encode(), capture_output=True, check=False)
        found = done.stderr.decode().split(f"{MARK}\n")[1:]
        if done.returncode != 0 or len(found) != len(statements):
            raise RuntimeError(done.stderr.decode())
        return found

    def database(self, template="template1"):
        """A new one; its name."""
        name = f"lode_{uuid.uuid4().hex[:12]}"
        self.sql(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name
