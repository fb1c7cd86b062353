"""The front end for WorkRail-style JSON workflows: passes over the tree, then lowering to a plan."""
