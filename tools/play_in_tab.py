"""Writes the page that plays in a browser's tab without a server, as static files, and fetches what it needs.

`make pyodide` fetches Pyodide from npm's registry, and the numpy that is built for it. Pyodide's own list has the
digest of that numpy, so that it is the same file wherever it comes from. PyPI has no such wheel of numpy yet; the file
lies inside another project's wheel there, of which only those bytes are read.
"""

import hashlib
import io
import json
import sys
import tarfile
import zipfile
from base64 import b64encode
from pathlib import Path
from urllib.request import Request, urlopen

from mahjong_env.play.tab import tab_html

ROOT = Path(__file__).parents[1]
PACKAGES = Path(sys.prefix, "pyodide")
_LOCK = "pyodide-lock.json"
_PYODIDE = "https://registry.npmjs.org/pyodide/-/pyodide-0.28.3.tgz"
_DIGEST = "rtCsyTU55oNGpLzSVuAd55ZvruJDEX8o6keSdWKN9jPeBVSNlynaKFG7eRqkiIgU7i2M6HEgYtm0atCEQX3u4A=="
_FILES = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", _LOCK, "package.json")
# The carrier's licence covers only its own code; numpy's licence lies in numpy's wheel.
_CARRIER = (
    "https://files.pythonhosted.org/packages/56/df/7bf2b53aeed2a327a1a4affe5bdb04f41d33c4ccb85f3f5db17a74d3534d"
    "/open_webui-0.9.6-py3-none-any.whl"
)
_BYTES = 151_659_070


def _load(address, part=None):
    # ``part`` is the first and the last byte.
    headers = {} if part is None else {"Range": f"bytes={part[0]}-{part[1]}"}
    with urlopen(Request(address, headers=headers), timeout=120) as answer:
        if part is not None and answer.status != 206:
            raise SystemExit(f"{address}: the server sends no parts of files")
        return answer.read()


class _Remote(io.RawIOBase):
    """The carrier as a file, of which only the bytes that are read are fetched."""

    _at = 0

    def seekable(self):
        return True

    def readable(self):
        return True

    def seek(self, offset, whence=0):
        self._at = offset + (0, self._at, _BYTES)[whence]
        return self._at

    def readinto(self, buffer):
        wanted = min(len(buffer), _BYTES - self._at)
        buffer[:wanted] = _load(_CARRIER, (self._at, self._at + wanted - 1)) if wanted else b""
        self._at += wanted
        return wanted


def _numpy(files):
    return json.loads(files[_LOCK])["packages"]["numpy"]


def fetch(folder):
    """Fetch Pyodide and its numpy into a folder."""
    packed = _load(_PYODIDE)
    if b64encode(hashlib.sha512(packed).digest()).decode() != _DIGEST:
        raise SystemExit(f"{_PYODIDE} is not what it was")
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        files = {name: archive.extractfile(f"package/{name}").read() for name in _FILES}
    numpy = _numpy(files)
    with zipfile.ZipFile(io.BufferedReader(_Remote(), 2**18)) as archive:
        (inside,) = (name for name in archive.namelist() if name.endswith(f"/{numpy['file_name']}"))
        files[numpy["file_name"]] = archive.read(inside)
    if hashlib.sha256(files[numpy["file_name"]]).hexdigest() != numpy["sha256"]:
        raise SystemExit(f"{inside} of {_CARRIER} is not Pyodide's numpy")
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def packages():
    """Return the fetched files by name; None if `make pyodide` has not fetched them."""
    try:
        files = {name: (PACKAGES / name).read_bytes() for name in _FILES}
        name = _numpy(files)["file_name"]
        return {**files, name: (PACKAGES / name).read_bytes()}
    except FileNotFoundError:
        return None


def write(folder):
    """Write the page and what it loads, and return True; return False if the packages have not been fetched."""
    files = packages()
    if files is None:
        return False
    home = Path(folder, "python")
    home.mkdir(parents=True, exist_ok=True)
    for name, content in (files | {"mahjong_env.zip": _packed()}).items():
        (home / name).write_bytes(content)
    Path(folder, "index.html").write_text(tab_html(), encoding="utf-8")
    return True


def _packed():
    # Pack the packages like a checkout, whose pyproject.toml names the agents; the same files give the same bytes.
    found = {"pyproject.toml": ROOT / "pyproject.toml"}
    for package in (ROOT / "mahjong_env", ROOT / "agents" / "mahjong_agents"):
        files = (file for file in sorted(package.rglob("*")) if file.is_file() and file.suffix != ".pyc")
        found |= {file.relative_to(package.parent).as_posix(): file for file in files}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in found.items():
            archive.writestr(zipfile.ZipInfo(name), file.read_bytes(), zipfile.ZIP_DEFLATED)
    return packed.getvalue()


if __name__ == "__main__":
    fetch(PACKAGES)
    print(f"written: {PACKAGES}; make docs now builds the page that plays in a tab")
