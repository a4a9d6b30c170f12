#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Judges what `lode diagnose` says first of the programs of the fourth set, recorded with perf by record_perf.sh: perf_table.py --lode PROGRAM FOLDER.
Right: it names the cause and its place. Symptom: the function that suffers, or a hot spot that is the right function. Missed: nothing, or a hot spot
elsewhere. Wrong: anything else. A false alarm is a statement on a control, other than a hot spot, that is likely or sure.
"""
import argparse
import json
import re
import subprocess
from collections import Counter
from pathlib import Path

# By program: what a right first statement has (rule: place), and functions whose mention is a symptom; from the README of the programs.
TRUTH = {
    "r01_ledger": (r"lock: .*post", r"sign_transaction|post|pthread_mutex|efficiency"),
    "r02_mailbox": (r"off-cpu: .*wait_reply > .*timedwait", r"wait_reply|ask|cond_|efficiency"),
    "r03_gametree": (r"omp-calls: ", r"search|GOMP"),
    "r04_thumbnails": (r"one-by-one: ", r"process_album|make_thumbnail|scale_down|pthread_join|efficiency"),
    "r05_heat": (r"barrier: .*sweep", r"sweep|barrier|efficiency"),
    "r06_dbpool": (r"off-cpu: .*acquire_connection", r"acquire_connection|run_query|sem_|efficiency"),
    "r07_dispatch": (r"herd: ", r"worker_main|dispatch_job|efficiency"),
    "r08_correlate": (r"imbalance: .*correlate", r"correlate|efficiency|omp-imbalance"),
    "r09_terrain": (r"omp-serial: .*raise", r"raise_|efficiency"),
    "r10_transcode": (r"(straggler|serial): .*encode", r"encode_packet|efficiency"),
    "r11_rules": (r"(copy|allocation): .*(score_message|classify_all)", r"score_message|classify_all|memmove|memcpy"),
    "r12_journal": (r"(off-cpu|file-io): .*(commit_journal|append_order) > .*sync", r"commit_journal|append_order|sync"),
    "r13_lineproto": (r"small-io: .*read_line", r"read_line|read"),
    "r14_kvclient": (r"chatty: ", r"receive_all|put_value|recv"),
    "r15_jobwatch": (r"off-cpu: .*await_job > .*sleep", r"await_job|sleep|efficiency"),
    "r16_manifest": (r"processes: ", r"base_name|fgets|pclose|popen|read"),
    "r17_frames": (r"(allocation|large-blocks|mapping): ", r"fill_rows|create_surface|render"),
    "r18_sceneload": (r"rising: ", r"parse_item|sscanf|load_scene"),
    "r19_mapview": (r"cache: ", r"decode_tile|TileCache"),
    "r20_raster": (r"hot-spot: .*add_column", r"add_column|sum_columns"),
    "r21_tariff": (r"repeated: ", r"load_tariff|quote|sscanf|fgets"),
    "r22_scores": (r"repeated: ", r"submit|sort|Leaderboard"),
    "r23_logscan": (r"preparing: ", r"match_line|regcomp"),
    "r24_csvimport": (r"exceptions: ", r"to_number|parse_field|throw"),
}


def first_statement(lode, recording):
    """What it says, with evidence; '' if nothing. Weak statements are shown with --all only."""
    done = subprocess.run([lode, "diagnose", "--json", recording], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        return "", "none", done.stderr.strip()
    answer = json.loads(done.stdout)
    for found in answer["statements"]:
        if found["confidence"] != "weak":
            return found["id"], found["confidence"], " ".join([found["text"], *(evidence["text"] for evidence in found["evidence"])])
    return "", "none", "; ".join(note["id"] for note in answer["quality"])


def verdict(name, rule, confidence, text):
    if name not in TRUTH:
        return "false alarm" if rule not in ("", "hot-spot") and confidence in ("likely", "sure") else "silent"
    right, symptom = TRUTH[name]
    if rule and re.search(right, f"{rule}: {text}"):
        return "right"
    if rule and re.search(symptom, f"{rule}: {text}"):
        return "symptom"
    return "missed" if rule in ("", "hot-spot") else "wrong"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    parser.add_argument("recordings", type=Path)
    options = parser.parse_args()
    counts = Counter()
    for recording in sorted(options.recordings.glob("*.data")):
        rule, confidence, text = first_statement(options.lode, recording)
        found = verdict(recording.stem, rule, confidence, text)
        counts[found] += 1
        print(f"{recording.stem:16} {found:12} {rule or '-'}, {confidence}: {text}", flush=True)
    print(", ".join(f"{count} {found}" for found, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
