"""What discovery touches, seen by Python's audit hook in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

from support.sources.workplace import JSON, YAML, Workplace, write

PROGRAM = """
import json, os, sys
from pathlib import Path
repo, home = Path(sys.argv[1]), sys.argv[2]
from handrail.model.diagnostics import Report
from handrail.sources.tiers import discover, here
from handrail.sources.open_workflow import open_workflow
touched = []
def hook(name, args):
    if name in ("open", "os.scandir", "os.listdir") and isinstance(args[0], (str, Path)):
        touched.append([name, str(args[0])])
sys.addaudithook(hook)
place = here(repo / "src", {"HANDRAIL_HOME": home})
found = discover(place, Report())
names = [each.name for each in found]
for each in found:
    open_workflow(each, place)
ours = [[name, os.path.relpath(path, repo)] for name, path in touched if path.startswith(str(repo))]
print(json.dumps({"names": names, "touched": ours}))
"""


def test_a_large_repository_is_not_walked(work: Workplace, tmp_path: Path) -> None:
    for number in range(5000):
        write(work.repo / "src" / f"d{number % 50}" / f"{number}.yaml", "name: not-ours")
    work.repository("workflow.yaml", YAML.format(name="not-ours"))
    work.repository("src/workflow.py", work.python("not-ours"))
    work.workflow("fix/workflow.yaml", YAML.format(name="fix"))
    work.workflow("fix/prompts/10-a.md", "a")
    work.workflow("fix/versions/10-a.v1.md", "a")
    work.workflow("py/workflow.py", work.python("py"))
    work.workflow("t.json", JSON.format(name="wr.t"))
    command = [sys.executable, "-c", PROGRAM, str(work.repo), str(work.home)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    result = json.loads(done.stdout)
    assert {"fix", "py", "wr.t", "fix-bug"} <= set(result["names"])
    assert "not-ours" not in result["names"]
    assert ["os.scandir", ".handrail/workflows"] in result["touched"]
    outside = [path for _, path in result["touched"] if not path.startswith(".handrail")]
    assert outside == []
    assert not any("versions" in path for _, path in result["touched"])
    assert len(result["touched"]) < 40
    assert not work.mark.exists()
