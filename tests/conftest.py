"""What holds for every test."""

import os

# An Output that lands in an f-string raises, as it does under `make`, instead of becoming a text that describes it.
os.environ["PULUMI_ERROR_OUTPUT_STRING"] = "true"
# The kubeconfig of whoever runs the tests is nothing that a test may reach.
os.environ.pop("KUBECONFIG", None)
