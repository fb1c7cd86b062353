"""Commands about issues of the local tracker."""
