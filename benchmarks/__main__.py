"""``make bench``: everything, one after the other, each in a process of its own so that none warms up another."""

import subprocess
import sys

NAMES = ("embedding", "latency", "startup", "conversation", "recall", "thresholds")


def main() -> int:
    """Run them all; the exit status is the number of those that failed."""
    runs = [subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False) for name in NAMES]
    return sum(run.returncode != 0 for run in runs)


if __name__ == "__main__":
    sys.exit(main())
