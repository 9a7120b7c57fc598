"""Properties that are worked out when they are first asked for."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeVar

_Answer = TypeVar("_Answer")

if TYPE_CHECKING:
    lazy = cached_property
else:

    class lazy(cached_property):  # noqa: N801 a decorator, named as decorators are
        """`functools.cached_property` without the lock that it takes, for a microsecond, until Python 3.12."""

        def __get__(self, instance: Any, owner: type) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value


class Answers:
    """A store of what functions have answered about an object; nothing that they look at may change afterwards."""

    def once(self, ask: Callable[[Self], _Answer]) -> _Answer:
        """Return the answer of a function for this object; it is called only once."""
        if ask not in self._answers:
            self._answers[ask] = ask(self)
        answer: _Answer = self._answers[ask]
        return answer

    @lazy
    def _answers(self) -> dict[Any, Any]:
        return {}
