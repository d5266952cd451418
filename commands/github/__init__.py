"""What the workflows write on GitHub, by the standard library only: their token may write, so no package runs."""
