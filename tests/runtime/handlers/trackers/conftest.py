from support.runtime.pull_request_room import pulls

__all__ = ["pulls"]
