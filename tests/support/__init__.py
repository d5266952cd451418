"""Helpers that several test tiers share."""
