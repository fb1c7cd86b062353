"""Steps of several efforts: loop, gate with fix, review loop, merge, fan-out."""
