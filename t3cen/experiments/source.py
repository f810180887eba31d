"""A source file without docstrings, comments and layout, which change no number: what its digest is of."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

_UNSAID = ("ctx", "kind", "type_comment")
_C_TOKENS = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""", re.DOTALL)


@dataclass(frozen=True)
class Import:
    """`from module import name as bound`, or `import module` where `name` is None."""

    module: str
    name: str | None
    bound: str


@dataclass(frozen=True)
class Module:
    """A parsed Python file."""

    tree: ast.Module

    @cached_property
    def digest(self) -> str:
        return digest(self.tree.body)

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        """Of the whole file, those inside functions too."""
        return tuple(imports(self.tree.body))

    @cached_property
    def imported(self) -> dict[str, Import]:
        """What names of the file's top level are imported as, by name."""
        return {found.bound: found for found in imports(self.tree.body, inside=False)}

    @cached_property
    def definitions(self) -> dict[str, list[ast.stmt]]:
        """By name, the statements of the top level that bind it; under `""` those that bind none and import nothing."""
        found: dict[str, list[ast.stmt]] = {}
        for statement in self.tree.body:
            if not isinstance(statement, ast.Import | ast.ImportFrom):
                for name in set(_bound(statement)) or {""}:
                    found.setdefault(name, []).append(statement)
        return found


@lru_cache(maxsize=1024)
def parse(text: str) -> Module:
    """The file with this text; one that was parsed before is not parsed again.

    Raises:
        SyntaxError: it is not Python.
    """
    return Module(ast.parse(text))


def imports(nodes: Iterable[ast.stmt], inside: bool = True) -> Iterator[Import]:
    """Every import of `nodes`, but for those that only type checkers see; with `inside`, those in functions and classes too."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, None, alias.asname or alias.name.partition(".")[0])
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                yield Import(node.module or "", alias.name, alias.asname or alias.name)
        elif isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING":
            yield from imports(node.orelse, inside)
        elif inside or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from imports((child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)), inside)  # type: ignore[misc]


@lru_cache(maxsize=4096)
def names(node: ast.AST) -> frozenset[str]:
    """Every name in a statement."""
    return frozenset(found.id for found in ast.walk(node) if isinstance(found, ast.Name))


def digest(nodes: Iterable[ast.AST], *more: str) -> str:
    """16 hex digits of what the statements do, and of `more`; the same in every version of Python."""
    return _short(repr([[_statement(node) for node in nodes if not _is_text(node)], *more]))


@lru_cache(maxsize=1024)
def c_digest(text: str) -> str:
    """The same of C: its lines without comments and indentation."""
    bare = _C_TOKENS.sub(lambda token: " " if token[0].startswith("/") else token[0], text)
    return _short("\n".join(" ".join(line.split()) for line in bare.splitlines() if line.strip()))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@lru_cache(maxsize=4096)
def _statement(node: ast.AST) -> Any:
    return _said(node)  # runs share most of them


def _said(value: Any) -> Any:
    if isinstance(value, ast.AST):
        fields = [(name, _said(item)) for name, item in ast.iter_fields(value) if name not in _UNSAID]
        return [type(value).__name__, *((name, item) for name, item in fields if item not in ("None", []))]
    if isinstance(value, list):
        return [_said(item) for item in value if not _is_text(item)]
    return repr(value)


def _is_text(node: Any) -> bool:
    """Whether a statement is a string by itself: a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    else:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield node.name
