"""Things by name, each known by being in the folder of its kind."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, cast

T = TypeVar("T")
S = TypeVar("S", bound=Callable[..., Any])


class Registry(Mapping[str, T]):
    """Things by name, registered by decorators in the modules of one package.

    Whoever asks first what there is has every module of the package imported, so that a new file needs no list; until then
    nothing is.

    Args:
        package: the full name of the package, such as `t3cen.data`.
    """

    def __init__(self, package: str) -> None:
        self.package = package
        self._things: dict[str, T] = {}
        self._complete = False

    def add(self, name: str, thing: T) -> None:
        """Register under any name.

        Raises:
            ValueError: the name is taken.
        """
        if name in self._things:
            raise ValueError(f"{self.package}: {name!r} is registered already; give the second one another name")
        self._things[name] = thing

    def register(self, thing: S) -> S:
        """Decorate a class or function, to be known by its own name. Raises as `add`."""
        self.add(thing.__name__, cast(T, thing))
        return thing

    def exported(self, name: str) -> T:
        """An attribute of the package, for its `__getattr__`: a registered class.

        Raises:
            AttributeError: there is none of that name.
        """
        # Only classes begin with a capital: asking for a submodule must not import all the others.
        if name[:1].isupper() and name in self:
            return self[name]
        known = f"; it has {', '.join(sorted(self))}" if name[:1].isupper() else ""
        raise AttributeError(f"{self.package} has no {name!r}{known}")

    def _all(self) -> dict[str, T]:
        if not self._complete:
            for module in pkgutil.iter_modules(importlib.import_module(self.package).__path__):
                importlib.import_module(f"{self.package}.{module.name}")
            self._complete = True
        return self._things

    def __getitem__(self, name: str) -> T:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())
