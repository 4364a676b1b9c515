"""A deep-learning library's operations as Tile functions, each with its meaning in plain NumPy."""
