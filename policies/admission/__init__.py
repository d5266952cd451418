"""The pack's rules once more, as far as CEL can say them, for the API server itself: docs/guards.md. Pure.

The rules' words, tables and remedies are those of the pack, so the two cannot drift apart in what they name; that they
agree in what they refuse is tested on a real API server.
"""
