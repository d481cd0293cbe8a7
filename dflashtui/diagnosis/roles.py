"""Which exceptions and lines are consequences: wrappers, victims, noise (crash-log forms, parts 4 and 5)."""

from __future__ import annotations

import re

WRAPPER_TYPES = re.compile(
    r"(?:^|\.)(?:ChildFailedError|EngineDeadError|EngineGenerationError|AsyncEngineDeadError|"
    r"ShardCannotStart|HaltServer|ActorDiedError|ActorUnavailableError|RayActorError|"
    r"RayTaskError(?:\(.*\))?|WorkerCrashedError|RayChannelError|ProcessRaisedException|"
    r"ProcessExitedException|_?RemoteTraceback|BrokenProcessPool|"
    r"MQLLMEngine\w*|MultiprocessingError|EngineCoreDeadError|WorkerLostError|CalledProcessError|"
    r"LLMServerError|DeploymentFailedError|ProcessLookupError)$"
)
WRAPPER_TEXT = re.compile(
    r"^Fatal Python error: Aborted|"
    r"see (?:the )?(?:root cause|stack ?trace|error|logs?|traceback|exception|above)|"
    r"(?<!driver )(?:initialization|startup|start-up|launch\w*|boot\w*) failed|"
    r"(?:engine|worker|server|shard|process|rank \d+|scheduler|child|subprocess|core|proc\w*|replica|"
    r"model runner|container|runner)\b.{0,60}"
    r"(?:failed to (?:start|initiali[sz]e|boot|launch|be ready)|died|is dead|exited|crash\w*|"
    r"unexpectedly (?:failed|exit\w*|clos\w*|terminat\w*)|has terminated|could ?not (?:be )?start|"
    r"cannot start|terminated|was killed|not (?:be )?ready|did not start)|"
    r"child process(?:es)? (?:unexpectedly )?failed|It usually means (?:the|one) child failed|sigquit|"
    r"failed to load all models|exiting due to|Error while (?:initializing|loading) the model|"
    r"Error when initializing model|Webserver Crashed|Application startup failed|"
    r"Worker failed to boot|Shutting down|Starting(?: up)? .{0,40}failed|"
    r"failed \(exitcode: |died with <Signals|Triggering SIGQUIT|Could not load any \w+ library|"
    r"Failed to import \S+ because of the following error|"
    r"background (?:process|loop|task).{0,40}(?:failed|exception|died|errored)|EngineCore (?:failed|"
    r"encountered|exited)|fatal error\.?$|hit an exception|"
    r"Ran into (?:a|an) (?:fatal )?error|Cancelled by|The process .{0,40} was terminated|"
    r"Engine loop (?:is not running|has died)|Failed core proc|returned non-zero exit status|"
    r"unable to load model|"
    r"^(?:Shard|Web[sS]erver)(?:CannotStart|Failed|Disconnected|Crashed)|^DownloadError|"
    r"Error executing method|Caught \w{1,80} in (?:DataLoader|replica|pin memory)|failed with error|"
    r"Exception in worker process|Main process exited",
    re.IGNORECASE,
)
VICTIM_TEXT = re.compile(
    r"Connection closed by peer|Connection reset|reset by peer|Broken pipe|Errno 32\]|Errno 104\]|"
    r"barrier.{0,60}(?:timed|timeout|fail)|other ranks? (?:did not|failed)|watchdog (?:caught|thread|"
    r"timeout|got)|"
    r"NCCL watchdog|Watchdog caught collective|cancell?ed\b|exit ?code:? ?-15|remote process exited|"
    r"ncclRemoteError|socket closed|peer .{0,40}(?:closed|exit|gone)|collective operation timeout|"
    r"Some NCCL operations have failed or timed out|taking the entire process down|"
    r"ProcessGroupNCCL's watchdog|aborted due to|recvValue failed|sendBytes failed|failed to recv|"
    r"Connection (?:lost|aborted by)|"
    r"\[Errno 9\]|received signal (?:15|SIGTERM)|Signal 15|SIGTERM|store.{0,40}(?:timeout|timed out|"
    r"closed)|waitForInput|"
    r"rank \d+ .{0,60}(?:died|failed|exited)|Cannot send after|ended prematurely|process group has been destroyed",
    re.IGNORECASE,
)
VICTIM_TYPES = re.compile(
    r"(?:^|\.)(?:EOFError|BrokenPipeError|ConnectionResetError|ConnectionAbortedError|CancelledError|"
    r"IncompleteReadError|Closed\w*Error|EndOfStream|RequestCancelled\w*)$"
)
NOISE_TYPES = re.compile(
    r"(?:^|\.)(?:KeyboardInterrupt|SystemExit|CancelledError|GeneratorExit|StopAsyncIteration|"
    r"BrokenResourceError|WouldBlock|UnexpectedExit)$"
)
NOT_FATAL_CONTEXT = re.compile(
    r"Exception ignored in|--- Logging error ---|exception was never retrieved|Exception in thread |"
    r"Exception in ASGI application|Exception in callback|Unclosed |"
    r"Exception on /|A module that was compiled using NumPy 1|Error in sys.excepthook|"
    r"Traceback \(most recent call first\)|WARNING|Future exception was never|"
    r"Error handling request|Error in (?:request|generat)\w*|request .{0,60}failed|"
    r"Exception while (?:serving|handling|exporting)|Failed to (?:export|send|report|collect) "
    r"(?:telemetry|usage|metrics|stats)|(?:retrying|will retry|ignor(?:ed|ing)|skipping|falling back|"
    r"non-fatal|continuing)|object address  :|"
    r"can yield errors"
)
PYTHON_WARNING = re.compile(r"^\s*warnings\.warn\(|^\w{0,60}Warning: |:\d+: \w{0,60}Warning: ")
"""They announce nothing of what comes behind them."""
ANNOUNCING = re.compile(
    r":$|fail|error|exception|could not|cannot|unable|ignor|warn|traceback|problem|not (?:available|there|found)",
    re.IGNORECASE,
)
"""A record at a quiet level, behind which a bare traceback belongs to it."""
WARNING_LEVELS = frozenset({"TRACE", "DEBUG", "WARNING", "WARN"})
"""Not INFO: launchers log what their children print at that level."""
QUIET_LEVELS = frozenset({"TRACE", "DEBUG", "INFO", "NOTICE", "WARNING", "WARN"})
LOUD_LEVELS = frozenset({"ERROR", "ERR", "CRITICAL", "CRIT", "FATAL", "SEVERE"})
ALIVE = re.compile(
    r"startup complete|Uvicorn running on|ready to roll|server is (?:listening|ready|running)|"
    r"\" 200(?: OK)?$|\" 200 |HTTP/1\.1\" 200|Decode batch|Prefill batch|"
    r"Engine \d+: Avg|Avg prompt throughput|all slots are idle|Connected$|server started|Now serving|"
    r"Started server process|healthy",
    re.IGNORECASE,
)
READY = re.compile(
    r"startup complete|Decode batch|Avg generation throughput|Uvicorn running on|ready to roll|"
    r"server is (?:listening|ready)|listening on http|all slots are idle|Server started",
    re.IGNORECASE,
)
ENDING = re.compile(
    r"shut(?:ting)? ?down|exiting|terminat|\bkill|clean|stopp|closing|finished server process|"
    r"waiting for|goodbye|destroy|leaked|resource_tracker|process (?:group|pool)|"
    r"sigquit|sigterm|signal|exited|cleanup|wandb|aborting|dump|warn|error|fail|exception|abort|died|"
    r"unregister|disconnect|^\s*$|\^\^|core dumped|note:|hint|rank=|please|^\W*$|http|see |frame #|"
    r"0x[0-9a-f]",
    re.IGNORECASE,
)
DEATH = re.compile(
    r"exited with (?:code|status)|exit (?:code|status)|exitcode|Application shutdown complete|"
    r"Finished server process|Killed$|core dumped|Shutting down|process .{0,60}(?:died|crashed|"
    r"exited)|"
    r"exiting due to|has terminated|Failed to start|failed to start|CrashLoopBackOff|OOMKilled|Exiting\b|aborting",
)


def is_wrapper(exception: str | None, text: str) -> bool:
    """It only says that another failed."""
    return bool((exception and WRAPPER_TYPES.search(exception)) or WRAPPER_TEXT.search(_first_line(text)))


def is_victim(exception: str | None, text: str) -> bool:
    """It lost a peer, or was told to stop."""
    return bool((exception and VICTIM_TYPES.search(exception)) or VICTIM_TEXT.search(_first_line(text)))


def _first_line(text: str) -> str:
    """What follows it may be another's."""
    return text[:1200].partition("\n")[0]
