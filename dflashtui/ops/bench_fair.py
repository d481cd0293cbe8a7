"""Whether two units were measured under the same conditions. Pure (inference-engines, part 8.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dflashtui.model.bench import Side

FAILED_PERCENT = 5
OF_THE_PLACE = frozenset({"--host", "--port", "--served-model-name", "--api-key", "--admin-api-key"})
OF_SPECULATION = ("--speculative", "--num-speculative", "--ddtree")
"""What an A/B of speculation is about: said, but no objection."""
DECIDING = frozenset(
    {
        "--dtype",
        "--quantization",
        "--kv-cache-dtype",
        "--model-path",
        "--model",
        "--tp-size",
        "--tensor-parallel-size",
        "--tp",
    }
)


def objections(first: Side, second: Side) -> Iterator[str]:
    """Why the figures of the two must not be compared."""
    for side in (first, second):
        if side.trouble:
            yield f"{side.label} could not be measured: {side.trouble}"
        yield from _failures(side)
    ours, theirs = first.facts, second.facts
    if ours.model_hash and theirs.model_hash and ours.model_hash != theirs.model_hash:
        yield "their target models are not the same files"
    names = [{gpu.name for gpu in side.facts.gpus if gpu.name} for side in (first, second)]
    if all(names) and names[0] != names[1]:
        yield f"their GPUs are of different kinds: {_and(names[0])} and {_and(names[1])}"
    for name, one, other in _flags(first, second):
        if name in DECIDING:
            yield f"{name} differs: {one} and {other}"


def _failures(side: Side) -> Iterator[str]:
    for level in side.levels:
        if level.requests and 100 * level.failures > FAILED_PERCENT * level.requests:
            kinds = ", ".join(f"{count} {name}" for name, count in level.failed_by.items())
            yield f"{side.label}: {level.failures} of {level.requests} requests failed at {level.concurrency} ({kinds})"


def remarks(first: Side, second: Side) -> Iterator[str]:
    """What else differs."""
    ours, theirs = first.facts, second.facts
    yield from _place(first, second)
    yield from _software(first, second)
    for name, one, other in _flags(first, second):
        if name not in DECIDING:
            what = "speculation" if name.startswith(OF_SPECULATION) else "differs"
            yield f"{name} ({what}): {one} and {other}"
    if not ours.model_hash or not theirs.model_hash:
        yield "whether both have the same weights could not be read"


def _place(first: Side, second: Side) -> Iterator[str]:
    ours, theirs = first.facts.gpus, second.facts.gpus
    if first.host != second.host:
        yield f"different hosts: {first.host} and {second.host}"
    elif {gpu.uuid for gpu in ours} != {gpu.uuid for gpu in theirs}:
        yield "different GPUs of one host"
    if not ours or not theirs:
        yield "on which GPUs they ran could not be read"


def _software(first: Side, second: Side) -> Iterator[str]:
    ours, theirs = first.facts, second.facts
    if (ours.engine, ours.engine_version) != (theirs.engine, theirs.engine_version):
        yield f"engines: {_engine(first)} and {_engine(second)}"
    for name in sorted(ours.packages.keys() | theirs.packages.keys()):
        one, other = ours.packages.get(name), theirs.packages.get(name)
        if one != other:
            yield f"{name}: {one or 'absent'} and {other or 'absent'}"


def _flags(first: Side, second: Side) -> Iterator[tuple[str, str, str]]:
    """Options that are not the same: name, value of A, value of B."""
    if first.facts.engine != second.facts.engine or not first.facts.argv or not second.facts.argv:
        return
    ours, theirs = options(first.facts.argv), options(second.facts.argv)
    for name in sorted((ours.keys() | theirs.keys()) - OF_THE_PLACE):
        if ours.get(name) != theirs.get(name):
            yield name, ours.get(name, "not set"), theirs.get(name, "not set")


def options(argv: Sequence[str]) -> dict[str, str]:
    """Options of a command line with their values; one without a value is `set`."""
    found: dict[str, str] = {}
    for word, following in zip(argv, (*argv[1:], "--"), strict=True):
        if not word.startswith("--"):
            continue
        name, mark, value = word.partition("=")
        found[name] = printable(value if mark else "set" if following.startswith("--") else following)
    return found


def _engine(side: Side) -> str:
    return f"{side.facts.engine} {side.facts.engine_version or '(version not known)'}"


def _and(names: set[str]) -> str:
    return " + ".join(sorted(names))
