"""Settings of an environment: the tree (`model`), what is wrong with one (`checks`), and reading it (`load`)."""
