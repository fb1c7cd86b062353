"""Git that talks to a remote: the user's own credentials and configuration, and nothing of the repository's.

The address is all that is taken from the repository. Git works through the view of it (`repository_view`), which has no
remotes, helpers, proxies or rewritten addresses, and reads the user's global and system configuration beside that. So
credential helpers, ssh and `insteadOf` of the user's own files count, and those that a repository or an agent wrote do
not. Addresses that start programs (`ext::`) are refused, and hooks are not run.

A token is passed in the environment, for its host alone, and only if the user has no credential helper for that host:
git offers to every helper what it has logged in with, and one of them might store it.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from handrail.errors import PushRefused
from handrail.frozen import frozen
from handrail.workspace.git.command import Git, GitResult
from handrail.workspace.git.repositories import git_dir
from handrail.workspace.git.repository_view import read_settings

NAME = "handrail-remote"
"""What the remote is called in our commands."""
PROTOCOLS = "file:git:http:https:ssh"
_TOKEN = "HANDRAIL_GIT_TOKEN"  # noqa: S105 - the name of a variable
_HELPER = f'!f() {{ echo username=x-access-token; echo "password=${_TOKEN}"; }}; f'
_SSH = "ssh -o BatchMode=yes"
"""Never prompts for a passphrase or a host key: there may be no terminal."""
_PASSED = (
    *("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "SSH_AUTH_SOCK", "SSH_AGENT_PID"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "CURL_CA_BUNDLE"),
    *("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "GNUPGHOME"),
)
"""What a connection may need besides the variables that every git gets."""
_ALL = tuple(range(256)) + tuple(range(-64, 0))
_USERINFO = re.compile(r"(?<=://)[^/@\s]*@")
_SLOW = ("http.lowSpeedLimit=1", "http.lowSpeedTime=300")


def find_remote_url(root: Path, remote: str) -> str:
    """Return the address to which a remote of a repository is pushed; empty if there is no such remote."""
    settings = {each.key: each.value for each in read_settings(root, git_dir(root))}
    return settings.get(f"remote.{remote}.pushurl") or settings.get(f"remote.{remote}.url", "")


def hide_login(text: str) -> str:
    """Remove user names and passwords from the addresses in a text."""
    return _USERINFO.sub("", text)


@frozen
class RemoteGit:
    """Git in a repository, with one remote."""

    git: Git
    url: str

    def find_branch(self, branch: str) -> str:
        """Return the commit of a branch of the remote; empty if there is no such branch."""
        ran = self.run("ls-remote", "--refs", NAME, f"refs/heads/{branch}")
        if ran.code:
            raise explain_refusal(self.url, ran)
        return next((row.split("\t")[0] for row in os.fsdecode(ran.out).splitlines() if "\t" in row), "")

    def fetch(self, commit: str, branch: str) -> None:
        """Get a branch of the remote, unless its commit is here already; no ref is moved."""
        if self.has(commit):
            return
        words = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance")
        ran = self.run("fetch", *words, NAME, f"refs/heads/{branch}")
        if ran.code:
            raise explain_refusal(self.url, ran)

    def has(self, commit: str) -> bool:
        """Whether a commit is in the repository."""
        return not self.git.run("cat-file", "-e", f"{commit}^{{commit}}", ok=(0, 1, 128)).code

    def run(self, *words: str) -> GitResult:
        """Run a command that talks to the remote; any exit code is returned."""
        return self.git.run(*words, ok=_ALL)


def connect(git: Git, url: str, token: str, variables: Mapping[str, str]) -> RemoteGit:
    """Prepare git for a remote, with what its connection needs."""
    found = {**os.environ, **variables}
    own = {name: found[name] for name in _PASSED if name in found}
    plain = replace(git, network={**own, "GIT_ALLOW_PROTOCOL": PROTOCOLS})
    settings = [(f"remote.{NAME}.url", url)]
    if "GIT_SSH_COMMAND" not in own and "GIT_SSH" not in own and plain.query("config", "core.sshCommand") is None:
        settings.append(("core.sshCommand", _SSH))
    if token and _lacks_helper(plain, url):
        settings.append((f"credential.{_origin(url)}.helper", _HELPER))
        own[_TOKEN] = token
    named = dict(pair for number, entry in enumerate(settings) for pair in _config_variables(number, entry))
    network = {**own, **named, "GIT_CONFIG_COUNT": str(len(settings)), "GIT_ALLOW_PROTOCOL": PROTOCOLS}
    return RemoteGit(replace(git, network=network, settings=(*git.settings, *_SLOW)), url)


def _config_variables(number: int, entry: tuple[str, str]) -> tuple[tuple[str, str], tuple[str, str]]:
    return (f"GIT_CONFIG_KEY_{number}", entry[0]), (f"GIT_CONFIG_VALUE_{number}", entry[1])


def _lacks_helper(git: Git, url: str) -> bool:
    """Whether the user's configuration names no credential helper for an address over http(s)."""
    if urlsplit(url).scheme not in ("http", "https") or urlsplit(url).password:
        return False
    return not git.run("config", "--get-urlmatch", "credential.helper", url, ok=(0, 1)).out.strip()


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


_LOGIN = (
    *("authentication failed", "could not read username", "could not read password", "permission denied"),
    *("host key verification failed", "invalid username or", "returned error: 401", "returned error: 403"),
)
_AWAY = (
    *("could not resolve", "failed to connect", "couldn't connect", "connection refused", "connection timed out"),
    *("network is unreachable", "operation too slow", "connection reset", "empty reply", "the remote end hung up"),
)


def explain_refusal(url: str, ran: GitResult) -> PushRefused:
    """Explain why a remote did not do what git asked for, with what helps."""
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
        step = "log in (`gh auth login`, `ssh-add`, or a credential helper); `git push` must work without a question"
        return PushRefused(f"{where} does not accept the login of your git: {said}", next_step=step)
    if any(sign in low for sign in _AWAY):
        return PushRefused(f"{where} cannot be reached: {said}", next_step="check the connection, then try again")
    if "protected branch" in low or "hook declined" in low or "gh006" in low or "gh013" in low:
        step = "change the rule of the branch at the host, or let somebody push it who may"
        return PushRefused(f"{where} refuses the branch: {said}", next_step=step)
    return PushRefused(f"{where} refuses the branch: {said}", next_step="see what `git push` says in the repository")


def _find_reason(text: str) -> str:
    """Return the lines in which the remote and git say what is wrong."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    remote = [line.removeprefix("remote:").strip() for line in lines if line.startswith("remote:")]
    refused = [line[1:].strip() for line in lines if line.startswith("!")]
    own = [line.partition(": ")[2] for line in lines if line.startswith(("fatal:", "error:"))]
    found = [line for line in (*remote, *refused, *own) if line]
    return "; ".join(dict.fromkeys(found))[:600] or "no reason was given"
