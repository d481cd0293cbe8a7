"""The filter language of every list: words that all must match, `!word` that must not, `*` for anything. Pure."""

from __future__ import annotations

from fnmatch import fnmatchcase


def matches(query: str, text: str) -> bool:
    """Whether `text`, in lower case, is what `query` asks for. An empty query matches all."""
    return all(_word(word, text) for word in query.lower().split())


def _word(word: str, text: str) -> bool:
    if word.startswith("!") and len(word) > 1:
        return not _word(word[1:], text)
    if "*" in word or "?" in word:
        return any(fnmatchcase(part, word) for part in text.split())
    return word in text
