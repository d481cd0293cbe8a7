"""Wordings of wrong settings, and of ends of which nothing more is known. Tried last."""

from __future__ import annotations

from dflashtui.diagnosis.rule import Rule, rule

USE: tuple[Rule, ...] = (
    rule(
        "missing-module",
        r"pip3? install (?!-|\.)",
        r"to be installed",
    ),
    # configuration
    rule(
        "config-validation",
        r"\d+ validation errors?",
        r"must be divisible by",
        r"divisible by",
        r"is (?:smaller|larger|greater|bigger|less) than",
        r"is not divisible",
        r"must be (?:a |an |set |one |in |at |less|greater|between|positive|>|<|>=|<=|equal|either|power|"
        r"specified|provided|smaller|larger|no |the same|used|enabled|disabled|non)",
        r"is greater than the (?:derived|maximum|model)",
        r"(?:does not|doesn't|do not|cannot|can't|can not) (?:support|be used|be (?:set|enabled|combined|both)|use)",
        r"(?:is|are) (?:currently )?(?:not|un)(?: yet| currently)? ?(?:supported|compatible|implemented|"
        r"allowed|valid)",
        r"isn't supported",
        r"incompatible",
        r"should be (?:one|in|less|greater|a |an |set|between|divisible|at|either)",
        r"Unknown (?:quantization|speculative|attention|dtype|backend|parser)",
        r"Invalid (?:value|configuration|config|attention|quantization|backend|dtype|chat template)",
        r"expected (?:one of|a value)",
        r"Unsupported",
        r"not supported",
        r"(?:quantization|dtype|rope_scaling|head_size|block_size|chunked|max_num|max_model_len|"
        r"tensor.parallel|pipeline.parallel|tp_size).{0,80}(?:must|should|expected|invalid|required|"
        r"exceed|mismatch|not)",
        r"requires? --",
        r"please (?:set|use|specify|provide|increase|reduce|disable|enable)",
        r"World size .{0,60}(?:larger|greater)",
        r"Total number of attention heads",
        r"Input should be",
        r"field required",
        r"extra (?:fields|inputs) (?:are )?not permitted",
        r"Either a \w+ or a \w+ must",
        r"Environment variable .{0,60}(?:not set|required)",
    ),
    rule(
        "systemd-exec",
        r"command not found",
        r": not found$",
        r"No such file or directory$",
        r"cannot execute",
        r"Exec format error",
        r"bad interpreter",
        r"exec: .{0,200}not found",
        r"executable file not found",
        r"exit (?:code|status) 12[67]\b",
    ),
    rule(
        "missing-module",
        r"pip3? install",
        r"is not installed",
        r"not installed",
        r"install (?:it|the) ",
        r"need to install",
        r"please (?:re-?)?install",
        r"\b(?:is|are) required\b",
        types=(r"(?:ImportError|ModuleNotFoundError)$",),
    ),
    rule(
        "segfault",
        r"Segmentation fault",
        r"SIGSEGV",
        r"segfault",
        r"signal 11\b",
        r"(?:exit|return) ?code ?[:=]? ?(?:-11|139)\b",
    ),
    rule(
        "abort",
        r"free\(\)",
        r"\bmalloc",
        r"double free",
        r"munmap_chunk",
        r"corrupted size",
        r"stack smashing",
        r"^Aborted\b",
        r"SIGABRT",
        r"signal 6\b",
        r"(?:exit|return) ?code ?[:=]? ?(?:-6|134)\b",
        r"Assertion .{0,300} failed",
        r"GGML_ASSERT",
        r"terminate called",
        r"Fatal Python error",
        r"core dumped",
    ),
    rule(
        "timeout",
        r"timed out",
        r"timeout",
        r"did not (?:become|start|respond|join|finish).{0,40}(?:within|in time|after)",
        r"watchdog",
        r"TimeoutStartSec",
        r"deadline exceeded",
        r"other ranks did not",
        r"took too long",
    ),
)

WEAK_RULES: tuple[Rule, ...] = (
    rule(
        "config-validation",
        r"Assertion fail(?:ed)?: ",
    ),
    rule(
        "config-validation",
        r"(?:^|[\s('\"`])--[a-z][\w-]{2,60}",
    ),
    rule(
        "config-validation",
        r"\bmust\b",
        r"\brequires?\b",
        r"\brequired\b",
        r"\bneeds? (?!to be implemented)",
        r"\bsupport(?:s|ed)?\b",
        r"\bis not one of\b",
        r"\b[Aa]vailable(?: \w{1,20})?: ",
        r"cannot (?:combine|mix)",
        r"\bonly (?:compatible|allowed|valid|used|applies|available)",
        r"mutually exclusive",
        r"not (?:allowed|permitted|parseable)",
        r"\bout of range\b",
        r"(?:unknown|invalid|unsupported|conflicting|missing) .{1,120}(?:config|setting|option|type|mode|method|"
        r"backend|strategy|policy|algorithm|format|name|value|size|key|field)",
        r"exceeds? ",
        r"do(?:es)? not match",
        types=(r"(?:^|\.)(?:Value|Assertion|NotImplemented|Config\w*)Error$",),
    ),
    rule(
        "config-validation",
        types=(r"ValidationError$", r"AssertionError$", r"StrictDataclass\w*Error$"),
    ),
    rule(
        "import-error",
        types=(r"(?:ImportError)$",),
    ),
    rule(
        "timeout",
        types=(r"Timeout(?:Error|Expired)?$",),
    ),
)
"""What the type alone says, where no line of the message says more."""
