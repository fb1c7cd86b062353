"""What a connected agent may do: start a workflow, complete its steps, look again, save a point, find it again."""
