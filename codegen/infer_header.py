"""The InferMeta functions that a header declares, so that an entry is checked against them before C++ is compiled."""

import dataclasses
import pathlib
import re

from errors import Place, did_you_mean
from model import Arg

_DECLARATION = re.compile(
    r"^(?:wherry::)?(?:MetaTensor|std::vector<(?:wherry::)?MetaTensor>)\s+(\w+)\s*\(([^;{]*)\)\s*;", re.MULTILINE
)
_COMMENT = re.compile(r"//[^\n]*")

# What an argument may be passed as, by its type in YAML.
_ACCEPTED = {
    "Tensor": ("const MetaTensor&",),
    "optional<Tensor>": ("const MetaTensor*",),
    "vector<Tensor>": ("const std::vector<const MetaTensor*>&",),
    "int": ("int", "int64_t"),
    "int64_t": ("int64_t", "int"),
    "float": ("float", "double"),
    "double": ("double", "float"),
    "string": ("const std::string&",),
    "vector<bool>": ("const std::vector<bool>&",),
    "vector<int>": ("const std::vector<int64_t>&", "const std::vector<int>&"),
    "vector<int64_t>": ("const std::vector<int64_t>&", "const std::vector<int>&"),
    "vector<float>": ("const std::vector<double>&", "const std::vector<float>&"),
    "vector<double>": ("const std::vector<double>&", "const std::vector<float>&"),
    "vector<string>": ("const std::vector<std::string>&",),
    "Scalar": ("const SymScalar&", "const Scalar&"),
    "vector<Scalar>": ("const std::vector<Scalar>&",),
    "IntArray": ("const SymIntArray&", "const IntArray&"),
    "Epilogue": ("const Epilogue&",),
    "ElementwiseProgram": ("const ElementwiseProgram&",),
}


@dataclasses.dataclass(frozen=True)
class InferFunction:
    name: str
    params: tuple[str, ...]  # types, blanks normalised
    place: Place


def _split(params: str) -> list[str]:
    """At the commas that are not inside angle brackets."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(params):
        depth += (char == "<") - (char == ">")
        if char == "," and depth == 0:
            parts.append(params[start:i])
            start = i + 1
    return [*parts, params[start:]] if params.strip() else []


def _type_of(param: str) -> str:
    text = re.sub(r"\s+", " ", param.strip())
    text = re.sub(r"/\*.*?\*/", "", text).replace("wherry::", "").strip()
    match = re.fullmatch(r"(.*?[\s&*>])\s*[A-Za-z_]\w*", text)
    text = match.group(1) if match else text
    return re.sub(r"\s*([&*])\s*", r"\1", text).strip()


class InferFunctions:
    """Those of one header; without a header every name is taken as right."""

    def __init__(self, header: pathlib.Path | None, name: str = ""):
        self.header = header
        self._functions: dict[str, InferFunction] = {}
        if header is None:
            return
        source = _COMMENT.sub(lambda m: " " * len(m.group()), header.read_text(encoding="utf-8"))
        for match in _DECLARATION.finditer(source):
            place = Place(name or str(header), source.count("\n", 0, match.start()) + 1)
            params = tuple(_type_of(param) for param in _split(match.group(2)))
            self._functions[match.group(1)] = InferFunction(match.group(1), params, place)

    def problem(self, func: str, args: list[Arg]) -> str | None:
        """What is wrong with calling `func` with these arguments; None when nothing is."""
        if self.header is None:
            return None
        if func not in self._functions:
            return f"{self.header.name} declares no function '{func}'" + did_you_mean(func, self._functions)
        function = self._functions[func]
        if len(function.params) != len(args):
            return (
                f"{func} ({function.place}) takes {len(function.params)} parameters, "
                f"but {len(args)} arguments are passed: " + ", ".join(arg.name for arg in args)
            )
        for arg, param in zip(args, function.params):
            accepted = _ACCEPTED.get(arg.type.name, (arg.type.name,))
            if param not in accepted:
                return (
                    f"{func} ({function.place}) takes '{param}' where '{arg.name}' of type {arg.type.name} is passed; "
                    f"expected {' or '.join(accepted)}"
                )
        return None
