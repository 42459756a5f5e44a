"""How long the local embedder takes: to load, for a question, for stored sentences."""

from __future__ import annotations

from benchmarks.harness import Clock, load_data, print_machine
from memora.providers.embedders import LocalEmbedder
from memora.providers.embedders.local import E5_AND_USE, USE_ALONE, Recipe


def measure(recipe: Recipe) -> None:
    """Print the durations of one recipe."""
    data = load_data("zh_en_dev.json")
    clock, embedder = Clock(), LocalEmbedder(recipe=recipe)
    with clock.measure("load"):
        embedder.warm()
    for query in data["queries"]:
        with clock.measure("a question"):
            embedder.embed_query(query["text"])
    for item in data["items"]:
        with clock.measure("a stored sentence"):
            embedder.embed_passages([item["text"]])
    with clock.measure(f"all {len(data['items'])} stored sentences at once"):
        embedder.embed_passages([item["text"] for item in data["items"]])
    with clock.measure("a question of 5,000 characters"):
        embedder.embed_query("我今天去學校上英文課，老師教了現在完成式。" * 250)
    clock.print_table(f"Embedding with {recipe.identity}")


def main() -> None:
    print_machine()
    for recipe in (E5_AND_USE, USE_ALONE):
        measure(recipe)


if __name__ == "__main__":
    main()
