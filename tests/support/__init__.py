"""What tests share: rooms to work in, clients, workers, recorded output, and where things are."""
