"""What `make bench` measures. Each module also runs alone: ``python -m benchmarks.recall``."""
