"""The forms of credentials of well-known services, each with a literal that it always contains.

A hyphen, underscore or slash may be a JSON escape. The keeper uses this module, so it needs only the standard library.
"""

import re

from handrail.model.secrets.credential_forms import CredentialForms, Form

_DASH = rb"(?:-|\\u002[dD])"
_SET = rb"[\"'\\\s:=>]{1,12}"
_SCHEME = rb"[\"'\\]{0,4}[ \t]{0,4}[:=][ \t]{0,4}[\"'\\]{0,4}(?i:basic|bearer|token|digest)[ \t]{1,4}"
_PASSWORD = rb"(?!\$[{(A-Za-z_]|\{\{)([^\s/@\"'<>]{1,256})"
"""A placeholder for a password, such as `$TOKEN`, does not count."""
_TOKEN = rb"(?:[A-Za-z0-9_-]|\\u002[dD])"
_NAME = rb"ecret_?(?:[aA]ccess)?_?[kK]ey"

_SK = rb"sk(?:-|\\u|_(?:live|test)_)"
_GH = rb"gh[pousr]_"
_PAT = rb"_pat_"
_GL = rb"gl(?:pat|ptt|dt|rt|cbt|soat|agent|ft)"
_A = rb"A(?:[KS]IA|Iza)[0-9A-Za-z_-]{16}"
_E = rb"E(?:CRET_?(?:ACCESS)?_?KEY|ARER[ \t+])"
_X = rb"x(?:ox[abeoprs]|app-)"
_RUN = rb"_[A-Za-z0-9+/=]{16}"
_PYPI = rb"pypi(?:-|\\u)"
_URL = rb"://[^\s/:@\"'\\<>]{0,128}:[^\s/@\"'<>]{1,256}@"


def _form_with_prefix(kind: str, literal: bytes, rest: bytes, gate: bytes = b"") -> Form:
    """Build a form that begins with a literal of its own, not preceded by a letter."""
    hints = (literal + b"-", literal + rb"\u") if rest.startswith(_DASH) else (literal,)
    return Form(kind, hints, literal + _boundary_before(literal) + rest, gate)


def _boundary_before(literal: bytes) -> bytes:
    """Build the condition that no letter precedes a literal, except in an escape of JSON, a URL or a terminal."""
    word = re.escape(literal)
    escapes = (rb"\\[nrtbf]", rb"\\u[0-9a-fA-F]{4}", rb"%[0-9A-F]{2}", rb"[0-9;[]m")
    allowed = b"|".join(rb"(?<=%s%s)" % (escape, word) for escape in escapes)
    return rb"(?:(?<![A-Za-z0-9]%s)|%s)" % (word, allowed)


def _form_after_name(kind: str, name: bytes, gate: bytes) -> Form:
    """Build a form that is recognized only by the name before it."""
    secret = rb"((?:[A-Za-z0-9+]|\\?/){40}(?![A-Za-z0-9+/]))"
    return Form(kind, (name[:5],), name + _SET + secret, gate)


_FORMS = (
    _form_with_prefix("anthropic-key", b"sk", _DASH + rb"ant" + _DASH + _TOKEN + rb"{16,400}", _SK),
    _form_with_prefix(
        "openai-key",
        b"sk",
        _DASH + rb"(?:(?:proj|svcacct|admin|or|lf)" + _DASH + rb"[A-Za-z0-9_\\-]{16,400}|[A-Za-z0-9]{32,200})",
        _SK,
    ),
    _form_with_prefix("github-token", b"gh", rb"[pousr]_[A-Za-z0-9_]{30,255}", _GH),
    _form_with_prefix("github-token", b"github_pat_", rb"[A-Za-z0-9_]{22,255}", _PAT),
    _form_with_prefix(
        "gitlab-token", b"gl", rb"(?:pat|ptt|dt|rt|cbt|soat|agent|ft)" + _DASH + rb"[A-Za-z0-9_.-]{20,300}", _GL
    ),
    _form_with_prefix("aws-key", b"AKIA", rb"[0-9A-Z]{16}(?![0-9A-Za-z])", _A),
    _form_with_prefix("aws-key", b"ASIA", rb"[0-9A-Z]{16}(?![0-9A-Za-z])", _A),
    _form_after_name("aws-secret", _NAME, _NAME),
    _form_after_name("aws-secret", rb"ECRET_?(?:ACCESS)?_?KEY", _E),
    _form_with_prefix("google-key", b"AIza", rb"[A-Za-z0-9_-]{35}", _A),
    _form_with_prefix("google-token", b"ya29.", rb"[A-Za-z0-9_.-]{20,2048}"),
    _form_with_prefix("slack-token", b"xox", rb"[abeoprs]" + _DASH + rb"[A-Za-z0-9-]{10,250}", _X),
    _form_with_prefix("slack-token", b"xapp-", rb"[A-Za-z0-9-]{10,250}", _X),
    *(
        _form_with_prefix("stripe-key", literal, rb"[A-Za-z0-9]{16,250}", gate)
        for literal, gate in ((b"sk_live_", _SK), (b"sk_test_", _SK), (b"rk_live_", _RUN), (b"rk_test_", _RUN))
    ),
    Form("stripe-secret", (b"whsec_",), rb"whsec_[A-Za-z0-9+/=]{24,100}", _RUN),
    _form_with_prefix("npm-token", b"npm_", rb"[A-Za-z0-9]{36,100}", _RUN),
    _form_with_prefix("pypi-token", b"pypi", _DASH + rb"[A-Za-z0-9_-]{32,1000}", _PYPI),
    _form_with_prefix("hugging-face-token", b"hf_", rb"[A-Za-z0-9]{30,100}", _RUN),
    _form_with_prefix("docker-token", b"dckr_pat_", rb"[A-Za-z0-9_-]{20,100}", _PAT),
    _form_with_prefix("sendgrid-key", b"SG.", rb"[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,100}"),
    _form_with_prefix("digitalocean-token", b"dop_v1_", rb"[a-f0-9]{64}", _RUN),
    # Possessive quantifiers, so that a long text without a dot is scanned once.
    _form_with_prefix("jwt", b"eyJ", rb"[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}"),
    Form(
        "private-key",
        (b"PRIVATE KEY",),
        rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----"
        rb"(?:[^\"-]*(?:-(?!----)[^\"-]*)*-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----"
        rb"|(?:(?:\s|\\[nr])+[A-Za-z0-9+/=]{16,})+)",
    ),
    *(
        Form(
            "bearer-token",
            (word,),
            word + rb"[ \t+]{1,4}((?=[A-Za-z._~+/=-]{0,200}[0-9])[A-Za-z0-9._~+/=-]{16,4096})",
            gate,
        )
        for word, gate in ((b"earer", rb"earer[ \t+]"), (b"EARER", _E))
    ),
    *(
        Form("authorization", (word,), word + _SCHEME + rb"([A-Za-z0-9._~+/=-]{8,4096})")
        for word in (b"uthorization", b"UTHORIZATION")
    ),
    *(
        Form("password", (literal,), re.escape(literal) + rb"[^\s/:@\"'\\<>]{0,128}:" + _PASSWORD + rb"@", gate)
        for literal, gate in ((b"://", _URL), (rb":\/\/", b""))
    ),
)
FORMS = CredentialForms(_FORMS)
"""Every form; a more specific one comes before one that would match the same text."""
