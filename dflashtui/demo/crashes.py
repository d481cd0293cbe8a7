"""What dying engines write: the forms of real tracebacks. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dflashtui.demo.plan import ServicePlan

FRAMES = (
    ("<frozen runpy>", 198, "_run_module_as_main", ""),
    ("<frozen runpy>", 88, "_run_code", ""),
    ("{site}/sglang/launch_server.py", 50, "<module>", "run_server(server_args)"),
    (
        "{site}/sglang/launch_server.py",
        36,
        "run_server",
        "from sglang.srt.entrypoints.http_server import launch_server",
    ),
    (
        "{site}/sglang/srt/entrypoints/http_server.py",
        98,
        "<module>",
        "from sglang.srt.entrypoints.openai.serving_transcription import (",
    ),
    (
        "{site}/sglang/srt/entrypoints/openai/serving_transcription.py",
        33,
        "<module>",
        "from sglang.srt.entrypoints.openai.streaming_asr import (",
    ),
    ("{site}/sglang/srt/entrypoints/openai/streaming_asr.py", 21, "<module>", "import soundfile as sf"),
)


def missing_module(plan: ServicePlan) -> list[str]:
    """The story's first crash, in the seconds after the start."""
    site = f"{plan.command.partition('/bin/')[0]}/lib/python3.12/site-packages"
    text = ["Traceback (most recent call last):"]
    for file, line, function, source in FRAMES:
        text.append(f'  File "{file.format(site=site)}", line {line}, in {function}')
        if source:
            text.append(f"    {source}")
    return [*text, "ModuleNotFoundError: No module named 'soundfile'"]


def lost_gpu(plan: ServicePlan) -> list[str]:
    """What a service writes at the moment when its GPU is gone."""
    site = f"{plan.command.partition('/bin/')[0]}/lib/python3.12/site-packages"
    return [
        "Scheduler hit an exception: Traceback (most recent call last):",
        f'  File "{site}/sglang/srt/managers/scheduler.py", line 3445, in run_scheduler_process',
        "    scheduler.event_loop_overlap()",
        f'  File "{site}/sglang/srt/managers/scheduler.py", line 1088, in event_loop_overlap',
        "    self.copy_done.synchronize()",
        "torch.AcceleratorError: CUDA error: unspecified launch failure",
        "CUDA kernel errors might be asynchronously reported at some other API call.",
        "Received sigquit from a child process. It usually means the child failed.",
    ]


def no_gpu() -> list[str]:
    """What a service writes that is started on a GPU that is gone."""
    return [
        "Traceback (most recent call last):",
        '  File "<string>", line 1, in <module>',
        "    torch.cuda.set_device(0)",
        "RuntimeError: No CUDA GPUs are available",
    ]


def out_of_memory(plan: ServicePlan) -> list[str]:
    """A model and its cache that do not fit."""
    site = f"{plan.command.partition('/bin/')[0]}/lib/python3.12/site-packages"
    return [
        "Scheduler hit an exception: Traceback (most recent call last):",
        f'  File "{site}/sglang/srt/managers/scheduler.py", line 3412, in run_scheduler_process',
        "    scheduler = Scheduler(",
        f'  File "{site}/sglang/srt/model_executor/model_runner.py", line 1903, in init_memory_pool',
        "    self.token_to_kv_pool = MHATokenToKVPool(",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 11.06 GiB. GPU 0 has a total capacity of 94.97 GiB of which 3.21 GiB is free.",  # noqa: E501
        "Received sigquit from a child process. It usually means the child failed.",
    ]
