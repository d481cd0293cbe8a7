"""Writes numbered lines: `lines.py COUNT LINES_PER_SECOND`; COUNT 0 is for ever, rate 0 is as fast as it goes."""

from __future__ import annotations

import itertools
import sys
import time


def main() -> None:
    count, rate = int(sys.argv[1]), float(sys.argv[2])
    began = time.monotonic()
    for number in itertools.count(1):
        if count and number > count:
            return
        sys.stdout.write(f"line {number}\n")
        if not rate:
            continue
        sys.stdout.flush()
        time.sleep(max(0.0, began + number / rate - time.monotonic()))


if __name__ == "__main__":
    main()
