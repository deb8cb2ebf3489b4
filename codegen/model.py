"""What the YAML says, as data: one model that every emitter reads."""

import dataclasses
from typing import Any

from errors import Place


@dataclasses.dataclass(frozen=True)
class ArgType:
    """A type that an argument may have."""

    name: str  # as in YAML without const, & and std::
    kind: str  # an enumerator of wherry::ArgKind
    attr: str  # an enumerator of wherry::AttrType
    by_value: bool  # written `T x`, not `const T& x`
    public: str  # the parameter's type in the public API
    stored: str = ""  # what Attribute keeps, where it is not the type itself


def _types() -> dict[str, ArgType]:
    def vector(of: str) -> str:
        return f"const std::vector<{of}>&"

    rows = [
        ArgType("Tensor", "kTensor", "kNone", False, "const Tensor&"),
        ArgType("optional<Tensor>", "kOptionalTensor", "kNone", False, "const Tensor&"),
        ArgType("vector<Tensor>", "kTensorList", "kNone", False, vector("Tensor")),
        ArgType("bool", "kAttribute", "kBool", True, "bool"),
        ArgType("int", "kAttribute", "kInt", True, "int", "int64_t"),
        ArgType("int64_t", "kAttribute", "kInt", True, "int64_t"),
        ArgType("float", "kAttribute", "kFloat", True, "float", "double"),
        ArgType("double", "kAttribute", "kFloat", True, "double"),
        ArgType("string", "kAttribute", "kString", False, "const std::string&"),
        ArgType("vector<bool>", "kAttribute", "kBools", False, vector("bool")),
        ArgType("vector<int>", "kAttribute", "kInts", False, vector("int"), "std::vector<int64_t>"),
        ArgType("vector<int64_t>", "kAttribute", "kInts", False, vector("int64_t")),
        ArgType("vector<float>", "kAttribute", "kFloats", False, vector("float"), "std::vector<double>"),
        ArgType("vector<double>", "kAttribute", "kFloats", False, vector("double")),
        ArgType("vector<string>", "kAttribute", "kStrings", False, vector("std::string")),
        ArgType("Scalar", "kAttribute", "kScalar", False, "const Scalar&"),
        ArgType("vector<Scalar>", "kAttribute", "kScalars", False, vector("Scalar")),
        ArgType("IntArray", "kAttribute", "kIntArray", False, "const IntArray&"),
        ArgType("DataType", "kAttribute", "kDataType", True, "DataType"),
        ArgType("DataLayout", "kAttribute", "kDataLayout", True, "DataLayout"),
        ArgType("Target", "kAttribute", "kTarget", True, "Target"),
        ArgType("Epilogue", "kAttribute", "kEpilogue", False, ""),
        ArgType("ElementwiseProgram", "kAttribute", "kElementwiseProgram", False, ""),
    ]
    return {row.name: row for row in rows}


TYPES = _types()
# The source document calls the target a backend.
TYPE_ALIASES = {"Backend": "Target"}


@dataclasses.dataclass(frozen=True)
class Enumerator:
    """DataType::kFloat and the like, by Wherry's own enumerator."""

    enum: str
    name: str


@dataclasses.dataclass(frozen=True)
class Default:
    """A default value: bool, int, float, str, Enumerator, or a list of those."""

    value: Any


@dataclasses.dataclass(frozen=True)
class Arg:
    name: str
    type: ArgType
    default: Default | None
    place: Place

    @property
    def is_tensor(self) -> bool:
        return self.type.kind != "kAttribute"

    @property
    def is_optional(self) -> bool:
        return self.type.kind == "kOptionalTensor"

    @property
    def is_list(self) -> bool:
        return self.type.kind == "kTensorList"

    @property
    def may_be_tensor(self) -> bool:
        return self.type.name in ("IntArray", "Scalar")


@dataclasses.dataclass(frozen=True)
class Output:
    name: str
    is_list: bool
    optional: bool = False
    intermediate: bool = False


@dataclasses.dataclass(frozen=True)
class ImportAttr:
    """One attribute of ours: from one of theirs (with an optional other default), or a constant."""

    ours: str
    theirs: str | None
    value: Any = None  # the default when theirs is absent, or the constant; None: the schema's default


@dataclasses.dataclass(frozen=True)
class ImportRule:
    format: str
    type: str
    domain: str
    since: int
    until: int | None
    inputs: tuple[tuple[str, str | None], ...]  # (ours, theirs); theirs is None where position decides
    outputs: tuple[tuple[str, str | None], ...]
    attrs: tuple[ImportAttr, ...]
    place: Place


@dataclasses.dataclass(frozen=True)
class CaseTensor:
    dtype: str
    shape: tuple[int, ...]
    low: float | None = None
    high: float | None = None
    values: tuple[float, ...] | None = None


@dataclasses.dataclass(frozen=True)
class Case:
    """One test case: argument name -> CaseTensor, list of them, or an attribute's value."""

    args: dict[str, Any]
    text: str  # as a person would write it
    place: Place


@dataclasses.dataclass(frozen=True)
class Op:
    name: str
    family: str  # the YAML file's stem
    doc: str
    args: tuple[Arg, ...]
    outputs: tuple[Output, ...]
    infer_func: str | None
    infer_params: tuple[int, ...]
    kernel: str | None
    kernel_params: tuple[int, ...]
    data_type_rule: tuple[int, ...]
    backend_rule: tuple[int, ...]
    layout_rule: tuple[int, ...]
    aliases: tuple[str, ...]
    inplace: tuple[tuple[int, int], ...]
    view: bool
    support_trans_dtype: tuple[int, ...]
    skip_transform: tuple[int, ...]
    promote: bool
    traits: tuple[str, ...]
    blocks: int
    imports: tuple[ImportRule, ...]
    cases: tuple[Case, ...]
    tolerance: dict[str, float]
    place: Place

    def arg_index(self, name: str) -> int:
        return next((i for i, arg in enumerate(self.args) if arg.name == name), -1)

    def output_index(self, name: str) -> int:
        return next((i for i, output in enumerate(self.outputs) if output.name == name), -1)

    @property
    def tensor_args(self) -> tuple[Arg, ...]:
        return tuple(arg for arg in self.args if arg.is_tensor)

    def is_pass_only(self, arg: Arg) -> bool:
        """An argument that only passes set: an epilogue, and the operands that its steps refer to."""
        if arg.type.name == "Epilogue":
            return True
        return arg.name == "operands" and any(other.type.name == "Epilogue" for other in self.args)

    @property
    def api_args(self) -> tuple[Arg, ...]:
        return tuple(arg for arg in self.args if not self.is_pass_only(arg))

    @property
    def api_outputs(self) -> tuple[Output, ...]:
        return tuple(output for output in self.outputs if not output.intermediate)

    @property
    def has_api(self) -> bool:
        """Whether users may call it: there is a kernel to run, and every argument has a public type."""
        if "control_flow" in self.traits or self.kernel is None:
            return False
        return all(arg.type.public for arg in self.api_args)
