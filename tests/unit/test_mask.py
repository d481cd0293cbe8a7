"""Secrets in lines of the field: what is hidden, and what stays to be read."""

from __future__ import annotations

import re

import pytest

from dflashtui.mask import masked, masked_in
from tests.diagnosis.samples import NAMES, log
from tests.faults.marks import fault

SECRET = "Zq7CNRYp4Lx9"  # noqa: S105 - nobody's
HIDDEN = (
    "server_args=ServerArgs(model_path='/m', api_key='S', tp=1)",
    "Authorization: Bearer S.a",
    "Authorization: Basic S==",
    "'Authorization': 'S'",
    "b'Authorization', b'Bearer S'",
    "Cookie: a=b; session=S; c=d",
    "-H 'X-API-Key: S'",
    "https://user:S@host/simple",
    "https://user:p@S@host/simple",
    "https://S@host/simple",
    "PIP_INDEX_URL=https://__token__:S@host/simple",
    "GET /v1?token=S&x=1",
    "https://blob/x?sv=1&sig=S",
    '{"password": "S"}',
    '{\\"password\\": \\"S\\"}',
    "│ api_key = 'S' │",
    "os.environ['HF_TOKEN'] = 'S'",
    "password='S",
    "clientSecret=S",
    "AccountKey=S;x",
    "authToken: S",
    "token == 'S'",
    "['--api-key', 'S']",
    "--hf-token 'S x' y",
    "postgres://me:S@db/x",
    "FOO_KEY := S",
    "pwd=S",
    "İİİ api_key=S",
)
STAYS = (
    "ServerArgs(api_key=None, tp=1)",
    "hf_hub_download(x) and hf_transfer",
    "Decode batch. #running-req: 1, #token: 8017, token usage: 0.00, gen throughput (token/s): 87.2",
    "max_tokens=5, num_tokens: 3, token_count: 3, cache_key: 5",
    "KeyError: 'lm_head.weight'",
    "TypeError: got an unexpected keyword argument 'key'",
    "Failed to determine user credentials: No such process",
    "basic functions of the tokenizer",
    "the key:\nnext line",
)


@pytest.mark.parametrize("line", HIDDEN)
@fault("I7", how="a secret in each form in which programs write one", result="`***`; the name before it stays")
def test_what_is_a_secret_is_hidden(line: str) -> None:
    shown = masked(re.sub(r"S(?![a-z]{2}|Args)", SECRET, line))
    assert SECRET not in shown
    assert "***" in shown
    assert masked(shown) == shown


@pytest.mark.parametrize("line", STAYS)
def test_what_people_must_read_stays(line: str) -> None:
    assert masked(line) == line


def test_crash_logs_say_as_much_as_before() -> None:
    """Nothing in hundreds of logs is a secret."""
    lines = [line for name in NAMES for line in log(name).decode(errors="replace").split("\n")]
    assert [line for line in lines if masked(line) != line] == []


def test_a_cut_hides_no_less() -> None:
    text = f"{'x' * 90} key=sk-{SECRET}"
    assert all(SECRET[:4] not in masked_in(text, limit=limit) for limit in range(90, 120))
