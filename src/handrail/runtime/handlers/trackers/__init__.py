"""Steps that hand work to a tracker: pull requests and issues."""
