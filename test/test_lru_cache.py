"""Cache of the most recently used values: its bound counts both generations."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tiledialect.lru_cache import LruCache


@pytest.mark.parametrize("limit", [1, 2, 3, 8, 9])
def test_no_more_values_are_kept_than_the_limit(limit: int):
    cache = LruCache[int, int](limit)
    for key in range(50):
        cache.put(key, key)
        cache.find(key // 2)
        cache.put(key % 3, key)
        assert cache.kept <= limit
        assert not cache.keys() & cache.old.keys()


def test_the_last_half_of_the_limit_is_kept():
    cache = LruCache[int, int](8)
    for key in range(50):
        cache.put(key, -key)
        assert all(cache.find(old) == -old for old in range(max(0, key - 3), key + 1))


def test_a_value_that_is_used_stays():
    cache = LruCache[int, int](4)
    for key in range(50):
        cache.put(key, key)
        assert cache.find(0) == 0
    assert cache.find(1) is None


def test_another_value_of_a_key_replaces_the_old_one():
    cache = LruCache[int, int](4)
    for key in (0, 1, 2):
        cache.put(key, key)
    cache.put(0, 7)
    assert cache.find(0) == 7
    assert cache.kept == 3


def test_threads_keep_to_the_limit():
    cache = LruCache[int, int](16)

    def use(start: int) -> bool:
        return all(cache.put(k, k) == k and cache.kept <= 16 for k in range(start, start + 500))

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(use, range(0, 2000, 500)))


def test_nothing_is_kept_after_a_drop():
    cache = LruCache[int, int](4)
    for key in range(3):
        cache.put(key, key)
    cache.drop()
    assert cache.kept == 0 and cache.find(0) is None
