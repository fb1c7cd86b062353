"""An authored workflow as a positioned tree, whatever the form it was written in."""

from typing import Literal, TypeAlias

from handrail.frozen import frozen
from handrail.model.source import Bundle, Mapping

Form: TypeAlias = Literal["yaml", "json", "python"]
Dialect: TypeAlias = Literal["native", "workrail"]


@frozen
class Document:
    """What a reader gives and the compiler's passes rewrite: the tree, and the files it may refer to."""

    form: Form
    dialect: Dialect
    root: Mapping
    bundle: Bundle
    dynamic: bool = False
    """Whether the main file is itself the flow: Python whose `run` calls steps; then there are no steps here."""
