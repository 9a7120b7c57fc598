"""Free memory."""

from __future__ import annotations

from mahjong_env.basics.memory import free_memory, free_of_group


def test_is_read_where_the_system_tells_it(tmp_path):
    free = free_memory()
    assert free is None or free > 2**20
    group = tmp_path / "memory.max"
    group.write_text("3000000\n", encoding="utf-8")
    (tmp_path / "memory.current").write_text("2000000\n", encoding="utf-8")
    (tmp_path / "memory.stat").write_text("anon 100\ninactive_file 500000\nactive_file 7\n", encoding="utf-8")
    assert free_of_group(tmp_path) == 1_500_000
    group.write_text("max\n", encoding="utf-8")
    assert free_of_group(tmp_path) is None
