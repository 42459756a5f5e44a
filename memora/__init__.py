"""Memora: a chat assistant that remembers, uses tools and shows everything it does."""

__version__ = "0.1.0"
