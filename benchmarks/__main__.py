"""``make bench``: everything, one after the other."""

from benchmarks import embedding, recall, thresholds

if __name__ == "__main__":
    for benchmark in (embedding, recall, thresholds):
        benchmark.main()
