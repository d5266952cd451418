"""Credentials, all derived from the gateway key: the same key gives the same ones, so a preview shows no change.

Pure functions of secrets: they log nothing, and their errors name no value.
"""

import hashlib
import hmac

import bcrypt

from components.settings.model import Settings

# Tenant name under which the layer's own credentials are derived; settings refuse it to tenants.
LAYER = "layer"

# The work factor of the stand-in hash that Prometheus' web layer compares with when a user is unknown
# (prometheus/exporter-toolkit, web/handler.go): an unknown user and a wrong password then take equally long. The
# passwords are 256 bits of HMAC and need no slow hash; Prometheus remembers the answers, so scrapes do not pay it.
BCRYPT_COST = 10
_BCRYPT_ALPHABET = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def token(key: str, tenant: str, role: str, generation: int = 1) -> str:
    """A bearer token: 64 hex digits. Raising a tenant's generation revokes its tokens and no other's."""
    if ":" in tenant or ":" in role:
        raise ValueError(
            "tenant and role of a token must not hold a colon: two of them could then be the same token"
        )
    return _hmac(key, f"{tenant}:{role}:{generation}").hex()


def layer_token(key: str, role: str, generation: int = 1) -> str:
    """A token of the layer's own."""
    return token(key, LAYER, role, generation)


def platform_token(key: str) -> str:
    """The token of whoever runs the platform: it names the tenant that it reads."""
    return layer_token(key, "platform")


def gateway_keys(settings: Settings) -> list[str]:
    """The keys whose tokens are good: the current one first, then the one that it replaces, if any."""
    keys = (settings.gateway_key, settings.gateway_key_previous)
    return [key.get_secret_value() for key in keys if key is not None]


def bcrypt_hash(password: str, key: str) -> str:
    """The hash that Prometheus' web config wants, with a salt from the key: a random one would differ in each preview.

    bcrypt reads 72 bytes at most; a longer password is refused by the library rather than cut.
    """
    salt = _bcrypt_base64(_hmac(key, f"salt/{password}")[:16])
    return bcrypt.hashpw(password.encode(), f"$2b${BCRYPT_COST:02d}${salt}".encode()).decode()


def keyed_digest(key: str, text: str) -> str:
    """32 hex digits that change with a secret text and tell nothing about it: for annotations that roll a pod.

    Tokens and salts are derived from texts of another form (a tenant's name holds no slash).
    """
    return _hmac(key, f"digest/{text}").hex()[:32]


def _hmac(key: str, text: str) -> bytes:
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).digest()


def _bcrypt_base64(data: bytes) -> str:
    """bcrypt's own base64: its alphabet, no padding, most significant bits first."""
    bits = "".join(f"{byte:08b}" for byte in data)
    bits += "0" * (-len(bits) % 6)
    return "".join(_BCRYPT_ALPHABET[int(bits[at : at + 6], 2)] for at in range(0, len(bits), 6))
