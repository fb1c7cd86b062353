"""Cleans text of agents, commands and issues before Handrail posts it under its own name.

Whatever a tracker would act on is disarmed by an invisible space inside it: closing keywords with what they close,
references, and mentions. Marks by which Handrail finds its own texts cannot be forged, and characters that reverse the
reading direction or cannot be seen are removed.
"""

import re

from handrail.engine.text.untrusted_text import clean

APART = "\u200b"
"""A space of no width."""
MAX_POSTED = 60_000
"""The most characters of a text that trackers accept, with some room."""
_HIDDEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\U000e0000-\U000e007f]")
_MENTION = re.compile(r"@(?=[A-Za-z0-9])")
_REFERENCE = re.compile(r"#(?=\d)")
_SHORT = re.compile(r"\b(GH-)(?=\d)", re.IGNORECASE)
_KEYWORD = re.compile(r"\b(close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b(?=:?\s+\S)", re.IGNORECASE)
_ADDRESS = re.compile(r"(/(?:issues|pull|pulls|discussions)/)(?=\d)", re.IGNORECASE)


def clean_posted(text: str) -> str:
    """Disarm a text for a comment, an issue or a pull request."""
    text = _HIDDEN.sub("", clean(text))
    text = text.replace("<!--", f"<{APART}!--").replace("-->", f"--{APART}>")
    text = _MENTION.sub(f"@{APART}", text)
    text = _REFERENCE.sub(f"#{APART}", text)
    text = _SHORT.sub(rf"\1{APART}", text)
    text = _ADDRESS.sub(rf"\1{APART}", text)
    # With the keyword itself apart, no form of reference that is not known here closes anything either.
    return _KEYWORD.sub(lambda found: f"{found[0][0]}{APART}{found[0][1:]}", text)
