"""python -m benchmarks.log_lines RATE SECONDS UNIT…: what a flooding host's journalctl prints, as JSON lines."""

from __future__ import annotations

import sys
import time

STEP_SECONDS = 0.01
LINE = (
    '{"__CURSOR":"s=%032x;i=%x;b=%032x;m=%x;t=%x;x=0","__REALTIME_TIMESTAMP":"%d","__MONOTONIC_TIMESTAMP":"%d",'
    '"_BOOT_ID":"%032x","PRIORITY":"6","SYSLOG_IDENTIFIER":"python3","_PID":"77","_TRANSPORT":"stdout",'
    '"_SYSTEMD_UNIT":"%s","_SYSTEMD_INVOCATION_ID":"%032x",'
    '"MESSAGE":"[2026-12-01 03:00:00 TP%d] Decode batch, #running-req: 9, #token: %d, throughput: 412.5, line %d"}\n'
)


def line(number: int, unit: str) -> bytes:
    """One entry; its numbers make it unlike any other."""
    now = int(time.time() * 1_000_000)
    values = (1, number, 2, number, now, now, number, 2, unit, 3, number % 8, number * 7 % 90_000, number)
    return (LINE % values).encode()


def main(rate: int, seconds: float, units: list[str]) -> None:
    """Write them all, evenly."""
    write, began, number = sys.stdout.buffer.write, time.monotonic(), 0
    total = int(rate * seconds)
    while number < total:
        due = min(total, int((time.monotonic() - began) * rate) + 1)
        write(b"".join(line(one, units[one % len(units)]) for one in range(number + 1, due + 1)))
        sys.stdout.buffer.flush()
        number = due
        time.sleep(STEP_SECONDS)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])
