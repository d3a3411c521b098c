"""How fast the engine decides, and what it costs."""
