"""Which distributions, in which version, would meet what is missing."""

from __future__ import annotations

from dflashtui.model.environment import Distribution, Environment, Interpreter
from dflashtui.model.imports import ImportFault
from dflashtui.ops.import_wants import Want, Wants


def environment(host: str, *distributions: tuple[str, str, tuple[str, ...]]) -> Environment:
    found = tuple(
        Distribution(name=name, version=version, metadata="m", site="s", requires=requires)
        for name, version, requires in distributions
    )
    return Environment(host=host, interpreter=Interpreter(executable="/v/python", version="3.11"), distributions=found)


HERE = environment(
    "gpu-a",
    ("sglang", "0.5.11", ("xgrammar==0.1.32", "soundfile==0.13.1", "pyzmq>=25", "pillow", "av; extra == 'audio'")),
    ("wrapper", "1", ("xgrammar>=0.1",)),
    ("xgrammar", "0.1.10", ()),
    ("transformers", "5.6.0", ()),
)
THERE = environment("ct129", ("pillow", "12.0.0", ()), ("pyzmq", "24.0", ()), ("transformers", "5.12.1+local", ()))


def fault(module: str, name: str | None = None, owner: str | None = None) -> ImportFault:
    kind = "missing-name" if name else "missing-module"
    told = {"fault": kind, "module": module, "name": name, "status": "certain", "by": "b", "file": "f", "line": 1}
    return ImportFault.model_validate({**told, "owner": owner})


def want(wants: Wants, *of: str | None) -> Want:
    found = wants.of(fault(str(of[0]), *of[1:]))
    assert found is not None
    return found


def test_the_engines_pin_counts_then_the_reference_host() -> None:
    wants = Wants(HERE, THERE)
    assert want(wants, "soundfile").spec == "soundfile==0.13.1"
    assert want(wants, "PIL.Image").spec == "pillow==12.0.0"
    assert want(wants, "zmq").spec == "pyzmq>=25", "the version there will not do here"
    assert want(wants, "zmq").is_asked_for
    assert want(wants, "xgrammar", "StructuralTag", "xgrammar").facts == (
        "xgrammar 0.1.10 is installed",
        "sglang 0.5.11 asks for xgrammar==0.1.32",
        "wrapper 1 asks for xgrammar>=0.1",
    )
    assert want(wants, "transformers", "AutoX", "transformers").spec == "transformers==5.12.1"


def test_what_no_version_would_meet_is_no_want() -> None:
    alone = Wants(HERE)
    assert alone.of(fault("transformers", "AutoX", "transformers")) is None
    assert alone.of(ImportFault.model_validate({**fault("x").model_dump(), "fault": "syntax"})) is None


def test_a_name_that_nobody_vouches_for_is_told_from_one_that_is_written_down() -> None:
    alone = Wants(HERE)
    stranger, known = want(alone, "reqeusts"), want(alone, "cv2")
    assert (stranger.spec, stranger.is_vouched_for) == ("reqeusts", False)
    assert (known.spec, known.is_vouched_for, known.is_asked_for) == ("opencv-python-headless", True, False)
    assert want(alone, "grpc_health.v1").spec == "grpcio-health-checking"
    assert want(alone, "av").is_asked_for is False, "an extra that nobody asks for asks for nothing"
