"""Tokens of agents: opaque, signed, self-contained, so that any process with the key can read them.

A connected agent calls from outside, possibly after a restart of either side, and must say which step it means. A table
of open sessions would be lost with its process. So everything that identifies the step is in the token itself, and a
signature proves that Handrail issued it.

There are four kinds, each with a prefix of its own. `continue` (`ct_`) submits the step that is pending or shows it
again. `checkpoint` (`ck_`) records a point to come back to. `resume` (`st_`) shows a run or such a point, together with
a token that can continue. `agent` (`at_`) belongs to an agent that the engine launched, which calls tools with it, and
only while its step is pending. A token names a run, the event that made its step pending, and who holds the run. One
that was issued away from the run's newest step also names the branch that it begins; reading it twice begins the same
branch. The bytes, in base64url after the prefix:

    version 1 | kind 1 | key mark 2 | holder 4 | branch 4 | seq 4 | length 1 | run | MAC 12

The MAC (HMAC-SHA-256, cut to 96 bits) covers all bytes before it, so a changed token is refused. The key mark tells a
token of another database from a changed one, the length tells a truncated one. The prefix must agree with the signed
kind, and base64 is accepted only in its canonical spelling, so that no two texts are the same token. A valid token is
still not a permission: its reader compares holder and event with the run's state (`operations.pull`), and a token that
was used before gets the answer that it got then. After a rotation the previous key stays valid (`store.signing_keys`).
"""

import base64
import binascii
import hashlib
import hmac
from typing import Literal, TypeAlias

from handrail.frozen import frozen

TokenKind: TypeAlias = Literal["continue", "checkpoint", "resume", "agent"]
TokenFault: TypeAlias = Literal["format", "signature", "foreign"]

_PREFIXES: dict[TokenKind, str] = {"continue": "ct_", "checkpoint": "ck_", "resume": "st_", "agent": "at_"}
_KINDS: tuple[TokenKind, ...] = ("continue", "checkpoint", "resume", "agent")
_VERSION = 1
_NAME = 4
"""Bytes of a holder's and of a branch's name."""
_MARK = 2
"""Bytes that distinguish one key from another."""
_MAC = 12
_HEAD = 2 + _MARK + 2 * _NAME + 4 + 1
NO_BRANCH = "0" * (2 * _NAME)


@frozen
class Token:
    """The content of a token."""

    kind: TokenKind
    run: str
    seq: int
    """The event that made the step pending."""
    holder: str
    """Eight hexadecimal digits: who held the run when the token was issued."""
    branch: str = NO_BRANCH
    """Eight hexadecimal digits: the branch that it begins; zeros if it begins none."""


@frozen
class TokenProblem:
    """Why a text is not a valid token."""

    fault: TokenFault
    message: str


def mint(token: Token, key: bytes) -> str:
    """Encode and sign a token."""
    run = token.run.encode()
    head = bytes((_VERSION, _KINDS.index(token.kind))) + _mark(key)
    names = bytes.fromhex(token.holder) + bytes.fromhex(token.branch)
    body = head + names + token.seq.to_bytes(4, "big") + bytes((len(run),)) + run
    text = base64.urlsafe_b64encode(body + _mac(key, body)).rstrip(b"=").decode()
    return _PREFIXES[token.kind] + text


def read_token(text: str, keys: tuple[bytes, ...]) -> Token | TokenProblem:
    """Verify and read a token that was signed with one of the keys."""
    data = _decode(text)
    if data is None or len(data) < _HEAD + _MAC or data[0] != _VERSION or data[1] >= len(_KINDS):
        return TokenProblem("format", "this is not a valid token, or it is incomplete")
    body, mac = data[:-_MAC], data[-_MAC:]
    if len(body) != _HEAD + body[_HEAD - 1]:
        return TokenProblem("format", "the token is incomplete")
    mine = [key for key in keys if _mark(key) == body[2 : 2 + _MARK]]
    if not mine:
        return TokenProblem("foreign", "this token was created with a key that is unknown here")
    if not any(hmac.compare_digest(_mac(key, body), mac) for key in mine):
        return TokenProblem("signature", "this token was modified after it was created")
    kind = _KINDS[body[1]]
    if not text.startswith(_PREFIXES[kind]):
        return TokenProblem("signature", "the beginning of this token was modified")
    names = body[2 + _MARK :]
    return Token(
        kind,
        body[_HEAD:].decode(),
        int.from_bytes(names[2 * _NAME : 2 * _NAME + 4], "big"),
        names[:_NAME].hex(),
        names[_NAME : 2 * _NAME].hex(),
    )


def _decode(text: str) -> bytes | None:
    prefix, rest = text[:3], text[3:]
    if prefix not in _PREFIXES.values() or not rest.isascii():
        return None
    try:
        data = base64.b64decode(rest + "=" * (-len(rest) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    # Reject other spellings: two texts that differ only in unused bits would be the same token.
    return data if base64.urlsafe_b64encode(data).rstrip(b"=").decode() == rest else None


def _mark(key: bytes) -> bytes:
    return hashlib.sha256(b"handrail key mark" + key).digest()[:_MARK]


def _mac(key: bytes, body: bytes) -> bytes:
    return hmac.new(key, body, hashlib.sha256).digest()[:_MAC]
