"""What a connected agent may do: start a workflow, complete its steps one by one, look again, keep a point, find it."""
