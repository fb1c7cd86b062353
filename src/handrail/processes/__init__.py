"""Commands that outlive their supervisor."""
