"""Which of several files with one id is used: WorkRail's order of variants."""

ORDER = (".agentic.", ".v2.", ".lean.")
"""Marks in a file's name, the strongest last."""


def variant_rank(file_name: str) -> int:
    """Give a file's rank among the variants of one workflow; the highest is used."""
    ranks = (rank for rank, mark in enumerate(ORDER, start=1) if mark in file_name)
    return max(ranks, default=0)
