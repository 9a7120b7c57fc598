"""Properties that are worked out when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

_Value = TypeVar("_Value")


class lazy(Generic[_Value]):  # noqa: N801 a decorator, named as decorators are
    """As `functools.cached_property`, without the lock that it takes, for a microsecond, until Python 3.12."""

    def __init__(self, work_out: Callable[[Any], _Value]) -> None:
        """Decorate a method."""
        self._work_out, self._name = work_out, work_out.__name__
        self.__doc__ = work_out.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> _Value: ...

    def __get__(self, instance: Any, owner: type) -> _Value | Self:
        """Work it out; the instance then has an attribute of that name, which is found first."""
        if instance is None:
            return self
        value: _Value = self._work_out(instance)
        instance.__dict__[self._name] = value
        return value
