"""Git that talks to a remote: the user's own credentials and configuration, and nothing of the repository's.

The address is all that is taken from the repository. Git works through the view of it (`repository_view`), which has no
remotes, helpers, proxies or rewritten addresses, and reads the user's global and system configuration beside that. So
credential helpers, ssh and `insteadOf` of the user's own files count, and those that a repository or an agent wrote do
not. Addresses that start programs (`ext::`) are refused, and hooks are not run.

A token is passed in the environment, for its host alone, and only if the user has no credential helper for that host:
git offers to every helper what it has logged in with, and one of them might store it. It is never sent unencrypted.

Nothing is waited for without end: a connection on which nothing moves is given up after a minute, unless the user's own
configuration says otherwise.
"""

import os
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from handrail.errors import PushRefused
from handrail.frozen import frozen
from handrail.ports.delivery import PushRequest
from handrail.processes.process_table import Row, birth_of
from handrail.workspace.delivery.push_refusals import Login, explain_refusal
from handrail.workspace.delivery.remote_process import end_tree, note_process
from handrail.workspace.git.command import Git, GitResult, GitTooSlow
from handrail.workspace.git.repositories import git_dir
from handrail.workspace.git.repository_view import read_settings

NAME = "handrail-remote"
"""What the remote is called in our commands."""
PROTOCOLS = "file:git:http:https:ssh"
_TOKEN = "HANDRAIL_GIT_TOKEN"  # noqa: S105 - the name of a variable
_HELPER = f'!f() {{ echo username=x-access-token; echo "password=${_TOKEN}"; }}; f'
_SSH = "ssh -o BatchMode=yes -o ConnectTimeout=30 -o ServerAliveInterval=15 -o ServerAliveCountMax=4"
"""Never prompts for a passphrase or a host key: there may be no terminal. Gives up when the other end is gone."""
_PASSED = (
    *("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "SSH_AUTH_SOCK", "SSH_AGENT_PID"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "CURL_CA_BUNDLE"),
    *("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "GNUPGHOME"),
)
"""What a connection may need besides the variables that every git gets."""
_ALL = tuple(range(256)) + tuple(range(-64, 0))
_SLOW = (("http.lowSpeedLimit", "1"), ("http.lowSpeedTime", "60"))
"""Gives up a connection over http(s) on which nothing has moved for so many seconds."""
_MAX_SECONDS = {"ls-remote": 180.0}
_OTHERS = 1800.0
"""How long a command may take in total, whatever moves."""
_TOO_SLOW = 124
"""The exit code of a command that was ended because it took too long."""
_WEB = ("http", "https")
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def find_remote_url(root: Path, remote: str) -> str:
    """Return the address to which a remote of a repository is pushed; empty if there is no such remote."""
    settings = {each.key: each.value for each in read_settings(root, git_dir(root))}
    return settings.get(f"remote.{remote}.pushurl") or settings.get(f"remote.{remote}.url", "")


@frozen
class RemoteGit:
    """Git in a repository, with one remote."""

    git: Git
    url: str
    login: Login = ""
    """With what git logs in there, as far as that is known."""
    record: Path | None = None
    """Where to remember the command that is under way."""

    def find_branch(self, branch: str) -> str:
        """Return the commit of a branch of the remote; empty if there is no such branch."""
        ran = self.run("ls-remote", "--refs", NAME, f"refs/heads/{branch}")
        if ran.code:
            raise self.explain(ran)
        return next((row.split("\t")[0] for row in os.fsdecode(ran.out).splitlines() if "\t" in row), "")

    def fetch(self, commit: str, branch: str) -> None:
        """Get a branch of the remote, unless its commit is here already; no ref is moved."""
        if self.has(commit):
            return
        words = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance")
        ran = self.run("fetch", *words, NAME, f"refs/heads/{branch}")
        if ran.code:
            raise self.explain(ran)

    def has(self, commit: str) -> bool:
        """Whether a commit is in the repository."""
        return not self.git.run("cat-file", "-e", f"{commit}^{{commit}}", ok=(0, 1, 128)).code

    def run(self, *words: str) -> GitResult:
        """Run a command that talks to the remote; any exit code is returned, also for one that takes too long."""
        with self.git.start(*words) as under_way:
            command = under_way.process.pid
            if self.record is not None:
                note_process(self.record, command)
            try:
                return under_way.wait(_ALL, _MAX_SECONDS.get(words[0], _OTHERS))
            except GitTooSlow as slow:
                end_tree(Row(command, 0, 0, birth_of(command) or ""))
                return GitResult(_TOO_SLOW, b"", f"fatal: operation too slow: {slow.message}")

    def explain(self, ran: GitResult) -> PushRefused:
        """Explain why the remote did not do what git asked for."""
        return explain_refusal(self.url, ran, self.login)


def connect(git: Git, url: str, request: PushRequest, record: Path | None = None) -> RemoteGit:
    """Prepare git for a remote, with what its connection needs."""
    found = {**os.environ, **request.variables}
    own = {name: found[name] for name in _PASSED if name in found}
    plain = replace(git, held=(), network={**own, "GIT_ALLOW_PROTOCOL": PROTOCOLS})
    settings = [(f"remote.{NAME}.url", url), *_limits(plain, url)]
    if "GIT_SSH_COMMAND" not in own and "GIT_SSH" not in own and plain.query("config", "core.sshCommand") is None:
        settings.append(("core.sshCommand", _SSH))
    login = _find_login(plain, url, request.token)
    if login == "token":
        settings.append((f"credential.{_origin(url)}.helper", _HELPER))
        own[_TOKEN] = request.token
    named = dict(pair for number, entry in enumerate(settings) for pair in _config_variables(number, entry))
    network = {**own, **named, "GIT_CONFIG_COUNT": str(len(settings)), "GIT_ALLOW_PROTOCOL": PROTOCOLS}
    return RemoteGit(replace(plain, network=network), url, login, record)


def _limits(git: Git, url: str) -> list[tuple[str, str]]:
    """Return when to give up a connection, where the user's own configuration does not say."""
    if urlsplit(url).scheme not in _WEB:
        return []
    return [entry for entry in _SLOW if not _read_setting(git, entry[0], url)]


def _config_variables(number: int, entry: tuple[str, str]) -> tuple[tuple[str, str], tuple[str, str]]:
    return (f"GIT_CONFIG_KEY_{number}", entry[0]), (f"GIT_CONFIG_VALUE_{number}", entry[1])


def _find_login(git: Git, url: str, token: str) -> Login:
    """Find out with what git logs in: the user's own means come first, and a token is only sent encrypted."""
    parts = urlsplit(url)
    if parts.scheme not in _WEB:
        return "ssh" if parts.scheme == "ssh" or (not parts.scheme and "@" in url) else ""
    if parts.password:
        return "address"
    if _read_setting(git, "credential.helper", url):
        return "helper"
    is_safe = parts.scheme == "https" or parts.hostname in _LOOPBACK
    return "token" if token and is_safe else "none"


def _read_setting(git: Git, name: str, url: str) -> bytes:
    """Return what the user's configuration says for an address; empty if it says nothing."""
    return git.run("config", "--get-urlmatch", name, url, ok=(0, 1)).out.strip()


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
