"""What holds for every test."""

import os

import hypothesis

# An Output that lands in an f-string raises, as it does under `make`, instead of becoming a text that describes it.
os.environ["PULUMI_ERROR_OUTPUT_STRING"] = "true"
# The kubeconfig of whoever runs the tests is nothing that a test may reach.
os.environ.pop("KUBECONFIG", None)

# The time of one example says nothing on a machine that does other things too: 60 ms alone, 325 ms in a whole run.
hypothesis.settings.register_profile("project", deadline=None, print_blob=True)
hypothesis.settings.load_profile("project")
