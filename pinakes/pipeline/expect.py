"""The public import path of `pinakes.pipelines.expect`."""

from pinakes.pipelines.expect import expect

__all__ = ["expect"]
