"""What preflight refuses, a file for each thing it decides about. Pure: decides from plain data."""
