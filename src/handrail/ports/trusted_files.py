"""Which files of a repository the user has trusted."""

from typing import Protocol


class TrustedFiles(Protocol):
    """Answers questions about trust, file by file."""

    def covers(self, repository: str, path: str, digest: str) -> bool:
        """Whether this exact content at this path of a repository was trusted.

        `repository` is the root of the user's checkout, `path` a path from there with forward slashes, and `digest` the
        SHA-256 of the bytes in hexadecimal digits.
        """
        ...
