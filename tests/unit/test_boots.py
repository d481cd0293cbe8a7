"""Boots in the forms of journalctl."""

from __future__ import annotations

from datetime import UTC, datetime

from dflashtui.source.boots import boots_of

A, B = "a" * 32, "b" * 32
OF_252 = (
    f"-1 {A} Mon 2026-11-30 10:00:00 UTC—Tue 2026-12-01 02:00:00 UTC\n"
    f" 0 {B} Tue 2026-12-01 02:01:00 UTC—Thu 2026-12-03 07:00:00 UTC\n"
).encode()
OF_255 = (
    "IDX BOOT ID                          FIRST ENTRY                 LAST ENTRY\n"
    f" -1 {A} Mon 2026-11-30 10:00:00 UTC Tue 2026-12-01 02:00:00 UTC\n"
    f"  0 {B} Tue 2026-12-01 02:01:00 UTC Thu 2026-12-03 07:00:00 UTC\n"
).encode()


def test_both_forms_say_the_same() -> None:
    boots = boots_of(OF_252)
    assert boots == boots_of(OF_255)
    assert [(boot.number, boot.boot_id) for boot in boots] == [(0, B), (-1, A)]
    assert boots[1].first_at == datetime(2026, 11, 30, 10, tzinfo=UTC)


def test_rubbish_is_left_out() -> None:
    assert boots_of(b"\xff\xfe\n-- No entries --\n 0 short Mon\n") == ()
