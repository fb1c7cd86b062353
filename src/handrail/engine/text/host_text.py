"""Cleans text of agents and issues before it is posted to a code host, which acts on some of what it reads.

A host closes an issue when it reads `fixes #12`, notifies a person at `@ann`, and we find our own texts again by a mark
in an invisible comment. None of that may come from a text that somebody else wrote:

1. Characters that are not seen (control, zero width, direction) are removed, and entities that hide a letter, a digit
or one of `#@/:` are written out, so that nothing below is missed.
2. A closing keyword before a reference, whatever markup is between them, gets a word in between: `fixes, see #12`.
3. A mention gets a character without width after its `@`.
4. An invisible comment becomes visible, so that no mark can be forged.
5. What was left open, a code block or a folded section, is closed, so that it swallows nothing that follows.
"""

import re

MAX_BODY = 60_000
"""Characters of a whole text; GitHub accepts 65,536, and the host's adapter adds a mark."""
MAX_TITLE = 250
_ENDS = 2
"""How many times as long as the result the two ends of a text are that are cleaned."""
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_ENTITY = re.compile(
    r"&(?:#(?:[xX]0*(?P<hex>[0-9a-fA-F]{1,6})|0*(?P<number>\d{1,7}));?"
    r"|(?P<name>num|commat|sol|colon|nbsp|ZeroWidthSpace|shy|zwnj|zwj);)"
)
_NAMED = {"num": "#", "commat": "@", "sol": "/", "colon": ":", "nbsp": " "}
_KEYWORD = re.compile(r"(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?![A-Za-z0-9])", re.IGNORECASE)
_NAME = r"[\w.-]{1,100}"
"""An owner or a repository: hosts allow no longer names, and so a place is never looked at for long."""
_REFERENCE = re.compile(
    rf"(?:{_NAME}/{_NAME})?\\?#\d|GH-\d"
    rf"|(?:https?:)?(?://)?[\w.:-]{{1,255}}/{_NAME}/{_NAME}/(?:issues|pull|discussions)/\d",
    re.IGNORECASE,
)
_TAG = re.compile(r"<[^<>]{0,2000}>")
_LINK_TEXT = re.compile(r"\[[^\[\]]{0,500}\]")
_STOPS = frozenset(".,;!?")
_MAX_BETWEEN = 400
_MENTION = re.compile(r"(?<![A-Za-z0-9_])@(?=[A-Za-z0-9])")
_FENCE = re.compile(r"^[ >\t]*(?P<fence>`{3,}|~{3,})(?P<rest>[^\n]*)$", re.MULTILINE)
_DETAILS = re.compile(r"<(?P<end>/?)details\b", re.IGNORECASE)
_WIDTHLESS = "\u200b"
_OUR_MARK = re.compile(r"<!--(?=\s*/?\s*handrail)", re.IGNORECASE)


def clean_host_text(text: str, most: int = MAX_BODY) -> str:
    """Return a text without anything that a code host would act on, at most so many characters long."""
    # The middle of a long text is cut out below, so most of it need not be cleaned before.
    ends = _ENDS * most
    cut = max(0, len(text) - 2 * ends)
    seen = f"{text[:ends]}{text[-ends:]}" if cut else text
    seen = _ENTITY.sub(_decode_entity, _UNSEEN.sub("", seen.replace("\r\n", "\n").replace("\r", "\n")))
    seen = _UNSEEN.sub("", seen).replace("<!--", "&lt;!--")
    seen = _MENTION.sub(f"@{_WIDTHLESS}", separate_keywords(seen))
    return close_blocks(_shorten(seen, most, cut))


def clean_template(text: str) -> str:
    """Return a text of the repository without closing keywords and without marks that would count as ours."""
    return _OUR_MARK.sub("&lt;!--", separate_keywords(_UNSEEN.sub("", text)))


def clean_title(text: str) -> str:
    """Return the same for a title: one line."""
    line = " ".join(clean_host_text(text).split())
    return line if len(line) <= MAX_TITLE else line[: MAX_TITLE - 1].rstrip() + "…"


def close_blocks(text: str) -> str:
    """Close a code block and folded sections that a text leaves open."""
    fence = ""
    for found in _FENCE.finditer(text):
        mark, rest = found["fence"], found["rest"].strip()
        if not fence:
            fence = mark
        elif mark[0] == fence[0] and len(mark) >= len(fence) and not rest:
            fence = ""
    ends = [bool(found["end"]) for found in _DETAILS.finditer(text)]
    left = len(ends) - 2 * sum(ends)
    return text + (f"\n{fence}" if fence else "") + "\n</details>" * max(0, min(left, 50))


def _decode_entity(found: re.Match[str]) -> str:
    """Write out an entity that stands for a letter, a digit or a sign of a reference; leave all others."""
    if found["name"]:
        return _NAMED.get(found["name"], "")
    code = int(found["hex"], 16) if found["hex"] else int(found["number"])
    sign = chr(code) if code < 0x110000 else ""
    if sign and _UNSEEN.match(sign):
        return ""
    return sign if sign.isascii() and (sign.isalnum() or sign in "#@/:.-_ ") and sign else found[0]


def separate_keywords(text: str) -> str:
    """Put words between each closing keyword and the reference after it."""
    parts: list[str] = []
    done = 0
    for found in _KEYWORD.finditer(text):
        at = _find_reference(text, found.end())
        if at is not None and found.end() >= done:
            parts.append(f"{text[done : found.end()]}, see ")
            done = at
    return "".join((*parts, text[done:]))


def _find_reference(text: str, start: int) -> int | None:
    """Return where a reference begins after a keyword, with nothing but spaces and markup before it."""
    at, end = start, min(len(text), start + _MAX_BETWEEN)
    while at < end:
        block = _TAG.match(text, at) or _LINK_TEXT.match(text, at)
        if _REFERENCE.match(text, at) or (block is not None and _REFERENCE.search(block[0])):
            return at
        if block is not None:
            at = block.end()
        elif text[at].isalnum() or text[at] in _STOPS:
            return None
        else:
            at += 1
    return None


def _shorten(text: str, most: int, cut: int = 0) -> str:
    """Cut the middle out of a text that is too long, of which so many characters were cut out before."""
    if len(text) <= most and not cut:
        return text
    left_out = f"\n\n[{len(text) + cut - most} characters left out]\n\n"
    room = max(0, most - len(left_out))
    head = room * 3 // 4
    return text[:head] + left_out + text[len(text) - (room - head) :]
