#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Times of the wall clock in --from and --to: of the day, with dates, with zones, around midnight and where daylight saving
time begins and ends. The reference is the calendar of Python.
"""

import datetime
import random
import subprocess
import sys
import tempfile
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import cli

SECOND = 10**9
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Kiritimati")
UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=UTC)


def seconds_of(moment):
    return (moment.astimezone(UTC) - EPOCH) // datetime.timedelta(seconds=1)


def moments_of(zone, date, clock):
    """All instants that a clock in the zone shows as this: none, one or two."""
    found = set()
    for fold in (0, 1):
        local = datetime.datetime.combine(date, clock, ZoneInfo(zone)).replace(fold=fold)
        if local.astimezone(UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None) == local.replace(tzinfo=None):
            found.add(seconds_of(local))
    return found


def nearest(candidates, begin, end):
    """The first one in the interval; if there is none, the nearest one."""
    return min(candidates, key=lambda time: (max(begin - time, time - end, 0), time))


def wanted_time(zone, date, clock, fraction, begin, end):
    """Nanoseconds; without a date, of any day near the interval."""
    first = (EPOCH + datetime.timedelta(seconds=begin // SECOND)).date()
    days = [date] if date else [first + datetime.timedelta(days=i) for i in range(-3, 4 + (end - begin) // (86400 * SECOND))]
    candidates = [seconds * SECOND + fraction for day in days for seconds in moments_of(zone, day, clock)]
    return nearest(candidates, begin, end) if candidates else None


def ask(program, zone, cases):
    """The program's answers: cases are (begin, end, text)."""
    lines = "".join(f"{begin} {end} {text}\n" for begin, end, text in cases)
    done = subprocess.run(program.reader, input=lines, capture_output=True, text=True, check=True, env=cli.environment(TZ=zone))
    return [None if line == "-" else int(line) for line in done.stdout.split()]


def random_moment(chance, zone):
    """Often within a day of a change of the clocks, or of midnight."""
    day = datetime.datetime(chance.randrange(1995, 2037), 1, 1, tzinfo=UTC) + datetime.timedelta(days=chance.randrange(366))
    if chance.random() < 0.6:
        for _ in range(400):
            after = day + datetime.timedelta(days=1)
            if day.astimezone(ZoneInfo(zone)).utcoffset() != after.astimezone(ZoneInfo(zone)).utcoffset():
                break
            day = after
    return seconds_of(day) + chance.randrange(86400)


def random_case(chance, zone):
    begin = random_moment(chance, zone) * SECOND + chance.randrange(SECOND)
    end = begin + chance.choice((1, 60, 3600, 86400, 40 * 86400)) * chance.randrange(1, SECOND)
    clock = datetime.time(chance.randrange(24), chance.choice((0, 26, 30, 59)), chance.choice((0, 3, 59)))
    if chance.random() < 0.5:
        clock = (EPOCH + datetime.timedelta(seconds=begin // SECOND + chance.randrange(-7200, 7200))).astimezone(ZoneInfo(zone)).time().replace(tzinfo=None, fold=0)
    fraction = chance.choice((0, 250000000, 1))
    has_date = chance.random() < 0.4
    date = (EPOCH + datetime.timedelta(seconds=begin // SECOND + chance.randrange(-90000, 90000))).date() if has_date else None
    text = clock.strftime("%H:%M:%S") + (f".{fraction:09}".rstrip("0") if fraction else "")
    if clock.second == 0 and fraction == 0 and chance.random() < 0.5:
        text = clock.strftime("%H:%M")
    return begin, end, (date.isoformat() + chance.choice("T ") + text if date else text), wanted_time(zone, date, clock, fraction, begin, end)


def times_of_all_zones(program):
    chance = random.Random(7)
    for zone in ZONES:
        cases = [random_case(chance, zone) for _ in range(1000)]
        # A date on which the time does not exist has no instant of its own: any that is an hour away will do.
        cases = [case for case in cases if case[3] is not None]
        found = ask(program, zone, [case[:3] for case in cases])
        wrong = [f"{case} became {answer}" for case, answer in zip(cases, found, strict=True) if case[3] != answer]
        program.check(len(cases) > 800 and not wrong, f"{zone}: {len(cases)} times", wrong[:5])


def zones_in_the_time(program):
    noon = 1663070271  # 2022-09-13T11:57:51Z
    texts = {"2022-09-13T11:57:51Z": 0, "2022-09-13 11:57:51 UTC": 0, "2022-09-13T13:57:51+02:00": 0, "2022-09-13T13:57:51+0200": 0, "2022-09-13T13:57:51+02": 0,
             "2022-09-13T04:27:51-07:30": 0, "2022-09-14T01:57:51+14:00": 0, "2022-09-13T11:57:51.5Z": SECOND // 2, "2022-09-13T11:57:51.123456789Z": 123456789,
             "2022-09-13T11:57:51.1234567891Z": 123456789, "11:57:51Z": 0, "13:57:51+02:00": 0, "2022-09-13T11:57Z": -51 * SECOND}
    for zone in ("UTC", "Asia/Kathmandu"):
        found = ask(program, zone, [(noon * SECOND, noon * SECOND + 1, text) for text in texts])
        program.equal(dict(zip(texts, found, strict=True)), {text: noon * SECOND + more for text, more in texts.items()}, f"zones in times, in {zone}")
    program.equal(ask(program, "Europe/Berlin", [(0, 0, "2022-09-13"), (0, 0, "2022-09-13Z")]),
                  [(noon // 86400 * 86400 - 7200) * SECOND, noon // 86400 * 86400 * SECOND], "a date alone is its midnight")


def what_is_no_time(program):
    texts = ("24:00", "12:60", "12:30:60", "1:2", "12:30:", "12:30:00.", "12:30+25:00", "12:30+02:", "12:30X", "2022-13-01", "2022-02-30", "2023-02-29T10:00", "1969-12-31",
             "2501-01-01", "2022-09-13T", "2022-09-13T25:00", "2022-9-13", "12:30 GMT", "::", ":", "2022-09-13T10:00:00ZZ", "012:30", "12:030", "-12:30", "2022-09-13 ")
    found = ask(program, "UTC", [(0, 0, text) for text in texts])
    program.equal({text: answer for text, answer in zip(texts, found, strict=True) if answer is not None}, {}, f"{len(texts)} texts are no times")


def a_time_that_is_skipped(program):
    """In Berlin, 2022-03-27 had no 02:30: 01:59:59 was followed by 03:00."""
    found = ask(program, "Europe/Berlin", [(0, 0, "2022-03-27T02:30")])[0]
    change = 1648342800
    program.check(found is not None and abs(found // SECOND - change) <= 1800, "a time that is skipped is near the change", [found])


def windows_of_stores(program):
    """The same window, whether it is given by the wall clock or by nanoseconds."""
    with tempfile.TemporaryDirectory() as folder:
        program.run("synth", "database", "--profiles", "2", "--contexts", "60", "-o", "db", cwd=folder)
        facts = program.json("info", "db", cwd=folder)["traces"]
        begin, end = int(facts["begin_ns"]), int(facts["end_ns"])
        middle = begin // 10**6 * 10**6 + (end - begin) // 2 // 10**6 * 10**6
        local = EPOCH + datetime.timedelta(microseconds=middle // 1000)
        wanted = program.run("trace", "db", "--json", "--from", f"@{middle}", cwd=folder)
        program.check(wanted.status == 0, "a window by nanoseconds", [wanted])
        for zone in ZONES:
            for form in ("%H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S.%f%z"):
                text = local.astimezone(ZoneInfo(zone)).strftime(form)
                found = program.run("trace", "db", "--json", "--from", text, cwd=folder, env={"TZ": zone})
                program.check(found == wanted, f"TZ={zone} lode trace --from {text!r}", [found.err])
        start = program.run("info", "db", cwd=folder).out.split("\nTraces")[1].split(" from ")[1].split("\n")[0]
        shown = program.json("trace", "db", "--from", start, cwd=folder)
        program.check(start.endswith("UTC") and int(shown["from_ns"]) // 10**6 == begin // 10**6, f"the start as 'lode info' shows it: {start}", [shown["from_ns"], begin])


def windows_of_recordings(program):
    folder = program.stores()
    name = "master"
    start = program.run("info", name, cwd=folder).out.split("\nDuration")[1].split(" from ")[1].split(" (")[0]
    clock = start.split(" ")[1]
    for text in (start, clock, clock + "Z"):
        found = program.json("search", name, "--from", text, cwd=folder)
        program.equal(found["rows"], program.json("search", name, cwd=folder)["rows"], f"{name}: from the start, as 'lode info' shows it: {text}")
    later = (datetime.datetime.strptime(start, "%Y-%m-%d %H:%M:%S.%f UTC") + datetime.timedelta(seconds=2)).strftime("%H:%M:%S")
    program.equal(program.json("search", name, "--from", later, cwd=folder)["rows"], program.json("search", name, "--from", "2s", cwd=folder)["rows"],
                  f"{name}: two seconds later")


def stores_without_a_calendar(program):
    result = program.run("replay", "mt/uftrace.data", "--from", "16:26", cwd=program.recordings())
    program.says(result, 2, "mt/uftrace.data: it is not known what time of day it was; --from takes a time after the first event, such as 1.5s, or @NANOSECONDS",
                 "a recording without a calendar")


def has_zones():
    try:
        return ZoneInfo("Europe/Berlin") is not None
    except ZoneInfoNotFoundError:
        return False


def without_zones(program):
    program.skip("times of zones", "this machine has no time zones (Debian: tzdata)")


OF_ZONES = (times_of_all_zones, zones_in_the_time, a_time_that_is_skipped, windows_of_stores)

if __name__ == "__main__":
    sys.exit(cli.main(__doc__, *(OF_ZONES if has_zones() else (without_zones,)), what_is_no_time, windows_of_recordings, stores_without_a_calendar,
                      operands="reader"))
