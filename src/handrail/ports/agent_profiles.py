"""What is known about an agent that comes with Handrail, beside how it is called and how its output is read.

Each agent's folder has one such record, and everything that is said about agents is derived from these records: what is
looked for on a machine, how a person installs an agent and logs in, what a sandbox lets it write.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from handrail.frozen import frozen
from handrail.model.history.prices import FamilyPrice, Price
from handrail.model.workflow.agent_names import KnownCapability
from handrail.model.workflow.values import JsonValue

ConfigForm: TypeAlias = Literal["json", "toml"]


@frozen
class AccountFile:
    """Where an agent stores the name of the account that it is logged in to, beside its credentials."""

    variable: str
    """The variable that names the folder, if it is set."""
    folder: str
    """The folder otherwise, as a path from the user's home."""
    file: str
    keys: tuple[str, ...]
    """The keys that lead to the name."""


@frozen(kw_only=True)
class Login:
    """How an agent's login can be detected."""

    way: str
    """How a person logs in."""
    variables: tuple[str, ...] = ()
    """Environment variables of which any that is set is a login."""
    files: tuple[str, ...] = ()
    """Files of which any that exists is a login, as paths from the user's home."""
    asks: tuple[str, ...] = ()
    """The arguments with which the program is asked otherwise: it exits with 0 if it is logged in, with 1 if not."""
    account: AccountFile | None = None
    elsewhere: AccountFile | None = None
    """The setting that makes it use another service, whose login only that service knows."""


@frozen
class ConfigFolders:
    """Where an agent stores its own data (login, conversations, caches), which it may write in a sandbox."""

    paths: tuple[str, ...]
    """Folders and files, relative to the user's home."""
    variable: str = ""
    """The variable that names one folder instead of them."""


@frozen
class ProjectFiles:
    """The files by which a repository configures an agent or makes it run something.

    Each is a path or, as `FOLDER/**` or `FOLDER/**/*`, everything below a folder.
    """

    names: tuple[str, ...] = ()
    """Looked for in the working folder and in each folder above it, up to the root of the repository."""
    above: tuple[str, ...] = ()
    """Looked for in all folders above the repository as well."""
    checkout: bool = False
    """Whether those of the main checkout count if the working folder belongs to a linked worktree."""


@frozen
class UserPath:
    """A location: the first path that exists, else the first whose folder exists, else the first."""

    at: tuple[str, ...]
    """Relative to the user's home."""
    variable: str = ""
    """The variable that names another folder, if it is set."""
    below: tuple[str, ...] = ()
    """The same, relative to that folder."""


@frozen(kw_only=True)
class ConnectedClient:
    """A program that can be connected to Handrail over MCP: where it stores servers and skills."""

    name: str
    title: str
    """The name that people use for it."""
    form: ConfigForm = "json"
    table: str
    """The key under which its configuration lists servers."""
    user: UserPath
    project: str = ""
    """The same file of a repository; empty if it reads none."""
    command_in_one: bool = False
    """Whether program and arguments of a command are one list; otherwise they are separate."""
    environment: str = "env"
    """The key of the environment variables that a server gets."""
    more: Mapping[str, JsonValue]
    """What an entry needs beside its command."""
    way: tuple[str, ...] = ()
    """The program's own command line that adds a server for the user; the server's command follows."""
    skills: UserPath | None = None
    """The folder in which it looks for skills of the user."""
    project_skills: str = ""


@frozen(kw_only=True)
class AgentProfile:
    """One agent that comes with Handrail."""

    name: str
    """Its name in workflows."""
    adapter: str
    """Its `Agent` as `package.module:Class`, which takes the `program`; it is loaded when a step asks for it."""
    program: str
    """Its name on the command line."""
    install: str
    """How a person installs it and logs in."""
    default: str
    """What a new configuration says to use it: its name, with a model if its own settings do not choose one."""
    variables: tuple[str, ...]
    """Names or globs of its vendor's environment variables."""
    login: Login
    config: ConfigFolders
    shell_marks: tuple[str, ...] = ()
    """Variables that it sets for the commands it runs: a caller that has one of them is this agent."""
    other_names: tuple[str, ...] = ()
    """Other names that people use for this agent."""
    labels: tuple[str, ...] = ()
    """Labels of an issue that mean it, beside its own name."""
    models: str = ""
    """A regular expression for the names of the models that only it has."""
    prices: tuple[FamilyPrice, ...] = ()
    """List prices of its vendor's models, the most specific first."""
    price: Price | None = None
    """The price of its most expensive model, for a model that is not in the list."""
    project_files: tuple[str, ...] = ()
    """Globs, relative to a repository's root, of the files by which a repository makes the agent run something."""
    files_above: tuple[str, ...] = ()
    """Those of them that the agent also looks for in the folders above a repository."""
    capabilities: tuple[KnownCapability, ...] = ()
    """Its known capabilities, by level of access; others are determined by asking it."""
    client: ConnectedClient | None = None
    """How it is connected to Handrail when a person talks to it."""
    reads_checkout: bool = False
    """Whether the agent also reads such files from the main checkout when it works in a linked worktree."""
    switched: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Variables of other vendors, which it gets if a variable tells it to work through them."""

    @property
    def files(self) -> ProjectFiles:
        """The files of a repository that configure the agent."""
        return ProjectFiles(self.project_files, self.files_above, self.reads_checkout)

    def variables_in(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        """List the variables that the agent gets: its vendor's, and those of a service that it works through."""
        on = (names for switch, names in self.switched if environ.get(switch, "") not in ("", "0", "false"))
        return (*self.variables, *(name for names in on for name in names))
