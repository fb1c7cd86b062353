"""Explains why a remote did not do what git asked for, with what helps."""

import os
import re
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from handrail.errors import PushRefused
from handrail.workspace.git.command import GitResult

Login: TypeAlias = Literal["", "none", "token", "helper", "address", "ssh"]
"""With what git logs in: nothing, our token, the user's credential helper, the address itself, ssh; or not known."""
_USERINFO = re.compile(r"(?<=://)[^/@\s]*@")
_LOGIN = (
    *("authentication failed", "could not read username", "could not read password", "permission denied"),
    *("host key verification failed", "invalid username or", "returned error: 401", "returned error: 403"),
)
_AWAY = (
    *("could not resolve", "failed to connect", "couldn't connect", "connection refused", "connection timed out"),
    *("network is unreachable", "operation too slow", "connection reset", "empty reply", "the remote end hung up"),
)
_MUST_WORK = "`git push` must work without a question"


def hide_login(text: str) -> str:
    """Remove user names and passwords from the addresses in a text."""
    return _USERINFO.sub("", text)


def explain_refusal(url: str, ran: GitResult, login: Login = "") -> PushRefused:
    """Explain why a remote did not do what git asked for."""
    text = hide_login(f"{os.fsdecode(ran.out)}\n{ran.err}")
    where, low = hide_login(url), text.lower()
    said = _find_reason(text)
    if "not allowed" in low and "transport" in low:
        why = f"{where} is not an address that is pushed to: only file, git, http, https and ssh are"
        return PushRefused(why, next_step="correct the remote with `git remote set-url`")
    if "workflow" in low and "refusing to allow" in low:
        step = "push the branch with a login that may change workflows (`gh auth refresh --scopes workflow`)"
        return PushRefused(f"{where} refuses a change of .github/workflows: {said}", next_step=step)
    if any(sign in low for sign in _LOGIN):
        return _explain_login(where, said, login)
    if any(sign in low for sign in _AWAY):
        return PushRefused(f"{where} cannot be reached: {said}", next_step="check the connection, then try again")
    if "protected branch" in low or "hook declined" in low or "gh006" in low or "gh013" in low:
        step = "change the rule of the branch at the host, or let somebody push it who may"
        return PushRefused(f"{where} refuses the branch: {said}", next_step=step)
    return PushRefused(f"{where} refuses the branch: {said}", next_step="see what `git push` says in the repository")


def _explain_login(where: str, said: str, login: Login) -> PushRefused:
    """Explain a refused login, by what git had to log in with."""
    host = urlsplit(where).hostname or "github.com"
    gh = "gh auth setup-git" + ("" if host == "github.com" else f" --hostname {host}")
    match login:
        case "token":
            why = f"{where} does not accept a push with the token: {said}"
            step = f"give the token the permission to write contents, or let your git log in itself: {gh}"
        case "none":
            why = f"your git has no credential helper for {where}: {said}"
            step = f"{gh}, or name another helper: git config --global credential.helper NAME; {_MUST_WORK}"
        case "helper":
            why = f"{where} does not accept the login of your credential helper: {said}"
            step = f"log in there again, or let gh do it: {gh}; {_MUST_WORK}"
        case "ssh":
            why = f"{where} does not accept your ssh key: {said}"
            step = f"load a key that the host knows with `ssh-add`; {_MUST_WORK}"
        case _:
            why = f"{where} does not accept the login of your git: {said}"
            step = f"log in (`gh auth login`, `ssh-add`, or a credential helper); {_MUST_WORK}"
    return PushRefused(why, next_step=step)


def _find_reason(text: str) -> str:
    """Return the lines in which the remote and git say what is wrong."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    remote = [line.removeprefix("remote:").strip() for line in lines if line.startswith("remote:")]
    refused = [line[1:].strip() for line in lines if line.startswith("!")]
    own = [line.partition(": ")[2] for line in lines if line.startswith(("fatal:", "error:"))]
    found = [line for line in (*remote, *refused, *own) if line]
    return "; ".join(dict.fromkeys(found))[:600] or "no reason was given"
