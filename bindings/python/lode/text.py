# SPDX-License-Identifier: BSD-3-Clause
"""Numbers as the command line prints them, and times as it reads them."""

SCALES = {
    "seconds": ((1, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")),
    "nanoseconds": ((1e9, "s"), (1e6, "ms"), (1e3, "us")),
    "bytes": ((2.0**50, "PiB"), (2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB")),
}
LENGTHS = {"ns": 1, "us": 1000, "ms": 1000000, "s": 1000000000, "": 1000000000}


def unit_of(metric):
    """The unit that the name of a metric states."""
    if "(sec)" in metric or "(s)" in metric:
        return "seconds"
    if "(nanoseconds)" in metric:
        return "nanoseconds"
    return "bytes" if "(B)" in metric or "(bytes)" in metric else "count"


def _scaled(value, unit, decimals):
    for scale, name in SCALES[unit]:
        if abs(value) >= scale:
            break
    return f"{value / scale:.{decimals}f} {name}"


def _events(value):
    if abs(value) >= 2.0**53 or (abs(value) < 1e4 and value != int(value)):
        return f"{value:.6g}"
    return f"{int(abs(value) + 0.5) * (1 if value >= 0 else -1):,}"


def amount(value, unit):
    """A number with its unit: 12.345 ms, 1.5 GiB, 1,234, 45.6%."""
    if value is None:
        return ""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return f"{value:g}"
    if unit == "percent":
        return f"{value:.1f}%"
    if unit == "plain":
        return str(value)
    if unit == "seconds":
        return "0 s" if abs(value) < 0.5e-12 else _scaled(value, unit, 3)
    if unit == "nanoseconds":
        return "0 s" if value == 0 else _scaled(value, unit, 3)
    if unit == "bytes":
        return f"{value:.6g} B" if abs(value) < 1024 else _scaled(value, unit, 1)
    return _events(value)


def _length(text):
    """The nanoseconds of 1.5s, 250ms, 10us, 5ns or plain seconds, exactly."""
    from fractions import Fraction
    digits = text.rstrip("numsµ")
    unit = text[len(digits):].replace("µ", "u")
    if unit not in LENGTHS:
        raise ValueError(f"not a time: {text!r}; such as '1.5s', '250ms' or '@1234567890'")
    return int(Fraction(digits.strip()) * LENGTHS[unit])


def moment(time, begin, utc_offset):
    """Nanoseconds in the clock of a store; `begin` is called for the time of its first sample or event."""
    if time is None:
        return 0
    if isinstance(time, str):
        return int(time[1:]) if time.startswith("@") else begin() + _length(time)
    if hasattr(time, "timestamp"):  # datetime: its float would lose nanoseconds
        from datetime import datetime, timezone
        aware = time if time.tzinfo else time.astimezone()
        since = aware - datetime(1970, 1, 1, tzinfo=timezone.utc)
        return (since.days * 86400 + since.seconds) * 1000000000 + since.microseconds * 1000 - utc_offset
    return int(time)


def rules_of(kinds):
    """The bytes of a file of rules for kinds of functions; None: none."""
    if kinds is None:
        return None
    with open(kinds, "rb") as stream:
        return stream.read()


def shown(text, width):
    """Text for one cell: no control characters, and cut with an ellipsis."""
    text = "".join(character if character.isprintable() else "?" for character in text)
    return text if len(text) <= width else text[:width - 1] + "…"


def utc(nanoseconds):
    """A time since the epoch, to the millisecond."""
    from datetime import datetime, timezone
    second, rest = divmod(nanoseconds, 1000000000)
    return f"{datetime.fromtimestamp(second, timezone.utc):%Y-%m-%d %H:%M:%S}.{rest // 1000000:03} UTC"
