"""What touches the outside: models, embedders, the index and the database."""
