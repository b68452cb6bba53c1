"""Servers that CI may do without, each with its reason. All others fail their tests there when they can't be had."""

from __future__ import annotations

ALLOWED: dict[str, str] = {}
