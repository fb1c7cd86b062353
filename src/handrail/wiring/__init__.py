"""The composition root: which parts of this machine stand behind each port."""
