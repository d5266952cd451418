"""The documentation says what the program does: generated parts, links, names, examples and rights."""
