"""What a message means: the kinds of the contract, in the order in which they are tried (crash-log forms, part 8).

Adding a kind or a wording: one `Rule`, and a sample log beside it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple


class Rule(NamedTuple):
    """`kind`, if the exception's type and the message say so; an empty pattern asks nothing."""

    kind: str
    text: re.Pattern[str] | None
    type: re.Pattern[str] | None = None


def _rule(kind: str, text: str = "", type_: str = "") -> Rule:
    """`text` is searched in the message, whatever its case; `type_` in the exception's qualified name."""
    return Rule(kind, re.compile(text, re.IGNORECASE) if text else None, re.compile(type_) if type_ else None)


_IMPORT = r"(?:ImportError|ModuleNotFoundError|OSError|RuntimeError|AttributeError)$"
_GPU = r"(?:cuda|hip|rocm|gpu|device|vram)"
RULES: tuple[Rule, ...] = (
    # modules and binaries
    _rule("missing-module", r"No module named |Cannot find module '"),
    _rule(
        "missing-module",
        r"requires the following packages that were not found|Could not import module \"|No package metadata was found for",
    ),
    _rule("missing-module", "", r"PackageNotFoundError$"),
    _rule("import-error", r"partially initialized module|cannot import name "),
    _rule("gpu-unavailable", r"lib(?:cuda|nvidia-ml)\.so[.\d]*: cannot open shared object file"),
    _rule(
        "shared-library",
        r"cannot open shared object file|image not found|failed to map segment|wrong ELF class|cannot enable executable stack",
    ),
    _rule(
        "shared-library",
        r"Could not load (?:dynamic library|library lib|any \w+ library: lib)|Unable to (?:load|open) (?:any of \{)?lib\w+\.so|invalid ELF header",
    ),
    _rule(
        "abi-mismatch",
        r"undefined symbol|GLIBC(?:XX)?_[\d.]+.{0,3} not found|version `?'?(?:GLIBC|GLIBCXX|CXXABI)\w*[\d.]*'? not found|CXXABI_[\d.]+",
    ),
    _rule(
        "abi-mismatch",
        r"operator \S+::\S+ does not exist|numpy\.(?:dtype|ufunc|core|ndarray)\S* (?:size|failed)|compiled using NumPy 1\.|binary incompatib|_ARRAY_API not found",
    ),
    _rule(
        "abi-mismatch",
        r"compiled with different (?:CUDA|versions)|(?:does not match|incompatible with) (?:the )?(?:torch|pytorch|flashinfer|cuda) version|"
        r"(?:cubin|jit-cache) version .{0,80}does not match|was built (?:for|with|against) .{0,60}(?:but|torch|CUDA)|Couldn't load custom C\+\+ ops",
    ),
    _rule(
        "abi-mismatch",
        r"is installed with version .{0,80}less than the minimum|requires .{0,60}(?:but|, ?while) .{0,40}(?:is installed|found)|is required for a normal functioning of this module",
    ),
    # limits and memory of the host
    _rule(
        "resource-limit",
        r"/dev/shm.{0,300}(?:No space left|insufficient|not enough|too small)|No space left on device.{0,200}/dev/shm|insufficient shared memory|"
        r"out of shared memory|unable to (?:open|allocate|mmap) shared memory|shared memory segment|shm_(?:open|unlink)|increas\w+ .{0,20}shm|\bshm\b.{0,60}No space left",
    ),
    _rule(
        "resource-limit",
        r"Errno 24\]|Too many open files|\(24\)|RLIMIT_\w+|ulimit|memlock|can't start new thread|Resource temporarily unavailable|"
        r"pthread_create failed|Bus error|SIGBUS|mlock",
    ),
    _rule("resource-limit", r"Errno 28\].{0,200}(?:/dev/shm|/psm_|/torch_\d|/sem\.mp|pymp-)"),
    _rule(
        "cuda-oom",
        r"(?:CUDA|HIP|XPU|NPU|GPU)(?: error| driver error)?:? ?(?:\(\d+\) ?)?(?:: )?out of memory|cuda(?:Malloc|HostAlloc|Graph)\w*.{0,40}(?:failed|out of memory)|"
        r"CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|hipMalloc failed|failed to allocate \S* ?(?:CUDA\d*|ROCm\d*|Vulkan\d*|\w+) buffer|Cuda failure.{0,30}out of memory|"
        r"allocat\w+ .{0,80}on device \d+: (?:cuda|hip)|out of memory.{0,60}\b(?:CUDA|GPU|device)\b",
    ),
    _rule(
        "cuda-oom",
        r"No available memory for the cache|Free memory on device|less than desired GPU memory|(?:max[_ ]seq[_ ]len|max_model_len|max seq len).{0,80}larger than|"
        r"Not enough memory|KV cache.{0,120}(?:larger than|needed|insufficient|available memory|not enough|too small)|(?:larger than|exceeds?).{0,60}KV cache|"
        r"mem.?fraction.?static|gpu.?memory.?utilization|memory capacity is unbalanced|Error in memory profiling|"
        r"insufficient (?:GPU|VRAM|memory to load)|model requires more (?:GPU|system|memory)|CUBLAS_STATUS_ALLOC_FAILED|CUDNN_STATUS_(?:ALLOC_FAILED|INTERNAL_ERROR_DEVICE_ALLOCATION)",
    ),
    _rule("cuda-oom", "", r"OutOfMemoryError$|OutOfMemoryException$"),
    _rule(
        "host-oom",
        r"oom-kill|oom_kill|OOM killer|OOMKilled|Out of memory: Kill|Memory cgroup out of memory|Cannot allocate memory|DefaultCPUAllocator|"
        r"std::bad_alloc|bad_alloc|unable to allocate \S+ \S+ for an array|killed due to memory|low on memory|memory on the node|ENOMEM|Errno 12\]|not enough memory: you tried",
    ),
    _rule("host-oom", "", r"\bMemoryError$|bad_alloc$"),
    _rule("host-oom", r"(?:exit ?code|signal|status)\s{0,3}[:=]?\s{0,3}(?:-9|9|137)\b|SIGKILL|signal: 9|\bexit -9\b"),
    # ports
    _rule(
        "port-in-use",
        r"Address already in use|EADDRINUSE|Errno 98\]|address in use|port \d+ is (?:already )?(?:in use|not available|occupied|used)|"
        r"(?:port|address).{0,40}(?:already|currently) (?:in use|used|bound|allocated)|failed to listen on|(?:cannot|could not|couldn't|unable to|failed to) bind|only one usage of each socket|port is already allocated",
    ),
    # the driver and the GPU itself
    _rule(
        "gpu-lost",
        r"fallen off the bus|GPU is lost|Unable to determine the device handle|GPU requires reset|uncorrectable ECC|ECC error|"
        r"cudaErrorECCUncorrectable|cudaErrorDevicesUnavailable|hardware error|DeviceLost|NVMLError_GpuIsLost|ErrorDeviceLost",
    ),
    _rule(
        "driver-mismatch",
        r"driver (?:on your system )?is too old|Driver/library version mismatch|RM version mismatch|driver version is insufficient|insufficient for CUDA runtime|"
        r"Error 80[34]\b|system has unsupported display driver|forward compatibility was attempted|unsupported toolchain|CUDA_ERROR_(?:SYSTEM_DRIVER_MISMATCH|COMPAT_NOT)|"
        r"provided PTX was compiled with an unsupported|requires? (?:a )?(?:newer )?(?:NVIDIA )?driver|unsatisfied condition: cuda|cuda>=\d",
    ),
    _rule(
        "unsupported-arch",
        r"no kernel image is available|invalid device function|compute capability|is not compatible with the current PyTorch|illegal instruction|SIGILL\b|"
        r"sm_?\d{2,3}\w? (?:is not|not) supported|not supported on (?:this|your) (?:GPU|device|hardware|architecture|platform)|unsupported (?:GPU|gpu|CUDA|cuda) arch|"
        r"requires? (?:an? )?(?:Hopper|Ampere|Ada|Blackwell|SM ?\d|sm_?\d|GPU with|AVX)|only supported on (?:Hopper|Ampere|Ada|Blackwell|GPUs?|SM|sm|CUDA)|signal 4\b|exit ?code ?[:=]? ?(?:-4|132)\b|"
        r"does not support (?:bfloat16|bf16|fp8|flash)|FlashAttention only supports|(?:GPU|device) (?:arch|architecture).{0,40}(?:not supported|unsupported)",
    ),
    _rule(
        "gpu-unavailable",
        r"No CUDA GPUs are available|Failed to infer device type|Error 802|system not yet initialized|no CUDA-capable device|No (?:NVIDIA )?(?:GPUs?|devices?) (?:found|detected|available)|"
        r"Found no NVIDIA driver|No accelerator|Torch not compiled with CUDA|CUDA (?:is )?(?:not available|unavailable)|invalid device ordinal|cuda(?:Error)?InvalidDevice|CUDA_ERROR_NO_DEVICE|"
        r"torch\.cuda\.is_available\(\) (?:is|should be)|Attempting to deserialize object on a CUDA device|could not select device driver|nvidia-container-cli|"
        r"NVML (?:Shared Library Not Found|library not found)|Can't initialize NVML|Driver Not Loaded|no (?:compatible|supported) GPUs?|CUDA initialization|"
        r"(?:GPU|device|CUDA).{0,30}not (?:visible|found)\b|Unexpected error from cudaGetDeviceCount",
    ),
    _rule("gpu-unavailable", "", r"NVMLError_(?:LibraryNotFound|DriverNotLoaded|Uninitialized|NotFound)$"),
    _rule(
        "kernel-compile",
        r"ninja|nvcc|ptxas|Error compiling|compilation (?:error|failed|terminated)|CompilationError|failed to compile|NVRTC|cicc|"
        r"CUDA_HOME (?:environment|does not|is not)|Python\.h: No such file|Failed to find C compiler|C compiler|cpp_extension|Error building extension|LLVM ERROR|backend='inductor'|BackendCompilerFailed|InductorError|"
        r"collect2|\b(?:gcc|g\+\+|cc1|clang|ld)\b.{0,200}(?:exit status|returned non-zero|error|fatal)|fatal error: .{0,200}\.h|PassManager::run|JIT (?:compil|build)|Triton.{0,60}compil|cannot find -l",
    ),
    _rule(
        "kernel-compile",
        "",
        r"CompilationError$|CompileError$|InductorError$|BackendCompilerFailed$|LoweringException$|PTXASError$|^torch\._dynamo\.exc\.(?!InternalTorchDynamoError)|"
        r"OutOfResources$|NVRTCError$|NoTritonConfigsError$",
    ),
    # the collective libraries, before the plain CUDA errors that they wrap
    _rule(
        "nccl",
        r"ncclUnhandledCudaError|ncclSystemError|ncclInternalError|ncclInvalidUsage|ncclRemoteError|NCCL (?:error|Error|WARN|failure)|NCCL_\w+|unhandled (?:system|cuda) error|"
        r"HCCL|RCCL|\bnccl\w*: |gloo|ProcessGroup(?:NCCL|Gloo)|NVLS|Duplicate GPU detected|symmetric memory|custom_all_reduce|ncclComm|TCPStore|DistStoreError|rendezvous",
    ),
    _rule("nccl", "", r"Dist(?:Backend|Network|Store|)Error$|NCCLError$|DistQueueEmptyError$"),
    _rule(
        "cuda-error",
        rf"illegal memory access|unspecified launch failure|device-side assert|misaligned address|CUDA error|cudaError|CUDA_ERROR_|CUBLAS_STATUS|CUDNN_STATUS|cuDNN error|cuBLAS|"
        rf"HIP error|CUDA driver error|CUDA failure|an illegal instruction was encountered|{_GPU} ?kernel (?:launch )?fail|invalid argument.{{0,30}}cuda|MMU Fault|Xid \(PCI",
    ),
    _rule("cuda-error", "", r"AcceleratorError$|CUDARuntimeError$|CUDADriverError$|CudaError$|CUDAError$"),
    # arguments
    _rule(
        "bad-argument",
        r"unrecognized arguments?|invalid choice|the following arguments are required|expected (?:one|at least one|\d+) arguments?|ambiguous option|No such option|unexpected argument|"
        r"unknown (?:argument|option|flag)|unrecognized option|Unknown option|invalid option|invalid value .{0,120} for|Missing (?:option|argument|parameter)|Got unexpected extra|not allowed with argument|"
        r"invalid (?:int|float|str|bool|\w+) value|argument -|required arguments were not provided|ignored explicit argument|No such command|flag provided but not defined|unknown shorthand flag|unknown command|Invalid value for '|unrecognized (?:flag|parameter|subcommand)|expected argument for option|error while handling argument",
    ),
    _rule("bad-argument", r"invalid literal for int\(\) with base"),
    _rule("bad-argument", "", r"ArgumentError$|UsageError$|NoSuchOption$|BadParameter$|NoSuchCommand$"),
    # access
    _rule(
        "auth",
        r"\b40[13] (?:Client Error|Unauthorized|Forbidden)|\b40[13]\b.{0,40}(?:Unauthorized|Forbidden|gated)|gated repo|Access to model .{0,200} is restricted|Unauthorized|authentication (?:failed|required)|"
        r"Invalid (?:user )?token|invalid username or password|Invalid credentials|api[_ ]?key.{0,40}(?:missing|invalid|not set|required)|AccessDenied|access denied.{0,40}(?:repo|token)|must be authenticated|pull access denied|Repository Not Found.{0,200}401",
    ),
    _rule("auth", "", r"GatedRepoError$|AuthenticationError$|AuthError$|NoCredentialsError$"),
    # models
    _rule(
        "model-invalid",
        r"does not recognize this architecture|unknown model architecture|architectures?.{0,160}(?:not supported|are not supported|unsupported|no .{0,20}implementation|failed to be inspected)|not supported for now|"
        r"Unsupported model type|unsupported (?:model|architecture)|model type .{0,80}(?:not (?:supported|recognized)|should be one)|Unrecognized model|Unrecognized configuration class|has no (?:vLLM|SGLang) implementation|Cannot find model module|unknown pre-tokenizer|"
        r"model architecture .{0,80}(?:not|unknown)|not a supported (?:model|architecture)|Unknown architecture",
    ),
    _rule(
        "model-invalid",
        r"HeaderTooLarge|header too large|MetadataIncompleteBuffer|InvalidHeader|incomplete metadata|Error while deserializing header|did not match any variant|bad magic|invalid magic|magic number|invalid load key|Unable to load weights from (?:pytorch|checkpoint)|"
        r"unexpected EOF|corrupt|PytorchStreamReader|not a (?:valid )?(?:GGUF|ZIP|safetensors|JSON)|(?:size|shape) mismatch|git-lfs|missing tensor|wrong number of tensors|wrong shape|tensor .{0,120}(?:not found|out of bounds|is not within)|invalid (?:gguf|GGUF|model file|split)|"
        r"data (?:of tensor|is not within)|checkpoint.{0,80}(?:corrupt|incomplete|missing keys)|Missing key\(s\)|Unexpected key\(s\)|Some weights .{0,60}not initialized|failed to read (?:magic|tensor|key|hparams|header)|There is no module or parameter named|"
        r"not initialized from checkpoint|is not a valid JSON file|(?:Expecting (?:value|property name|',' delimiter)[^:]{0,40}|Extra data): line \d|weights? .{0,80}(?:not found in|missing|mismatch)|Only \w+ tensors? can|assert param_data\.shape|loaded_weight|key .{0,40}not found in (?:model|gguf)",
    ),
    _rule("model-invalid", "", r"SafetensorError$|UnpicklingError$|BadZipFile$"),
    _rule(
        "network",
        r"Max retries exceeded|Name or service not known|name resolution|Could not resolve|getaddrinfo|Connection refused|No route to host|Network is unreachable|ProxyError|Cannot connect to proxy|Failed to establish a new connection|"
        r"SSLError|CERTIFICATE_VERIFY_FAILED|certificate verify failed|Errno (?:-2|-3|-5|101|110|111|113)\]|connection timed out|Read timed out|ConnectTimeout|ReadTimeout|no such host|dial tcp|i/o timeout|TLS handshake|EOF occurred in violation|We couldn't connect to|"
        r"Temporary failure|Connection aborted|(?:HTTP )?50[0234] (?:Server Error|Bad Gateway|Gateway|Service)|All connection attempts failed|429 (?:Client Error|Too Many)|error sending request",
    ),
    _rule(
        "network",
        "",
        r"ConnectionRefusedError$|gaierror$|ConnectTimeout$|ConnectError$|SSLError$|MaxRetryError$|ProxyError$|NewConnectionError$|ClientConnectorError$|NameResolutionError$",
    ),
    _rule(
        "model-not-found",
        r"Repo id must|does not appear to have a file named|not in the cached files|couldn't find (?:it|them) in the cached|Repository Not Found|404 Client Error|is not a local folder and is not a valid model identifier|is not the path to a directory|"
        r"Incorrect path_or_model_id|Cannot find (?:any model weights|the requested files|an appropriate cached)|Can't load (?:the )?(?:tokenizer|configuration|config|model|feature|image|processor)|Cannot find .{0,60}weights|(?:no|any) (?:safetensors|model) (?:weights|files) found|Unable to load vocabulary|"
        r"LocalEntryNotFound|outgoing traffic has been disabled|failed to open (?:GGUF|model|file|'/)|unable to open model|(?:model|checkpoint|weights?|tokenizer|adapter).{0,120}(?:does not exist|not found|No such file)|no such (?:model|file).{0,80}(?:gguf|safetensors)|Invalid repository ID|"
        r"model path .{0,200}(?:not|exist)|manifest.{0,60}(?:unknown|not found)|no GGUF files|pull model manifest|Couldn't instantiate the backend tokenizer",
    ),
    _rule(
        "model-not-found",
        r"No such file or directory:? .{0,400}(?:models?\b|snapshots|weights|checkpoint|safetensors|gguf|\.bin|\.pt\b|config\.json|tokenizer|/dev/shm/|huggingface|\bhub\b|adapter|index\.json)",
    ),
    _rule(
        "model-not-found",
        "",
        r"RepositoryNotFoundError$|EntryNotFoundError$|LocalEntryNotFoundError$|RevisionNotFoundError$|HFValidationError$",
    ),
    _rule(
        "disk-full",
        r"No space left on device|Errno 28\]|Disk quota exceeded|Errno 122\]|disk (?:is )?full|ENOSPC|not enough (?:free )?disk",
    ),
    _rule(
        "permission",
        r"Permission denied|Errno 13\]|EACCES|Operation not permitted|Errno 1\]|Read-only file system|Errno 30\]|EPERM|not writable|There was a problem when trying to write in your cache",
    ),
    _rule("permission", "", r"PermissionError$"),
    # configuration
    _rule(
        "config-validation",
        r"\d+ validation errors?|must be divisible by|divisible by|is not divisible|must be (?:a |an |set |one |in |at |less|greater|between|positive|>|<|>=|<=|equal|either|power|specified|provided|smaller|larger|no |the same|used|enabled|disabled|non)|"
        r"is greater than the (?:derived|maximum|model)|(?:does not|doesn't|do not|cannot|can't|can not) (?:support|be used|be (?:set|enabled|combined|both)|use)|(?:is|are) (?:currently )?(?:not|un)(?: yet| currently)? ?(?:supported|compatible|implemented|allowed|valid)|isn't supported|incompatible|"
        r"should be (?:one|in|less|greater|a |an |set|between|divisible|at|either)|Unknown (?:quantization|speculative|attention|dtype|backend|parser)|Invalid (?:value|configuration|config|attention|quantization|backend|dtype|chat template)|"
        r"expected (?:one of|a value)|Unsupported|not supported|(?:quantization|dtype|rope_scaling|head_size|block_size|chunked|max_num|max_model_len|tensor.parallel|pipeline.parallel|tp_size).{0,80}(?:must|should|expected|invalid|required|exceed|mismatch|not)|requires? --|please (?:set|use|specify|provide|increase|reduce|disable|enable)|"
        r"World size .{0,60}(?:larger|greater)|Total number of attention heads|Input should be|field required|extra (?:fields|inputs) (?:are )?not permitted|Either a \w+ or a \w+ must|Environment variable .{0,60}(?:not set|required)",
    ),
    _rule(
        "systemd-exec",
        r"command not found|: not found$|No such file or directory$|cannot execute|Exec format error|bad interpreter|exec: .{0,200}not found|executable file not found|exit (?:code|status) 12[67]\b",
    ),
    _rule(
        "missing-module",
        r"pip3? install|is not installed|not installed|install (?:it|the) |need to install",
        r"(?:ImportError|ModuleNotFoundError)$",
    ),
    _rule("segfault", r"Segmentation fault|SIGSEGV|segfault|signal 11\b|exit ?code ?[:=]? ?(?:-11|139)\b"),
    _rule(
        "abort",
        r"free\(\)|malloc|double free|munmap_chunk|corrupted size|stack smashing|Aborted|SIGABRT|signal 6\b|exit ?code ?[:=]? ?(?:-6|134)\b|Assertion .{0,300} failed|GGML_ASSERT|terminate called|Fatal Python error|core dumped",
    ),
    _rule(
        "timeout",
        r"timed out|timeout|did not (?:become|start|respond|join|finish).{0,40}(?:within|in time|after)|watchdog|TimeoutStartSec|deadline exceeded|other ranks did not|took too long",
    ),
)
WEAK_RULES: tuple[Rule, ...] = (
    _rule("config-validation", "", r"ValidationError$|AssertionError$|StrictDataclass\w*Error$"),
    _rule("import-error", "", r"(?:ImportError)$"),
    _rule("timeout", "", r"Timeout(?:Error|Expired)?$"),
)
"""What the type alone says, where no line of the message says more."""
PROGRAMMING = ("config-validation", "abort", "timeout", "bad-argument", "model-not-found", "nccl")
NOT_OF: dict[str, tuple[str, ...]] = dict.fromkeys(
    (
        "TypeError",
        "AttributeError",
        "NameError",
        "KeyError",
        "IndexError",
        "UnboundLocalError",
        "ZeroDivisionError",
        "RecursionError",
        "SyntaxError",
        "IndentationError",
        "TabError",
        "StopIteration",
        "UnicodeDecodeError",
    ),
    PROGRAMMING,
)
"""Errors of the program itself, whatever words their messages use."""
VALIDATION = re.compile(r"(?:^|\.)ValidationError$")
VALUE_ERROR = re.compile(r"(?:Value|Assertion) (?:error|failed), (?P<text>.*)")
NAMED_MODULE = re.compile(
    r"No module named '?\"?(?P<module>\w[\w.-]*)|packages that were not found in your environment: (?P<listed>[\w.-]+)|No package metadata was found for (?P<package>[\w.-]+)|Could not import module \"(?P<app>[\w.]+)|Cannot find module '(?P<node>[\w@/.-]+)'"
)
TO_INSTALL = re.compile(
    r"pip3? install (?:(?:-U|--upgrade|--user|-q) )?['\"`]?(?P<module>[A-Za-z][\w-]*)|^['\"`]?(?P<named>[A-Za-z][\w-]*)['\"`]? (?:is|was) not installed|(?:requires?|needs?|install) (?:the )?[`'\"](?P<quoted>[A-Za-z][\w-]*)[`'\"]"
)
OWNER = re.compile(r"(?:from (?:partially initialized module )?|partially initialized module )['\"](?P<owner>[\w.]+)")
BINARY = re.compile(r"(?:/|^)(?P<package>[\w-]+)(?:\.(?:cpython|abi3)[\w.-]*)?\.so\b[^:]{0,40}: undefined symbol")
OPERATOR = re.compile(r"operator (?P<package>\w+)::")
TEXT_LIMIT = 6000


@lru_cache(maxsize=512)
def kind_of(exception: str | None, text: str) -> str | None:
    """The kind that type and message tell; `None`: they tell none.

    The first line goes before the rest, for what follows it may be another's. Of a validation error the values'
    own errors say more than the sum.
    """
    first, _, rest = text[:TEXT_LIMIT].partition("\n")
    if VALIDATION.search(exception or ""):
        inner = VALUE_ERROR.search(rest)
        told = _first_rule("ValueError", inner["text"], RULES) if inner else None
        return told or "config-validation"
    told = _first_rule(exception, first, RULES) or (_first_rule(exception, rest, RULES) if rest else None)
    return told or _first_rule(exception, first, WEAK_RULES)


def _first_rule(exception: str | None, text: str, rules: tuple[Rule, ...]) -> str | None:
    own_name = (exception or "").rpartition(".")[2]
    for rule in rules:
        if rule.kind in NOT_OF.get(own_name, ()) or (exception and rule.kind == "systemd-exec"):
            continue
        if rule.type is not None and not (exception and rule.type.search(exception)):
            continue
        if rule.text is None or rule.text.search(text):
            return rule.kind
    return None


def module_of(kind: str, text: str) -> str | None:
    """The top-level name that the message is about: the missing module, the owner of a missing name, the binary package."""
    cut = text[:TEXT_LIMIT]
    match kind:
        case "missing-module":
            found = NAMED_MODULE.search(cut) or TO_INSTALL.search(cut)
        case "import-error":
            found = OWNER.search(cut)
        case "abi-mismatch":
            found = BINARY.search(cut) or OPERATOR.search(cut)
        case _:
            return None
    named = next((name for name in found.groups() if name), None) if found else None
    return named.partition(".")[0] if named else None
