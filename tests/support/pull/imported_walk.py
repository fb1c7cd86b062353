"""A WorkRail-style workflow and its import, both walked by agents that find out the same."""

import re
from collections.abc import Iterable
from typing import Any, cast

from handrail.authoring.importers import ImportedWorkflows
from handrail.authoring.importers.nodes import data_of
from handrail.authoring.readers.yaml_reader import read_yaml
from handrail.model.diagnostics import Report
from handrail.model.source import SourceText
from handrail.operations.runs import lifecycle as runs
from support.pull.found_values import FoundValues
from support.pull.generic_client import GenericClient
from support.pull.room import Json, Pull, Said, advancing

GOAL = "Make it better."


def write_import(pull: Pull, imported: ImportedWorkflows) -> str:
    """Write imported files to the user's workflows, and give the name of the workflow."""
    for path, text in imported.files.items():
        target = pull.home / "workflows" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    return next(path for path in imported.files if path.endswith("/workflow.yaml")).partition("/")[0]


def walk_original(pull: Pull, name: str, values: FoundValues, inputs: Iterable[str]) -> list[str]:
    """Walk the JSON form; what a step's prompt names is sent as context."""
    client = GenericClient(pull.advance, values.decide)
    said, visited = pull.start(name, GOAL, **values.at_start(inputs)), list[str]()
    while not said.complete:
        assert not said.is_error, said.text
        visited.append(str(said.address))
        assert len(visited) < 200
        said = client.complete(said, values.named_in(said.pending["prompt"], str(said.address))).said
    return visited


def walk_import(pull: Pull, name: str, values: FoundValues, inputs: Iterable[str]) -> list[str]:
    """Walk the native form; what a step is asked for is its result, and a person approves whatever waits."""
    said, visited = _approve(pull, pull.start(name, GOAL, **values.at_start(inputs))), list[str]()
    while not said.complete:
        assert not said.is_error, said.text
        visited.append(_address(str(said.address)))
        assert len(visited) < 200
        said = _complete(pull, said, values)
    return visited


def _approve(pull: Pull, said: Said) -> Said:
    """A person says yes to whatever waits for one."""
    assert not said.is_error, said.text
    while "USER_ONLY_DEPENDENCY" in said.codes:
        runs.answer(pull.writer, said.run, "approve", "person:ann")
        pull.drive()
        said = pull.rehydrate(said)
    return said


def _address(address: str) -> str:
    """Where the same step stands in the JSON form: items are counted, and a routine has no level of its own."""
    return re.sub(r"([^/]+)/(?=\1\.)", "", re.sub(r"\[(\w+)\]", r"@\1", address))


def _complete(pull: Pull, at: Said, values: FoundValues) -> Said:
    """Complete the pending step with what its own answer shows, by the client that repairs what is refused."""
    address = str(at.address)
    wanted: Json = at.data["nextCall"]["params"]["output"]

    def call(token: str, notes: str, artifacts: list[Any], context: Json) -> Said:
        arguments = advancing(token, notes, artifacts)
        if "result" in wanted:
            arguments["output"]["result"] = _result(wanted["result"], values, address)
        return _approve(pull, pull.call("continue_workflow", **arguments))

    return GenericClient(call, values.decide).complete(at, {}).said


def _result(example: Any, values: FoundValues, address: str) -> Any:
    if not isinstance(example, dict):
        return example
    asked = cast("Json", example)
    given = {name: values.value(name, address) for name in asked if name in values.choices}
    decided = {"decision": values.decide(address)} if "decision" in asked else {}
    return {**asked, **given, **decided}


def tree_of(imported: ImportedWorkflows) -> Json:
    """An imported workflow as plain data."""
    text = next(text for path, text in imported.files.items() if path.endswith("/workflow.yaml"))
    root = read_yaml(SourceText("workflow.yaml", text), Report())
    assert root is not None
    return cast("Json", data_of(root))
