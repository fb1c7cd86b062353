"""The rewriting passes of the WorkRail front end, in order."""
