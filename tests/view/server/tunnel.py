#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode view` through ssh: tunnel.py --lode PROGRAM. An sshd of the test's own forwards a port to a port and to a UNIX
socket; both answer, and a client that goes away at the far end ends its work here.
"""

import argparse
import getpass
import http.client
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from serving import SECONDS, Answer, Server, Tap, has_plugin, make_example


def free_port():
    with socket.socket() as link:
        link.bind(("127.0.0.1", 0))
        return link.getsockname()[1]


def wait_for(port, process):
    for _ in range(SECONDS * 20):
        if process.poll() is not None:
            return False
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        except OSError:
            time.sleep(0.05)
    return False


def start_sshd(folder):
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    shutil.copy(folder / "user.pub", folder / "authorized")
    port = free_port()
    (folder / "config").write_text(f"""Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/authorized
PidFile {folder}/pid
StrictModes no
UsePAM no
PasswordAuthentication no
AllowTcpForwarding yes
AllowStreamLocalForwarding yes
PermitRootLogin yes
""")
    Path("/run/sshd").mkdir(exist_ok=True)
    log = open(folder / "log", "w", encoding="utf-8")
    process = subprocess.Popen([shutil.which("sshd", path="/usr/sbin:/usr/bin"), "-D", "-e", "-f", folder / "config"], stdout=log, stderr=log)
    return process, port


def ask(port, token, path):
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    link.request("GET", path, headers={"Authorization": f"Bearer {token}"})
    answer = Answer(link.getresponse())
    link.close()
    return answer


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, type=lambda text: Path(text).resolve())
    lode = parser.parse_args().lode
    tap = Tap()
    missing = has_plugin(lode) or next((f"there is no {name}" for name in ("ssh", "sshd", "ssh-keygen")
                                        if not shutil.which(name, path="/usr/sbin:/usr/bin:/bin")), None)
    if missing:
        print(f"1..0 # SKIP {missing}")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        stores = make_example(lode, folder / "demo")
        sshd, port = start_sshd(folder)
        tunnel = None
        try:
            with Server(lode, *stores) as by_port, Server(lode, *stores, "--socket", folder / "lode.sock") as by_socket:
                if not wait_for(port, sshd):
                    print(f"1..0 # SKIP sshd does not start: {(folder / 'log').read_text().splitlines()[-1:]}")
                    return 0
                first, second = free_port(), free_port()
                with open(folder / "ssh.log", "w", encoding="utf-8") as log:
                    tunnel = subprocess.Popen(["ssh", "-N", "-F", "none", "-p", str(port), "-i", folder / "user", "-o", "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=no",
                                               "-o", f"UserKnownHostsFile={folder}/known", "-o", "ExitOnForwardFailure=yes", "-o", "BatchMode=yes",
                                               "-L", f"{first}:127.0.0.1:{by_port.port}", "-L", f"{second}:{folder}/lode.sock", f"{getpass.getuser()}@127.0.0.1"],
                                              stdin=subprocess.DEVNULL, stdout=log, stderr=log)
                if not tap.check(wait_for(first, tunnel), "ssh forwards", [(folder / "ssh.log").read_text(), (folder / "log").read_text()]):
                    return tap.finish()
                for name, local, server in (("a port", first, by_port), ("a socket", second, by_socket)):
                    server_stores = server.session()["stores"] if server.port else None
                    answer = ask(local, server.token, "/api/1/session")
                    tap.check(answer.status == 200 and len(answer.json()["stores"]) == 3, f"{name}: the session, through ssh", [answer.body[:100], server_stores])
                    while any(store["state"] == "opening" for store in ask(local, server.token, "/api/1/session").json()["stores"]):
                        time.sleep(0.05)
                    near, far = server.ask("/api/1/tree/1?min-percent=0", host="localhost"), ask(local, server.token, "/api/1/tree/1?min-percent=0")
                    tap.check(near.status == far.status == 200 and near.body == far.body, f"{name}: the same answer at both ends")
                    tap.check(ask(local, "0" * 64, "/api/1/session").status == 401, f"{name}: the token is needed at the far end")
                    tap.check(ask(local, server.token, "/").status == 200, f"{name}: the page")
        finally:
            for process in (tunnel, sshd):
                if process:
                    process.terminate()
                    process.wait()
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
