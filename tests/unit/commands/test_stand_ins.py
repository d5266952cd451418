"""Stack files without their secrets."""

import pytest
import yaml

from commands.stand_ins import without_secrets

STACK_FILE = """\
secretsprovider: awskms://alias/prod
encryptedkey: abc=
encryptionsalt: v1:abc=
config:
  shared-observability:cluster: {name: prod, version: 1.10}
  shared-observability:gatewayKey: {secure: v1:xyz=}
  shared-observability:oauth:
    shop-grafana: {secure: v1:one=}
    app.grafana: {secure: v1:two=}
  shared-observability:tenants: {}
"""


def test_secrets_and_their_encryption_are_taken_out_and_named() -> None:
    text, secrets = without_secrets(STACK_FILE)
    assert secrets == [
        "shared-observability:gatewayKey",
        'shared-observability:oauth["shop-grafana"]',
        'shared-observability:oauth["app.grafana"]',
    ]
    assert yaml.load(text, yaml.BaseLoader) == {
        "config": {
            "shared-observability:cluster": {"name": "prod", "version": "1.10"},
            "shared-observability:tenants": {},
        }
    }


def test_a_secret_among_other_values_is_left_for_the_program_to_refuse() -> None:
    text = "config:\n  shared-observability:layer: {logs: {secure: v1:x=}, metrics: 'off'}\n"
    written, secrets = without_secrets(text)
    assert secrets == []
    assert yaml.safe_load(written) == yaml.safe_load(text)


@pytest.mark.parametrize("text", ["", "- list", "config: text", "config: [1]"])
def test_what_is_no_stack_file_is_left_to_the_program(text: str) -> None:
    written, secrets = without_secrets(text)
    assert secrets == []
    assert yaml.safe_load(written) == yaml.safe_load(text)
