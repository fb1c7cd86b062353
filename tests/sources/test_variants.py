import pytest

from handrail.sources.workflow_files import variant_rank


def test_the_variants_of_one_workflow_have_one_order() -> None:
    files = ["coding.json", "coding.lean.json", "coding.agentic.json", "coding.v2.json"]
    assert sorted(files, key=variant_rank, reverse=True) == [
        "coding.lean.json",
        "coding.v2.json",
        "coding.agentic.json",
        "coding.json",
    ]


@pytest.mark.parametrize(
    ("name", "same_as"),
    [
        ("coding.lean.v2.json", "coding.lean.json"),
        ("bug.agentic.v2.json", "bug.v2.json"),
        ("lean-coding.json", "coding.json"),
        ("wr.discovery.json", "discovery.json"),
    ],
)
def test_the_strongest_mark_between_dots_counts(name: str, same_as: str) -> None:
    assert variant_rank(name) == variant_rank(same_as)
