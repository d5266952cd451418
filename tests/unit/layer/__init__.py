"""Tests of the layer's pure functions and components."""
