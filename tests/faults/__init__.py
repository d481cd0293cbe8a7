"""The fault bench: what goes wrong out there, injected on purpose; `docs/faults.md` is made from its tests."""
