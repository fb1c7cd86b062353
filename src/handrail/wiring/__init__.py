"""The composition root: chooses the parts of this machine that implement each port."""
