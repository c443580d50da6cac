"""Installs what the tests need beyond Python packages: a Chromium, a font with Chinese characters, nginx.

    python -m tests.prepare

A Chromium found on the PATH is used; else Debian's packages are installed (as root, or by sudo).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """Path of the first Chromium on the PATH, None when there is none."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def nginx() -> str | None:
    """Path of nginx, which is seldom on an ordinary user's PATH; None when there is none."""
    return shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def has_chinese_font() -> bool:
    """Whether some installed font has Chinese characters."""
    if shutil.which("fc-list") is None:
        return False
    found = subprocess.run(["fc-list", ":lang=zh", "family"], capture_output=True, text=True, check=False)
    return bool(found.stdout.strip())


def missing_packages() -> list[str]:
    """Debian packages that this machine still needs."""
    wanted = {
        "chromium": chromium() is None,
        "fonts-noto-cjk": not has_chinese_font(),
        "nginx-light": nginx() is None,
    }
    return [name for name, needed in wanted.items() if needed]


def install(packages: list[str]) -> None:
    """Install Debian packages; ends the program with one sentence where that is not possible."""
    if shutil.which("apt-get") is None:
        sys.exit(
            f"Please install {' and '.join(packages)} and run this line again: there is no apt-get here."
        )
    prefix = [] if os.geteuid() == 0 else ["sudo"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], ["install", "-y", "-qq", *packages]):
        subprocess.run([*prefix, "apt-get", *command], check=True, env=environment, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    needed = missing_packages()
    if needed:
        install(needed)
    print(f"Chromium: {chromium()}")
