"""``make bench``: everything, one after the other."""

from benchmarks import embedding, latency, recall, startup, thresholds

if __name__ == "__main__":
    for benchmark in (embedding, latency, startup, recall, thresholds):
        benchmark.main()
