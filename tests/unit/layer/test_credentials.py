"""Credentials are derived: the same for the same key, different for all else, and never in an error."""

import hashlib
import hmac
import re

import bcrypt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.layer import credentials

KEY = "a-gateway-key-for-tests-of-at-least-32-bytes"
OTHER_KEY = KEY[::-1]
TOKEN = credentials.token(KEY, "shop", "read")


def test_a_token_is_the_stated_hmac() -> None:
    stated = hmac.new(KEY.encode(), b"shop:read:1", hashlib.sha256).hexdigest()
    assert stated == TOKEN
    assert re.fullmatch("[0-9a-f]{64}", TOKEN)


def test_each_tenant_role_generation_and_key_has_its_own_token() -> None:
    tokens = {
        TOKEN,
        credentials.token(KEY, "billing", "read"),
        credentials.token(KEY, "shop", "write"),
        credentials.token(KEY, "shop", "read", 2),
        credentials.token(OTHER_KEY, "shop", "read"),
        credentials.layer_token(KEY, "read"),
        credentials.keyed_digest(KEY, "shop:read:1"),
    }
    assert len(tokens) == 7


@pytest.mark.parametrize(("tenant", "role"), [("shop:read", "1"), ("shop", "read:1")])
def test_a_colon_cannot_make_one_token_of_two(tenant: str, role: str) -> None:
    with pytest.raises(ValueError, match="colon"):
        credentials.token(KEY, tenant, role)


def test_a_hash_is_the_same_at_each_preview_and_fits_its_password_only() -> None:
    hashed = credentials.bcrypt_hash(TOKEN, KEY)
    assert hashed == credentials.bcrypt_hash(TOKEN, KEY)
    assert hashed.startswith(f"$2b${credentials.BCRYPT_COST}$")
    assert bcrypt.checkpw(TOKEN.encode(), hashed.encode())
    assert not bcrypt.checkpw(TOKEN[::-1].encode(), hashed.encode())


def test_salts_differ_by_key_and_by_password() -> None:
    salts = {
        credentials.bcrypt_hash(password, key)[:29] for password in ("one", "two") for key in (KEY, OTHER_KEY)
    }
    assert len(salts) == 4


@given(st.binary(min_size=16, max_size=16))
def test_a_salt_is_what_bcrypt_itself_would_write(data: bytes) -> None:
    salt = credentials._bcrypt_base64(data)
    # The last of 22 characters has only two bits of the salt: bcrypt zeroes the others, and must find nothing to zero.
    assert len(salt) == 22
    assert salt[-1] in ".Oeu"
    digits = [credentials._BCRYPT_ALPHABET.index(character) for character in salt]
    assert (int("".join(f"{digit:06b}" for digit in digits), 2) >> 4).to_bytes(16, "big") == data


def test_a_password_that_bcrypt_would_cut_is_refused_without_being_quoted() -> None:
    with pytest.raises(ValueError, match="72 bytes") as error:
        credentials.bcrypt_hash("secret" * 20, KEY)
    assert "secretsecret" not in str(error.value)


def test_a_digest_changes_with_text_and_key_and_is_short_enough_for_an_annotation() -> None:
    digests = {credentials.keyed_digest(key, text) for text in ("one", "two") for key in (KEY, OTHER_KEY)}
    assert len(digests) == 4
    assert all(re.fullmatch("[0-9a-f]{32}", digest) for digest in digests)
