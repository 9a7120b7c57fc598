"""Properties that are worked out when they are first asked for."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

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
