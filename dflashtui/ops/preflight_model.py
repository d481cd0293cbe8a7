"""Preflight: the model and the draft are there and whole, and the GPUs have room for them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from dflashtui.ops.preflight_asking import ROOT, as_user, finding
from dflashtui.ops.preflight_environment import login_of, where_of
from dflashtui.ops.preflight_gpus import free_bytes, own_gpus
from dflashtui.ops.preflight_program import expanded
from dflashtui.ops.survey import Where, survey
from dflashtui.text import human_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dflashtui.model.preflight import PreflightFinding
    from dflashtui.ops.preflight_question import Question
    from dflashtui.ops.survey import Survey

TASK = "weights"
OWN_PYTHON = "/usr/bin/python3"
"""Reads the folders where the unit's own interpreter cannot be started."""
MODEL_FLAGS = ("--model-path", "--model", "serve")
DRAFT_FLAGS = ("--speculative-draft-model-path", "--speculative-draft-model", "--speculative-model", "--draft-model")
CONFIG_FLAG = "--speculative-config"
MOST_SHOWN = 6
CLOSED = ":closed"


@dataclass(frozen=True, slots=True)
class Named:
    """One model that the unit names."""

    role: Literal["model", "draft"]
    path: str


async def check(question: Question) -> Sequence[PreflightFinding]:
    """The target's faults before the draft's. Raises `TransportLost`."""
    models = named_models(question)
    local = [one for one in models if one.path.startswith("/")]
    found = [_to_download(question, one) for one in models if not one.path.startswith("/")]
    if not local:
        return found
    read = await _read(question, [one.path for one in local])
    facts = {fact.get("path"): fact for fact in read.of(TASK)}
    for one in local:
        fact = facts.get(one.path)
        if fact is None:
            found.append(finding(question, f"{_id(one)}:unknown", "unknown", f"{one.path} was not read: {_why(read)}"))
        else:
            found += judged(question, one, fact)
    found += room(question, [facts[one.path] for one in local if one.path in facts])
    if all(not one.id.endswith(CLOSED) for one in found) or await _is_read_as_the_unit_would(question):
        return found
    return [one.model_copy(update={"level": "unknown"}) if one.id.endswith(CLOSED) else one for one in found]


async def _is_read_as_the_unit_would(question: Question) -> bool:
    """The survey takes on the unit's user only where the unit names one and the login may."""
    if question.user is not None:
        return await as_user(question) is not None
    return question.host.manager == "user" or await login_of(question.transport) in ROOT


def named_models(question: Question) -> tuple[Named, ...]:
    """By the arguments, and by the inventory where they name none."""
    words = [expanded(word, question.environment) for word in question.argv]
    pairs = [*pairwise(words), *_joined(words)]
    found = [Named("model", value) for flag, value in pairs if flag in MODEL_FLAGS and not value.startswith("-")]
    if not found and question.unit.model:
        found = [Named("model", question.unit.model)]
    found += [Named("draft", value) for flag, value in pairs if flag in DRAFT_FLAGS]
    found += [Named("draft", draft) for flag, value in pairs if flag == CONFIG_FLAG and (draft := _draft_in(value))]
    return tuple(dict.fromkeys(found))


def _joined(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for word in words:
        flag, equals, value = word.partition("=")
        if equals and flag.startswith("--"):
            yield flag, value


def _draft_in(text: str) -> str | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    draft = found.get("model") if isinstance(found, dict) else None
    return draft if isinstance(draft, str) else None


async def _read(question: Question, paths: Sequence[str]) -> Survey:
    """With the unit's own interpreter, so as its user; with the host's where that cannot be started."""
    own = Where(python=OWN_PYTHON, user=question.user, become=question.host.become)
    where = where_of(question) or own
    tasks, limit = {TASK: {"paths": list(paths)}}, question.survey_seconds
    found = await survey(question.transport, where, tasks, limit_seconds=limit)
    if found.problem and not found.of(TASK) and where.python != OWN_PYTHON:
        found = await survey(question.transport, own, tasks, limit_seconds=limit)
    return found


def _why(read: Survey) -> str:
    return read.shortfall(TASK) or "no answer"


def _id(one: Named) -> str:
    return f"model:{one.role}"


def _to_download(question: Question, one: Named) -> PreflightFinding:
    message = f"the {one.role} {one.path} is no path: it is taken for a name of the hub"
    if question.environment.get("HF_HUB_OFFLINE") == "1":
        return finding(
            question, f"{_id(one)}:hub", "note", message, "HF_HUB_OFFLINE=1: only its copy in the cache counts"
        )
    return finding(question, f"{_id(one)}:hub", "note", message, "what the cache lacks is downloaded at the start")


def judged(question: Question, one: Named, fact: Mapping[str, Any]) -> Iterator[PreflightFinding]:
    """What is wrong with one model, by what the survey found of it."""
    match fact.get("kind"):
        case "none":
            yield _absent(question, one, fact)
        case "file":
            if problem := fact.get("problem"):
                yield finding(question, f"{_id(one)}:file", "fatal", f"the {one.role} {one.path} {problem}")
        case _:
            yield from _of_folder(question, one, fact)


def _absent(question: Question, one: Named, fact: Mapping[str, Any]) -> PreflightFinding:
    if not fact.get("is_missing"):
        message = f"the {one.role} {one.path} cannot be read: {fact.get('problem')}"
        remedy = f"let {question.user or 'the login'} read it"
        return finding(question, f"{_id(one)}{CLOSED}", "fatal", message, remedy=remedy)
    message = f"the {one.role} {one.path} is not there; the engine takes the path for a name of the hub"
    evidence = ("/dev/shm is empty after a reboot",) if one.path.startswith("/dev/shm/") else ()  # noqa: S108 - told
    return finding(question, f"{_id(one)}:missing", "fatal", message, *evidence, remedy=f"copy it to {one.path}")


def _of_folder(question: Question, one: Named, fact: Mapping[str, Any]) -> Iterator[PreflightFinding]:
    again = "copy the folder again, and compare its size"
    if fact.get("config") is None:
        message = f"the {one.role} {one.path} has no usable config.json: {fact.get('config_problem')}"
        yield finding(question, f"{_id(one)}:config", "fatal", message, remedy=again)
    if problem := fact.get("index_problem"):
        message = f"the {one.role}'s {fact.get('index')} {problem}"
        yield finding(question, f"{_id(one)}:index", "fatal", message, remedy=again)
    if bad := fact.get("bad"):
        told = [f"{name}: {problem}" for name, problem in bad[:MOST_SHOWN]]
        message = f"the {one.role} {one.path} is not whole: {len(bad)} of {fact.get('shards')} files of weights are bad"
        evidence = [*told, *(f"unfinished: {name}" for name in fact.get("unfinished", ())[:MOST_SHOWN])]
        yield finding(question, f"{_id(one)}:shards", "fatal", message, *evidence, remedy=again)
    elif not fact.get("shards"):
        message = f"the {one.role} {one.path} has no weights"
        yield finding(question, f"{_id(one)}:weights", "fatal", message, remedy=again)
    if one.role == "model" and not fact.get("has_tokenizer"):
        message = f"{one.path} has no tokenizer"
        yield finding(question, f"{_id(one)}:tokenizer", "warning", message, remedy="copy it beside the weights")
    if one.role == "draft" and _is_dflash(question) and not _has_block(fact.get("config")):
        message = f"the draft {one.path} does not look like one for DFlash: its config.json names no block size"
        yield finding(
            question, f"{_id(one)}:dflash", "warning", message, remedy="name a draft that was made for DFlash"
        )


def _is_dflash(question: Question) -> bool:
    words = " ".join(question.argv).lower()
    return "dflash" in words or "ddtree" in words


def _has_block(config: Mapping[str, Any] | None) -> bool:
    return config is None or "dflash_config" in config or "block_size" in config


def room(question: Question, facts: Sequence[Mapping[str, Any]]) -> Iterator[PreflightFinding]:
    """Weights have to fit into what is free on the unit's GPUs, before any cache."""
    wanted = sum(int(fact.get("bytes") or 0) for fact in facts)
    gpus = own_gpus(question)
    free = [free_bytes(gpu, question.unit.name) for gpu in gpus]
    known = [one for one in free if one is not None]
    if not wanted or not gpus or len(known) < len(free) or sum(known) >= wanted:
        return
    told = [f"GPU {gpu.index}: {human_bytes(one)} free" for gpu, one in zip(gpus, known, strict=True)]
    message = f"{human_bytes(wanted)} of weights do not fit into the {human_bytes(sum(known))} that are free"
    yield finding(
        question, "model:room", "fatal", message, *told, remedy="stop what holds the memory, or take more GPUs"
    )
