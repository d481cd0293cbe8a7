"""Whether a model's folder is whole: its configuration, its index, every shard with the size that its header asks for.

Reads the first bytes of each file, never the weights. The form of safetensors: eight bytes with the length of a JSON
header, the header with the offsets of every tensor, then the tensors.
"""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, Any, BinaryIO, Dict, Iterator, List, Optional, Tuple

if TYPE_CHECKING:
    from dflashtui.survey.place import Place

CONFIG = "config.json"
INDEXES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
TOKENIZERS = ("tokenizer.json", "tokenizer_config.json", "tokenizer.model", "vocab.json", "tekken.json")
WEIGHTS = (".safetensors", ".bin", ".gguf", ".pt", ".pth")
POINTER = b"version https://git-lfs"
LENGTH_BYTES = 8
LARGEST_HEADER = 100 << 20
LARGEST_JSON = 64 << 20
TOLD = ("model_type", "architectures", "dflash_config", "block_size", "quantization_config", "torch_dtype", "dtype")
MOST_BAD = 20


def found(order: Dict[str, Any], place: Place) -> Iterator[Dict[str, Any]]:
    """One fact for each of `paths`, in their order."""
    for path in order.get("paths", ()):
        place.check()
        yield {"path": path, **_looked_at(path, place)}


def _looked_at(path: str, place: Place) -> Dict[str, Any]:
    try:
        status = os.stat(path)
        if not stat.S_ISDIR(status.st_mode):
            return {"kind": "file", "bytes": status.st_size, "problem": _file_problem(path, status.st_size)}
        names = sorted(os.listdir(path))
    except OSError as problem:
        return {
            "kind": "none",
            "problem": problem.strerror or str(problem),
            "is_missing": isinstance(problem, FileNotFoundError),
        }
    return {"kind": "folder", **_folder(path, names, place)}


def _folder(path: str, names: List[str], place: Place) -> Dict[str, Any]:
    config, config_problem = _json(os.path.join(path, CONFIG))
    index_name = next((name for name in INDEXES if name in names), None)
    index, index_problem = _json(os.path.join(path, index_name)) if index_name else (None, None)
    asked = _asked(index)
    shards = asked or [name for name in names if name.endswith(WEIGHTS)]
    total = 0
    bad: List[List[str]] = []
    for name in shards:
        place.check()
        size, problem = _shard(os.path.join(path, name))
        total += size or 0
        if problem and len(bad) < MOST_BAD:
            bad.append([name, problem])
    return {
        "config": {key: config[key] for key in TOLD if key in config} if config else None,
        "config_problem": config_problem,
        "index": index_name,
        "index_problem": index_problem,
        "shards": len(shards),
        "bytes": total,
        "bad": bad,
        "has_tokenizer": any(name in names for name in TOKENIZERS),
        "unfinished": [name for name in names if name.endswith((".incomplete", ".part", ".aria2", ".tmp"))][:MOST_BAD],
    }


def _asked(index: Optional[Dict[str, Any]]) -> List[str]:
    """The files that the index names; none that leads out of the folder."""
    weights = (index or {}).get("weight_map")
    if not isinstance(weights, dict):
        return []
    return sorted({name for name in weights.values() if isinstance(name, str) and os.path.basename(name) == name})


def _json(path: str) -> Tuple[Optional[Dict[str, Any]], Optional[str]]:
    """The object in a file, and what is wrong with it."""
    data = b""
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST_JSON)
        read = json.loads(data.decode("utf-8"))
    except OSError as problem:
        return None, problem.strerror or str(problem)
    except (ValueError, RecursionError) as problem:
        return None, "a Git LFS pointer, not the file" if data.startswith(POINTER) else "is no JSON: %s" % problem
    return (read, None) if isinstance(read, dict) else (None, "is no table")


def _shard(path: str) -> Tuple[Optional[int], Optional[str]]:
    """Size, and what is wrong."""
    try:
        size = os.stat(path).st_size
        return size, _file_problem(path, size)
    except OSError as problem:
        return None, problem.strerror or str(problem)


def _file_problem(path: str, size: int) -> Optional[str]:
    if size == 0:
        return "is empty"
    try:
        with open(path, "rb") as file:
            begins = file.read(64)
            if begins.startswith(POINTER):
                return "is a Git LFS pointer, not the weights"
            return _safetensors_problem(file, begins, size) if path.endswith(".safetensors") else None
    except OSError as problem:
        return problem.strerror or str(problem)


def _safetensors_problem(file: BinaryIO, begins: bytes, size: int) -> Optional[str]:
    length = int.from_bytes(begins[:LENGTH_BYTES], "little")
    if len(begins) < LENGTH_BYTES or not 0 < length <= LARGEST_HEADER:
        return "does not begin as a safetensors file does"
    if LENGTH_BYTES + length > size:
        return "ends inside its header"
    file.seek(LENGTH_BYTES)
    try:
        header = json.loads(file.read(length).decode("utf-8"))
        ends = [one["data_offsets"][1] for name, one in header.items() if name != "__metadata__"]
        wanted = LENGTH_BYTES + length + max(ends, default=0)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return "has a header that cannot be read"
    if size < wanted:
        return "has %d of %d bytes" % (size, wanted)
    return "has %d bytes more than its header says" % (size - wanted) if size > wanted else None
