"""Issues as another tracker exports them."""

from handrail.model.issue_events import Record


def make_exported_record(number: int) -> Record:
    """Make an issue with everything that an export may hold, and more."""
    targets = [f"shop-{number // 2}", f"shop-{number // 3}"] if number > 2 else []
    return {
        "_type": "issue",
        "id": f"shop-{number}" if number % 10 else f"shop-{number}.1",
        "title": f"Issue {number} with ünï cöde \u202e and </tags>",
        "description": "line one\nline two\t{{ template }} $(id)",
        "status": ("open", "in_progress", "closed", "deferred", "in_review")[number % 5],
        "priority": number % 5,
        "issue_type": ("task", "bug", "epic", "experiment")[number % 4],
        "labels": ["a", f"l{number % 7}"],
        "created_at": "2026-06-01T10:00:00.123456789+02:00",
        "updated_at": "2026-06-02T10:00:00Z",
        "external_ref": f"gh-{number}",
        "metadata": {"deep": [{"er": None}]},
        "mol_type": "swarm",
        "waiters": ["x", 1, True],
        "dependencies": [
            {"issue_id": f"shop-{number}", "depends_on_id": each, "type": "blocks", "thread_id": "t"}
            for each in targets
        ],
        "comments": [{"id": number, "author": "ann", "text": "hello", "created_at": "2026-06-01T10:00:00Z"}],
    }
