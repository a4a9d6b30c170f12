#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints what `lode diagnose` says first of each recording of a folder: first.py --lode PROGRAM FOLDER. Compare it with the README of the programs."""
import argparse
import json
import subprocess
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    for recording in sorted(path for path in options.folder.iterdir() if path.is_dir()):
        done = subprocess.run([options.lode, "diagnose", "--json", recording], capture_output=True, text=True, check=True)
        # Weak statements are shown with --all only.
        statements = [found for found in json.loads(done.stdout)["statements"] if found["confidence"] != "weak"]
        print(recording.name)
        for found in statements[:2]:
            gain = "" if found["gain_percent"] is None else f", {found['gain_percent']:.0f} %"
            print(f"    {found['id']}, {found['confidence']}{gain}: {found['text']}")


if __name__ == "__main__":
    main()
