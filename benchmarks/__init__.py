"""Cairn against the papers' tables and against its peers: ``python -m benchmarks NAME [--quick] [--json FILE]``."""
