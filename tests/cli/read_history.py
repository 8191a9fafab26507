#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""read_history.py FILE - prints the exits of a history file, without any code of kvmtop.

It follows kvmtop-history(5) and uses SQLite and zstandard. A line for each exit reason: its name, how
many exits there are, their time in ns, and the counts of the histogram's buckets. Then a line for
each long exit: when it ended in ns, how long it took, reason, argument, guest, vCPU, host CPU,
address and function; and how many were not kept.
"""
import collections
import sqlite3
import sys

import zstandard

BUCKETS = 26
PROVIDERS = 8
TIMED, SUM, OPEN, LATE = 8, 16, 32, 256


class Numbers:
    """The numbers of a blob, one after the other."""

    def __init__(self, blob):
        self.bytes = zstandard.ZstdDecompressor().decompress(blob)
        self.at = 0

    def byte(self):
        self.at += 1
        return self.bytes[self.at - 1]

    def next(self):
        number = shift = 0
        while True:
            byte = self.byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    def difference(self):
        doubled = self.next()
        return -(doubled + 1) // 2 if doubled & 1 else doubled // 2

    def low(self):
        return self.byte() | self.byte() << 8

    def text(self):
        size = self.next()
        self.at += size
        return self.bytes[self.at - size:self.at].decode()

    def end(self):
        assert self.at == len(self.bytes), f"{len(self.bytes) - self.at} bytes are left"


class Row:
    """What has no number in a column is 0."""

    def __init__(self):
        self.guest = self.vcpu = self.field = self.flags = self.count = 0
        self.time = self.low = self.open = self.passed = 0
        self.hist = [0] * BUCKETS


def keys(numbers, rows):
    for row, before in zip(rows, [None] + rows):
        row.guest = numbers.next() + (before.guest if before else 0)
    for row, before in zip(rows, [None] + rows):
        is_same = before and before.guest == row.guest
        row.vcpu = numbers.next() + (before.vcpu if is_same else -1)
    for row, before in zip(rows, [None] + rows):
        is_same = before and (before.guest, before.vcpu) == (row.guest, row.vcpu)
        row.field = numbers.next() + (before.field if is_same else 0)
    for row in rows:
        row.flags = numbers.next()


def histograms(numbers, rows):
    rows = [row for row in rows if row.flags & TIMED and not row.flags & SUM]
    sizes = [numbers.next() for row in rows]
    rows = [(row, size, numbers.next()) for row, size in zip(rows, sizes)]
    rows = [(row, size, first, numbers.difference()) for row, size, first in rows if size]
    for row, size, first, less in rows:
        middle = first + (size - 1) // 2
        for i in range(first, first + size):
            if i != middle:
                row.hist[i] = numbers.next()
        row.hist[middle] = row.count - less - sum(row.hist)
    numbers.end()


def read_rows(blob, hists, is_changes):
    numbers = Numbers(blob)
    for _ in range(PROVIDERS if is_changes else 0):
        numbers.next()
    rows = [Row() for _ in range(numbers.next())]
    keys(numbers, rows)
    stored = [row for row in rows if not row.flags & SUM]
    timed = [row for row in stored if row.flags & TIMED]
    for row in stored:
        row.count = numbers.next()
    for row in rows:
        if row.flags & LATE:
            numbers.next()  # the total of its event
    for row in timed:
        row.time = numbers.next() << 16
    for row in timed:
        row.time |= numbers.low()
    for row in stored:
        if row.flags & OPEN:
            row.open = numbers.next()
    for row in stored:
        if row.flags & OPEN:
            row.passed = numbers.difference()
    for row in rows:
        if row.flags & TIMED:
            numbers.next()  # the longest
    numbers.end()
    histograms(Numbers(hists), rows)
    return rows


def long_exits(numbers, time_ns):
    """The exits of a sample, and how many more there were."""
    numbers.next()  # what took longer is listed
    lost = numbers.next()
    rows = []
    for _ in range(numbers.next()):
        guest, vcpu, reason, argument = (numbers.next() for _ in range(4))
        end_ns = time_ns - numbers.difference()
        took_ns, _user_ns, _polled_ns, _waited_ns, cpu, address = (
            numbers.next() for _ in range(6))
        rows.append((end_ns, took_ns, reason, argument - 1, guest, vcpu - 1, cpu - 1, address,
                     numbers.text()))
    numbers.end()
    return rows, lost


def print_long_exits(db):
    labels = dict(db.execute("SELECT id, label FROM field"))
    names = dict(db.execute("SELECT id, name FROM guest"))
    nr_lost = 0
    for time_ns, blob in db.execute("SELECT time_ns, long_exits FROM sample"
                                    " WHERE long_exits IS NOT NULL ORDER BY id"):
        rows, lost = long_exits(Numbers(blob), time_ns)
        nr_lost += lost
        for end_ns, took_ns, reason, argument, guest, vcpu, cpu, address, function in rows:
            print("long", end_ns, took_ns, labels[reason], labels.get(argument, "-"),
                  names.get(guest, "-"), vcpu, cpu, hex(address), function or "-")
    if nr_lost:
        print("not kept", nr_lost)


def main():
    db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
    reasons = dict(db.execute("SELECT id, label FROM field WHERE use = 1 AND exit_rank = 1"
                              " AND parent IS NOT NULL"))
    found = collections.defaultdict(lambda: [0] * (2 + BUCKETS))
    samples = db.execute("SELECT flags & 1, changes, hists, totals, total_hists FROM sample"
                         " ORDER BY id")
    for is_first, changes, hists, totals, total_hists in samples:
        rows = (read_rows(totals, total_hists, False) if is_first else
                read_rows(changes, hists, True))
        for row in rows:
            if row.field in reasons and not row.flags & SUM:
                sums = found[reasons[row.field]]
                for i, number in enumerate([row.count, row.time + row.passed] + row.hist):
                    sums[i] += number
    for reason, sums in sorted(found.items()):
        print(reason, *sums)
    print_long_exits(db)


main()
