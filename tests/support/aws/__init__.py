"""A stand-in for AWS and for Pulumi's AWS provider, for tests only; nothing of it ever reaches a user.

The real engine attaches to `Servicer` by PULUMI_DEBUG_PROVIDERS, which only a test sets. `Servicer` turns what it asks
into boto3 calls, whose arguments botocore's own models check, and a moto server on loopback carries them out;
`eks_service` is what moto lacks of EKS, with EKS's own rules. What neither of them knows is refused by name.

It shows the order of calls, replacements, unknowns, argument names and types, drift, and that a destroy leaves nothing.
It does not show the real provider's defaults and waits, IAM's judgement, quotas, or that an add-on does its work.
"""
