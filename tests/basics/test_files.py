"""Files that are replaced whole or not at all, and archives that hold more than they should."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest

from mahjong_agents.policy.file import PolicyFile
from mahjong_env.basics.files import read_arrays, read_entry, replacing
from mahjong_training.errors import WriteError
from mahjong_training.runtime import folders

GONE = 2**22 + 1
"""More than any process has as its number."""

KILLED = """
import os, sys
sys.addaudithook(lambda event, given: os.kill(os.getpid(), 9) if event == sys.argv[2] else None)
from pathlib import Path
from mahjong_training.runtime.folders import make_folder, write_bytes
write_bytes(Path(sys.argv[1]), b"new") if sys.argv[2] == "os.rename" else make_folder(Path(sys.argv[1]))
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def killed(path, moment):
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), moment], check=False)
    assert done.returncode == -9


def write_policy(path, data):
    PolicyFile("hebei", 0, {"width": 4}, {}).write(path)


WRITERS = [folders.write_bytes, write_policy]


@pytest.mark.skipif(not hasattr(os, "symlink") or os.name != "posix", reason="links need rights on Windows")
@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("whose", ["nobody", "mine", "of one that is gone"])
def test_no_link_is_followed(write, whose, tmp_path):
    """Whoever may write in the folder may put links there; what they point to is not the writer's to overwrite."""
    name = {"nobody": ".file.partial", "mine": f".file.{os.getpid()}.partial"}.get(whose, f".file.{GONE}.partial")
    (tmp_path / "precious").write_bytes(b"precious")
    (tmp_path / name).symlink_to(tmp_path / "precious")
    write(tmp_path / "file", b"new")
    assert (tmp_path / "precious").read_bytes() == b"precious"
    assert not (tmp_path / "file").is_symlink()


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path):
    for pid in (GONE, os.getpid()):  # numbers are given again, in containers at once
        (tmp_path / f".file.{pid}.partial").write_bytes(b"half")
    kept = (".file.partial", ".file.x.partial", ".other.1.partial", "file.1.partial", f".file.{os.getppid()}.partial")
    for name in kept:
        (tmp_path / name).write_bytes(b"mine")
    folders.write_bytes(tmp_path / "file", b"new")
    assert names(tmp_path) == sorted([*kept, "file"])
    assert all((tmp_path / name).read_bytes() == b"mine" for name in kept)


def half_written(path):
    with replacing(path) as file:
        file.write(b"half")
        raise ZeroDivisionError


def test_a_failure_leaves_what_was_there(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(ZeroDivisionError):
        half_written(tmp_path / "file")
    assert names(tmp_path) == ["file"]
    assert (tmp_path / "file").read_bytes() == b"old"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_pipes_and_devices_are_written_to_and_stay(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        folders.write_bytes(tmp_path / "pipe", b"new")
        assert os.read(reader, 9) == b"new"
    finally:
        os.close(reader)
    assert (tmp_path / "pipe").is_fifo()
    assert names(tmp_path) == ["pipe"]


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(WriteError, match="choose another --out"):
        folders.make_folder(tmp_path / "file" / "folder")


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="elsewhere the probe has a name for a moment")
def test_a_kill_leaves_no_probe(tmp_path):
    """Killed as a file is removed, where the system tells of that."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), "os.remove"], check=False)
    assert done.returncode in (0, -9)
    assert names(tmp_path) == []


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGKILL")
def test_a_kill_before_the_file_is_whole_leaves_the_old_one_and_the_next_writer_tidies_up(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    killed(tmp_path / "file", "os.rename")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert len(names(tmp_path)) == 2
    folders.write_bytes(tmp_path / "file", b"new")
    assert names(tmp_path) == ["file"]


MOST = 2**16
ARRAYS = {"one": np.arange(6).reshape(2, 3), "two": np.array(1.5), "three": np.zeros(0, np.int8)}
BOMB = 2**26  # bytes of zeros: 64 kB as a zip


def zipped(method=zipfile.ZIP_DEFLATED, **entries):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(f"{name}.npy", content)
    return data.getvalue()


def npy(array):
    data = io.BytesIO()
    np.save(data, array)
    return data.getvalue()


def header(text, version=1):
    length = len(text).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode()


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_what_numpy_has_written_is_read(save):
    data = io.BytesIO()
    save(data, **ARRAYS)
    found = read_arrays(data.getvalue(), MOST)
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype
    assert read_arrays(data.getvalue(), MOST, names=("two",)).keys() == {"two"}
    with pytest.raises(KeyError):
        read_arrays(data.getvalue(), MOST, names=("four",))


def lying(data, size):
    """The same zip, whose directory says that its entry is this long when unpacked."""
    at = data.rindex(b"PK\x01\x02") + 24
    return data[:at] + struct.pack("<I", size) + data[at + 4 :]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (zipped(bomb=bytes(BOMB)), r"bomb.npy would take 64.0 MiB unpacked; the limit is 65536 bytes"),
        (zipped(one=npy(np.zeros(MOST - 200, np.int8)), two=bytes(MOST)), "two.npy would take"),
        (lying(zipped(bomb=bytes(BOMB)), 1000), "Bad CRC-32"),
        (lying(zipped(zipfile.ZIP_BZIP2, bomb=bytes(BOMB)), 1000), "uses a compression method that is not supported"),
        (lying(zipped(zipfile.ZIP_LZMA, bomb=bytes(BOMB)), 1000), "uses a compression method that is not supported"),
        (zipped(long=header("{" + " " * 20_000 + "}", 2)), "long.npy is not a plain array"),
        (
            zipped(object=header("{'descr': '|O', 'fortran_order': False, 'shape': ()}")),
            "object.npy is not a plain array",
        ),
        (zipped(pickle=b"cos\nsystem\n(S'true'\ntR."), "pickle.npy is not a plain array"),
    ],
    ids=["bomb", "two", "lying", "bzip2", "lzma", "header", "objects", "pickle"],
)
def test_what_is_too_large_or_no_array_is_refused_before_it_is_unpacked(data, message):
    tracemalloc.start()
    try:
        with pytest.raises((ValueError, zipfile.BadZipFile), match=message) as refused:
            read_arrays(data, MOST)
        assert tracemalloc.get_traced_memory()[1] < BOMB / 8
    finally:
        tracemalloc.stop()
    assert "allow_pickle" not in str(refused.value)
    assert "trust" not in str(refused.value)


def test_an_entry_is_read_whole():
    with zipfile.ZipFile(io.BytesIO(zipped(one=b"123", none=b""))) as archive:
        assert read_entry(archive, "one.npy", 3) == b"123"
        assert read_entry(archive, "none.npy", 0) == b""
        with pytest.raises(ValueError, match=r"one.npy would take 3 bytes unpacked; the limit is 2 bytes"):
            read_entry(archive, "one.npy", 2)
