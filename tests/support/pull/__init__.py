"""Connected agents: rooms, clients, reference walks."""
