"""The options of rewrite_data_files, with Iceberg's names and defaults. Unsupported options are rejected by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pinakes.core.errors import InvalidArgument, NotSupportedError, listing
from pinakes.engine.iceberg.write.parquet.layout import MB, TARGET_SIZE

GB = 1024 * MB
_ON_SPARK = (
    "partial-progress.enabled",
    "partial-progress.max-commits",
    "partial-progress.max-failed-commits",
    "max-concurrent-file-group-rewrites",
    "max-files-to-rewrite",
    "rewrite-job-order",
    "output-spec-id",
    "compression-factor",
    "shuffle-partitions-per-file",
    "use-starting-sequence-number",
)
"""Options of Iceberg's Spark procedure that are not supported here."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Selects the files to rewrite."""

    target: int
    """Target size of a file, in bytes."""
    least: int
    greatest: int
    """Files smaller than `least` or larger than `greatest` bytes are selected."""
    together: int = 5
    """The minimum number of files of a partition to rewrite."""
    everything: bool = False
    most_deletes: int = 2**31 - 1
    deleted_share: float = 0.3
    """A file with this many delete files, or with this share of its rows deleted, is selected whatever its size."""
    group: int = 100 * GB
    """The maximum size of a group of files that is rewritten together, in bytes."""
    dangling: bool = True
    """Whether shared delete files are removed when they apply to none of the remaining files."""

    @classmethod
    def of(cls, given: Mapping[str, str], properties: Mapping[str, str]) -> Choice:
        _check_known(given)
        numbers = _Numbers(given)
        target = numbers.whole("target-file-size-bytes", int(properties.get(TARGET_SIZE, 512 * MB)))
        least = numbers.whole("min-file-size-bytes", int(target * 0.75), least=0)
        greatest = numbers.whole("max-file-size-bytes", int(target * 1.8))
        if not least < target < greatest:
            raise InvalidArgument(
                f"min-file-size-bytes ({least}) must be less than target-file-size-bytes ({target}), and that less "
                f"than max-file-size-bytes ({greatest})"
            )
        return cls(
            target,
            least,
            greatest,
            together=numbers.whole("min-input-files", 5),
            everything=numbers.flag("rewrite-all", False),
            most_deletes=numbers.whole("delete-file-threshold", 2**31 - 1),
            deleted_share=numbers.share("delete-ratio-threshold", 0.3),
            group=numbers.whole("max-file-group-size-bytes", 100 * GB),
            dangling=numbers.flag("remove-dangling-deletes", True),
        )


_HERE = (
    "target-file-size-bytes",
    "min-file-size-bytes",
    "max-file-size-bytes",
    "min-input-files",
    "rewrite-all",
    "delete-file-threshold",
    "delete-ratio-threshold",
    "max-file-group-size-bytes",
    "remove-dangling-deletes",
)


def _check_known(given: Mapping[str, str]) -> None:
    for key in given:
        if key in _ON_SPARK:
            raise NotSupportedError(f"the option {key!r} is for Spark: SET engine = 'spark', or leave it out")
        if key not in _HERE:
            raise InvalidArgument(f"there is no option {key!r}; available: {listing(_HERE)}")


@dataclass(frozen=True, slots=True)
class _Numbers:
    given: Mapping[str, str]

    def whole(self, key: str, default: int, least: int = 1) -> int:
        text = self.given.get(key, str(default))
        if not text.isdigit() or int(text) < least:
            raise InvalidArgument(f"the option {key!r} must be a whole number of {least} or more, not {text!r}")
        return int(text)

    def share(self, key: str, default: float) -> float:
        text = self.given.get(key, str(default))
        try:
            found = float(text)
        except ValueError:
            found = -1.0
        if not 0.0 < found <= 1.0:
            raise InvalidArgument(f"the option {key!r} must be a number above 0 and up to 1, not {text!r}")
        return found

    def flag(self, key: str, default: bool) -> bool:
        text = self.given.get(key, str(default)).lower()
        if text not in ("true", "false"):
            raise InvalidArgument(f"the option {key!r} must be 'true' or 'false', not {text!r}")
        return text == "true"
