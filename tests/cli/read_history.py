#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""read_history.py FILE - prints the exits of a history file, without any code of kvmtop.

It follows kvmtop-history(5) and uses SQLite, zstandard and cbor2. A line for each exit reason: its
name, how many exits there are, their time in ns, and the counts of the histogram's buckets.
"""
import collections
import io
import sqlite3
import sys

import cbor2
import zstandard

BUCKETS = 26
TIMED = 1
SUM = 32 << 1


def numbers(column):
    number = shift = 0
    for byte in column:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield number
            number = shift = 0
    assert shift == 0


def unpack(blob):
    raw = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(blob), read_across_frames=True)
    return cbor2.loads(raw.read())


def histogram(columns, count, buckets):
    """The middle bucket is not stored: it is the count without the difference and the others."""
    hist = [0] * BUCKETS
    first = next(columns[13])
    if buckets == 0:
        return hist
    doubled = next(columns[14])
    difference = -(doubled + 1) // 2 if doubled & 1 else doubled // 2
    middle = (buckets - 1) // 2
    for i in range(buckets):
        if i != middle:
            hist[first + i] = next(columns[15])
    hist[first + middle] = count - difference - sum(hist)
    return hist


def passed(columns):
    """By row with durations: what an exit that was open adds to the time, or takes away."""
    at = 0
    more = {}
    for skipped in columns.get(10, iter(())):
        at += skipped
        next(columns[10])  # how long it has been open
        doubled = next(columns[10])
        more[at] = -(doubled + 1) // 2 if doubled & 1 else doubled // 2
        at += 1
    return more


def rows(blob):
    parts = unpack(blob)
    low = parts.pop(9)
    columns = {key: numbers(column) for key, column in parts.items() if key != 1}
    more_time = passed(columns)
    guest = vcpu = field = nr_timed = 0
    for i in range(parts[1]):
        more = next(columns[2])
        guest += more
        if more or i == 0:
            vcpu, field = -1, 0
        more = next(columns[3])
        vcpu += more
        if more:
            field = 0
        field += next(columns[4])
        flags = next(columns[6])
        count = 0 if flags & SUM else next(columns[7])
        time_ns, hist = 0, [0] * BUCKETS
        if flags & TIMED:
            next(columns[11])  # the longest
        if flags & TIMED and not flags & SUM:
            time_ns = next(columns[8]) << 16 | low[0] | low[1] << 8
            time_ns += more_time.get(nr_timed, 0)
            nr_timed += 1
            low = low[2:]
            hist = histogram(columns, count, next(columns[12]))
        yield field, flags, count, time_ns, hist
    left = [key for key, column in columns.items() if key not in (0, 5) and list(column)]
    assert not left and not low, f"there is more in {left}"


def main():
    db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
    reasons = dict(db.execute("SELECT id, label FROM field WHERE use = 1 AND exit_rank = 1"
                              " AND parent IS NOT NULL"))
    found = collections.defaultdict(lambda: [0] * (2 + BUCKETS))
    samples = db.execute("SELECT flags, changes, totals FROM sample ORDER BY id")
    for flags, changes, totals in samples:
        for field, row_flags, count, time_ns, hist in rows(totals if flags & 1 else changes):
            if field in reasons and not row_flags & SUM:
                sums = found[reasons[field]]
                for i, number in enumerate([count, time_ns] + hist):
                    sums[i] += number
    for reason, sums in sorted(found.items()):
        print(reason, *sums)


main()
