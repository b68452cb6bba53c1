"""What mkdocs does with the pages beside building them (mkdocs.yml): links to files of the repository, which a reader
of the repository can follow and a reader of the site can't, become plain text."""

from __future__ import annotations

import posixpath
import re
from typing import Any

LINK = re.compile(r"\[([^\]]+)\]\((\.\./[^)#\s]*)(#[^)]*)?\)")


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    here = posixpath.dirname(page.file.src_uri)

    def plain(link: re.Match[str]) -> str:
        leaves = posixpath.normpath(posixpath.join(here, link[2])).startswith("..")
        return link[1] if leaves else link[0]

    return LINK.sub(plain, markdown)
