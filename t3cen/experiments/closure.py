"""The modules that something in a package imports, and whatever those import: read in their text, not executed."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from pathlib import Path

from t3cen.experiments.source import Import, Module, c_digest, digest, imports, names, parse

C = (".c", ".h")


class Closure:
    """Grows by what is used.

    Args:
        package: its folder.
        by_name: modules of which only the definitions that are used count, by their full names; other modules count whole.
        beside: modules and packages that are left out, and what only they import.
        chosen: of a table (a dict display) in a module of `by_name` that has one of these, only these count.
    """

    def __init__(self, package: Path, by_name: Collection[str], beside: Collection[str], chosen: frozenset[str]) -> None:
        self.package, self.by_name, self.beside, self.chosen = package, by_name, beside, chosen
        self._whole: set[str] = set()
        self._definitions: dict[str, dict[str, list[ast.AST]]] = {}
        self._imports: dict[str, set[Import]] = {}
        self._modules_read: dict[str, Module] = {}
        self._paths: dict[str, Path | None] = {}
        self._left_out: dict[str, bool] = {}

    def use(self, name: str, attribute: str | None = None) -> None:
        """Take in a module, or what `from name import attribute` brings of it.

        Raises:
            ValueError: the package has no such thing.
        """
        if name not in self._left_out:
            self._left_out[name] = any(f"{name}.".startswith(f"{beside}.") for beside in self.beside)
        if self._left_out[name]:
            return
        path = self._path(name)
        if path is None:
            raise ValueError(f"there is no module {name} in {self.package}")
        if attribute is not None and path.name == "__init__.py":
            self._use_of_package(name, attribute)
        elif attribute is not None and name in self.by_name:
            self._use_definition(name, attribute)
        elif name not in self._whole:
            self._whole.add(name)
            for found in self._module(name).imports:
                self._follow(found)

    def use_target(self, target: str) -> None:
        """Take in what Hydra finds as `target`: `t3cen.data.MNIST`. Raises as `use`."""
        words = target.split(".")
        modules = [n for n in range(1, len(words)) if all(map(str.isidentifier, words)) and self._path(".".join(words[:n]))]
        if not modules:
            raise ValueError(f"there is no {target} in {self.package}")
        self.use(".".join(words[: modules[-1]]), words[modules[-1]])

    def use_entry(self, package: str, entry: str) -> None:
        """Take in what modules of `package` list as `entry`: a definition of that name, or one decorated or keyed with it.

        Raises:
            ValueError: there is none.
        """
        found = [
            (name, definition)
            for name in self._modules(package)
            for definition, statements in self._module(name).definitions.items()
            if definition == entry or any(entry in _listed_as(statement) for statement in statements)
        ]
        if not found:
            raise ValueError(f"there is no {entry!r} in {package} of {self.package}")
        for name, definition in found:
            self.use(name, definition)

    def digests(self) -> dict[str, str]:
        """What was used: by file, named from the package's folder on, with 16 hex digits of what it says."""
        found: dict[Path, str] = {}
        for name in {*self._whole, *self._definitions}:
            path = self._path(name)
            assert path is not None
            found[path] = self._module(name).digest if name in self._whole else self._digest_of_definitions(name)
        c_files = [file for folder in {path.parent for path in found} for file in _c_files(folder)]
        found |= {file: c_digest(file.read_text(encoding="utf-8")) for file in c_files}
        return {path.relative_to(self.package.parent).as_posix(): found[path] for path in sorted(found)}

    def _use_of_package(self, name: str, attribute: str) -> None:
        init = self._module(name)
        found = init.imported.get(attribute)
        if found is not None and found.module != name:  # from itself, it is one of its modules
            self._follow(found)
        elif attribute in init.definitions:
            self.use(name)
        elif self._path(f"{name}.{attribute}"):
            self.use(f"{name}.{attribute}")
        else:  # found when it is asked for, in whichever module has it
            homes = [module for module in self._modules(name) if attribute in self._module(module).definitions]
            if not homes:
                raise ValueError(f"there is no {attribute} in {name} of {self.package}")
            for module in homes:
                self.use(module, attribute)

    def _use_definition(self, name: str, definition: str) -> None:
        module, used = self._module(name), self._definitions.setdefault(name, {})
        if definition in used:
            return
        if not used and definition:
            self._use_definition(name, "")
        if definition in module.imported:
            self._imports.setdefault(name, set()).add(module.imported[definition])
            self._follow(module.imported[definition])
        elif definition in module.definitions:
            statements = module.definitions[definition]
            nodes = used[definition] = [node for statement in statements for node in self._chosen(statement)]
            for found in imports(statements):
                self._follow(found)
            for node in nodes:
                for found_name in names(node):
                    self._use_definition(name, found_name)
        elif not definition:
            used[""] = []

    def _chosen(self, statement: ast.stmt) -> list[ast.AST]:
        """A statement, or, of a table of alternatives, the entries that are used."""
        table = getattr(statement, "value", None)
        if isinstance(table, ast.Dict) and _listed_as(statement) & self.chosen:
            return [value for key, value in zip(table.keys, table.values, strict=True) if _text(key) in self.chosen]
        return [statement]

    def _digest_of_definitions(self, name: str) -> str:
        used = self._definitions[name]
        given = sorted(f"{found.bound} is {found.module} {found.name}" for found in self._imports.get(name, ()))
        return digest([node for definition in sorted(used) for node in used[definition]], *given)

    def _follow(self, found: Import) -> None:
        if found.module.partition(".")[0] == self.package.name:
            self.use(found.module, found.name)

    def _module(self, name: str) -> Module:
        if name not in self._modules_read:
            path = self._path(name)
            assert path is not None
            self._modules_read[name] = parse(path.read_text(encoding="utf-8"))
        return self._modules_read[name]

    def _path(self, name: str) -> Path | None:
        if name not in self._paths:
            base = self.package.joinpath(*name.split(".")[1:])
            files = base / "__init__.py", base.with_name(f"{base.name}.py")
            self._paths[name] = next((path for path in files if path.is_file()), None)
        return self._paths[name]

    def _modules(self, name: str) -> Iterator[str]:
        folder = self.package.joinpath(*name.split(".")[1:])
        for path in sorted(folder.iterdir()):
            if path.name.startswith("."):
                continue  # as macOS leaves them
            if (path.suffix == ".py" and path.stem != "__init__") or (path / "__init__.py").is_file():
                yield f"{name}.{path.stem}"


def _c_files(folder: Path) -> list[Path]:
    """C beside the modules of a package's folder, or in folders of it that are no packages themselves."""
    found = []
    for path in folder.iterdir():
        if path.suffix in C and not path.name.startswith("."):
            found.append(path)
        elif path.is_dir() and not (path / "__init__.py").exists():
            found += _c_files(path)
    return found


def _listed_as(statement: ast.stmt) -> set[str]:
    """The names under which a statement lists something: first arguments of decorators, keys of a table."""
    decorators = [node for node in getattr(statement, "decorator_list", ()) if isinstance(node, ast.Call)]
    table = getattr(statement, "value", None)
    listed = [*(node.args[0] for node in decorators if node.args), *(table.keys if isinstance(table, ast.Dict) else ())]
    return {text for node in listed if (text := _text(node))}


def _text(node: ast.AST | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
