"""Every grammar of the crash-log forms, part 3, and that a text's own words stay."""

import pytest

from dflashtui.diagnosis.prefixes import strip

FRAME = '  File "/srv/pump.py", line 1, in f'


@pytest.mark.parametrize(
    ("line", "text", "process", "pid", "level"),
    [
        ("gen-1  | boom", "boom", "gen-1", None, None),
        ("2031-01-02T03:04:05.678Z boom", "boom", None, None, None),
        ("2031-01-02 03:04:05,678 - pump - INFO - boom", "boom", None, None, "INFO"),
        ("2031-01-02 03:04:05.678 | ERROR    | pump.core:run:7 - boom", "boom", None, None, "ERROR"),
        ("ERROR:    boom", "boom", None, None, "ERROR"),
        ("ERROR:pump.core:boom", "boom", None, None, "ERROR"),
        ("[2031-01-02 03:04:05 +0000] [71] [ERROR] boom", "boom", None, 71, "ERROR"),
        ("[2031-01-02 03:04:05 DP1 TP3] boom", "boom", "DP1 TP3", None, None),
        ("[2031-01-02 03:04:05] boom", "boom", None, None, None),
        (f"(EngineCore_DP9 pid=77) ERROR 01-02 03:04:05 [pump.py:12] {FRAME}", FRAME, "EngineCore_DP9", 77, "ERROR"),
        ("(EngineCore_DP9 pid=77)", "", "EngineCore_DP9", 77, None),
        ("(VllmWorker rank=2 pid=1) ERROR 01-02 03:04:05 pump.py:12] boom", "boom", "VllmWorker rank=2", 1, "ERROR"),
        ("(EngineCore_0 pid=5) (Worker_TP1 pid=6) [rank0]: boom", "boom", "Worker_TP1", 6, None),
        (f"(PumpActor pid=8, ip=10.0.0.9) {FRAME} [repeated 3x across cluster]", FRAME, "PumpActor", 8, None),
        ("[rank2]: boom", "boom", "rank2", None, None),
        ("[rank2]:[E102 03:04:05.6 File.cpp:7] boom", "boom", "rank2", None, None),
        ("E0102 03:04:05.6 71 pump.cc:7] boom", "boom", None, 71, "ERROR"),
        (f"Thu Jan  2 03:04:05 2031[1,2]<stderr>:{FRAME}", FRAME, "rank2", None, None),
        ("2031-01-02T03:04:05.6Z ERROR pump-manager: pump_launcher: boom", "boom", None, None, "ERROR"),
        ("2031-01-02T03:04:05.6Z  INFO pump_launcher: boom", "boom", None, None, "INFO"),
        (f"stderr: {FRAME}", FRAME, None, None, None),
        (f"2031-01-02T03:04:05.123456789+00:00 stderr F {FRAME}", FRAME, None, None, None),
        ("[pod/pump-7d9f/engine] boom", "boom", "pod/pump-7d9f/engine", None, None),
        (f"Dec 01 05:11:03 gpu-a python3[123]: {FRAME}", FRAME, None, 123, None),
        ("2031-12-01T05:11:03+0000 gpu-a python3[2]: boom", "boom", None, 2, None),
        ("Tue 2031-12-01 05:11:03 UTC gpu-a python3[2]: boom", "boom", None, 2, None),
        ("[01/02/2031-03:04:05] [TRT-LLM] [E] boom", "boom", None, None, "ERROR"),
    ],
)  # fmt: skip
def test_a_prefix(line: str, text: str, process: str | None, pid: int | None, level: str | None) -> None:
    look = strip(line)
    assert (look.text, look.process, look.pid, look.level) == (text, process, pid, level)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "ValueError: x",
            "torch.OutOfMemoryError: CUDA out of memory",
            "error: unexpected argument",
            "usage: pump [-h]",
            FRAME,
        ),
        *(
            "[0]:",
            "  time      : 2031-01-02_03:04:05",
            "pump.py: error: boom",
            "Error: No such option",
            "main: exiting due to model loading error",
        ),
    ],
)
def test_a_text_without_prefix_stays(text: str) -> None:
    assert strip(text).text == text
