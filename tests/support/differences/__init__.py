"""What the difference tests share: a fast workbench, and the tables whose keys they prove."""
