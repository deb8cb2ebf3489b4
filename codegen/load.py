"""ops/*.yaml -> the model: validates the shape, parses the grammars, checks what the entries say about each other."""

import pathlib
from typing import Any, Callable

import cases as case_grammar
import signature
import values
from errors import Place, SpecError, did_you_mean
from infer_header import InferFunctions
from model import Arg, Case, ImportAttr, ImportRule, Op, Output
from shape_check import check_shape
from yaml_source import Document, Text


class _Entry:
    """One entry of a document while it is being read."""

    def __init__(self, document: Document, index: int, family: str, infer: InferFunctions):
        self.document = document
        self.index = index
        self.family = family
        self.infer = infer
        self.data: dict = document.data[index]
        self.name: str = self.data["api"]
        self.args: tuple[Arg, ...] = ()
        self.outputs: tuple[Output, ...] = ()

    def place(self, *path) -> Place:
        return self.document.place(self.index, *path)

    def fail(self, message: str, *path):
        label = ".".join(str(part) for part in path if isinstance(part, str))
        raise SpecError(self.place(*path), (f"{label}: " if label else "") + message)

    def text(self, *path) -> Text:
        return self.document.text(self.index, *path)

    def get(self, *path, default=None) -> Any:
        value = self.data
        for part in path:
            if not isinstance(value, dict) or part not in value:
                return default
            value = value[part]
        return value

    # -- Names of arguments and outputs.

    def arg_index(self, name: str, *path) -> int:
        for i, arg in enumerate(self.args):
            if arg.name == name:
                return i
        self.fail(
            f"'{name}' is no argument of {self.name}" + did_you_mean(name, [arg.name for arg in self.args]), *path
        )

    def output_index(self, name: str, *path) -> int:
        for i, output in enumerate(self.outputs):
            if output.name == name:
                return i
        known = [output.name for output in self.outputs]
        self.fail(f"'{name}' is no output of {self.name}" + did_you_mean(name, known), *path)

    def arg_indices(self, *path, default: tuple[int, ...] = ()) -> tuple[int, ...]:
        names = self.get(*path)
        if names is None:
            return default
        found = []
        for i, name in enumerate(names):
            index = self.arg_index(name, *path, i)
            if index in found:
                self.fail(f"'{name}' is here twice", *path, i)
            found.append(index)
        return tuple(found)

    # -- The parts of an entry.

    def read_signature(self) -> None:
        self.args = signature.parse_args(self.text("args"))
        self.outputs = signature.parse_outputs(self.text("output"))
        self._apply_optional()
        for i, name in enumerate(self.get("intermediate", default=[])):
            index = self.output_index(name, "intermediate", i)
            self._replace_output(index, Output(name, self.outputs[index].is_list, self.outputs[index].optional, True))
        if all(output.intermediate for output in self.outputs):
            self.fail("every output is intermediate; expected one that is returned", "intermediate")
        names = {arg.name for arg in self.args}
        for output in self.outputs:
            if output.name in names:
                self.fail(f"'{output.name}' names both an argument and an output", "output")
        if len(self.outputs) > 1 and any(output.is_list for output in self.outputs):
            if "control_flow" not in self.get("traits", default=[]):
                self.fail("a list must be the only output", "output")

    def _replace_output(self, index: int, output: Output) -> None:
        self.outputs = (*self.outputs[:index], output, *self.outputs[index + 1 :])

    def _apply_optional(self) -> None:
        for i, name in enumerate(self.get("optional", default=[])):
            if any(output.name == name for output in self.outputs):
                index = self.output_index(name)
                self._replace_output(index, Output(name, self.outputs[index].is_list, True))
                continue
            index = self.arg_index(name, "optional", i)
            arg = self.args[index]
            if arg.type.name not in ("Tensor", "optional<Tensor>"):
                self.fail(f"'{name}' is of type {arg.type.name}; expected a Tensor", "optional", i)
            optional = Arg(name, signature.TYPES["optional<Tensor>"], None, arg.place)
            self.args = (*self.args[:index], optional, *self.args[index + 1 :])

    def rule(self, key: str, type_: str) -> tuple[int, ...]:
        """kernel.data_type, backend or layout: attributes of the part's type, then perhaps a tensor."""
        if self.get("kernel", key) is None:
            return ()
        text = self.text("kernel", key)
        found = []
        tokens = signature.parse_rule(text, f"kernel.{key}")
        for token in tokens:
            index = next((i for i, arg in enumerate(self.args) if arg.name == token.text), -1)
            message = None
            if index < 0:
                known = [arg.name for arg in self.args]
                message = f"'{token.text}' is no argument of {self.name}" + did_you_mean(token.text, known)
            elif not self.args[index].is_tensor and self.args[index].type.name != type_:
                message = f"'{token.text}' is of type {self.args[index].type.name}; expected a {type_} or a tensor"
            elif self.args[index].is_tensor and token is not tokens[-1]:
                message = f"nothing may follow the tensor '{token.text}'; expected attributes first"
            if message:
                raise SpecError(text.at(token.offset), f"kernel.{key}: {message}")
            found.append(index)
        return tuple(found)

    def pairs(self, key: str) -> tuple[tuple[int, int], ...]:
        if self.get(key) is None:
            return ()
        found = []
        for arg, output in signature.parse_pairs(self.text(key), key):
            pair = (self.arg_index(arg.text, key), self.output_index(output.text, key))
            if not self.args[pair[0]].is_tensor or self.args[pair[0]].is_list != self.outputs[pair[1]].is_list:
                self.fail(f"'{arg.text}' and '{output.text}' cannot share memory; expected two tensors", key)
            found.append(pair)
        return tuple(found)

    def infer_meta(self) -> tuple[str | None, tuple[int, ...]]:
        func = self.get("infer_meta", "func")
        if func is None:
            if "control_flow" not in self.get("traits", default=[]):
                self.fail("the key 'infer_meta' is missing")
            return None, ()
        params = self.arg_indices("infer_meta", "param", default=tuple(range(len(self.args))))
        problem = self.infer.problem(func, [self.args[i] for i in params])
        if problem:
            self.fail(problem, "infer_meta", "func")
        return func, params

    def attribute(self, arg: Arg, value: Any, *path) -> Any:
        """A YAML value for an attribute, checked."""
        converted = values.from_yaml(arg.type, value)
        if not signature.value_fits(arg.type, converted):
            known = values.NAMES.get(arg.type.name)
            hint = did_you_mean(str(value), values.enumerator_names(arg.type.name)) if known else ""
            self.fail(f"expected a value of type {arg.type.name} for '{arg.name}', got '{value}'{hint}", *path)
        return converted

    # -- Import rules.

    def import_rules(self) -> tuple[ImportRule, ...]:
        rules = []
        for format_, entry in self.get("import", default={}).items():
            several = entry if isinstance(entry, list) else [entry]
            for i, rule in enumerate(several):
                path = ("import", format_, i) if isinstance(entry, list) else ("import", format_)
                rules.append(self._import_rule(format_, rule, path))
        return tuple(rules)

    def _import_rule(self, format_: str, rule: dict, path: tuple) -> ImportRule:
        inputs = self._import_tensors(rule, "inputs", path)
        outputs = self._import_tensors(rule, "outputs", path)
        attrs = tuple(
            self._import_attr(ours, spec, (*path, "attrs", ours)) for ours, spec in rule.get("attrs", {}).items()
        )
        since, until = rule.get("since", 1), rule.get("until")
        if until is not None and until < since:
            self.fail(f"until {until} comes before since {since}", *path, "until")
        given = {name for name, _ in inputs} | {attr.ours for attr in attrs}
        for arg in self.args:
            if arg.default is None and not arg.is_optional and arg.name not in given:
                self.fail(f"nothing gives the argument '{arg.name}', which has no default", *path)
        return ImportRule(
            format_, rule["type"], rule.get("domain", ""), since, until, inputs, outputs, attrs, self.place(*path)
        )

    def _import_tensors(self, rule: dict, key: str, path: tuple) -> tuple[tuple[str, str | None], ...]:
        spec = rule.get(key)
        if spec is None:
            return () if key == "inputs" else tuple((output.name, None) for output in self.outputs)
        pairs = list(spec.items()) if isinstance(spec, dict) else [(name, None) for name in spec]
        for i, (name, _) in enumerate(pairs):
            where = (*path, key, name if isinstance(spec, dict) else i)
            if name == "_" and not isinstance(spec, dict):
                continue  # theirs, which ours has no use for
            if key == "outputs":
                self.output_index(name, *where)
            elif not (arg := self.args[self.arg_index(name, *where)]).is_tensor and not arg.may_be_tensor:
                self.fail(f"'{name}' is of type {arg.type.name}; expected a tensor, a Scalar or an IntArray", *where)
        return tuple(pairs)

    def _import_attr(self, ours: str, spec: Any, path: tuple) -> ImportAttr:
        arg = self.args[self.arg_index(ours, *path)]
        if arg.is_tensor:
            self.fail(f"'{ours}' is a tensor; expected an attribute", *path)
        if isinstance(spec, str):
            return ImportAttr(ours, spec)
        if "value" in spec:
            return ImportAttr(ours, None, self.attribute(arg, spec["value"], *path, "value"))
        default = self.attribute(arg, spec["default"], *path, "default") if "default" in spec else None
        return ImportAttr(ours, spec["from"], default)

    # -- Cases.

    def cases(self) -> tuple[Case, ...]:
        found = []
        for i, case in enumerate(self.get("cases", default=[])):
            specs = {name: self._case_value(name, value, ("cases", i, name)) for name, value in case.items()}
            for arg in self.args:
                if arg.name not in specs and arg.default is None and not arg.is_optional:
                    self.fail(f"the argument '{arg.name}' is missing", "cases", i)
            try:
                spread = case_grammar.spread(specs)
            except ValueError as error:
                self.fail(str(error), "cases", i)
            text = ", ".join(f"{name}: {value}" for name, value in case.items())
            found += [Case(args, text, self.place("cases", i)) for args in spread]
        return tuple(found)

    def _case_value(self, name: str, value: Any, path: tuple) -> Any:
        arg = self.args[self.arg_index(name, *path)]
        what = f"cases: {name}"
        if arg.is_list and isinstance(value, list):
            return [
                case_grammar.parse_tensor(Text(str(item), self.place(*path, i), False), what)
                for i, item in enumerate(value)
            ]
        if arg.is_list:
            return case_grammar.parse_tensor_list(self.text(*path), what)
        if arg.is_tensor or (arg.may_be_tensor and isinstance(value, str) and "[" in value):
            return case_grammar.parse_tensor(self.text(*path), what)
        return self.attribute(arg, value, *path)

    def read(self) -> Op:
        self.read_signature()
        infer_func, infer_params = self.infer_meta()
        traits = tuple(self.get("traits", default=[]))
        blocks = self.get("blocks", default=0)
        if (blocks > 0) != ("control_flow" in traits):
            self.fail("blocks and the trait control_flow go together", "blocks" if blocks else "traits")
        if self.get("kernel") is not None and "control_flow" in traits:
            self.fail("control flow is run by the executor: expected no kernel", "kernel")
        view = self.pairs("view")
        return Op(
            name=self.name,
            family=self.family,
            doc=" ".join(self.get("doc", default="").split()),
            args=self.args,
            outputs=self.outputs,
            infer_func=infer_func,
            infer_params=infer_params,
            kernel=self.get("kernel", "func"),
            kernel_params=self.arg_indices("kernel", "param", default=tuple(range(len(self.args)))),
            data_type_rule=self.rule("data_type", "DataType"),
            backend_rule=self.rule("backend", "Target"),
            layout_rule=self.rule("layout", "DataLayout"),
            aliases=tuple(self.get("aliases", default=[])),
            inplace=self.pairs("inplace"),
            view=bool(view),
            support_trans_dtype=self.arg_indices("data_transform", "support_trans_dtype"),
            skip_transform=self.arg_indices("data_transform", "skip_transform"),
            promote=self.get("promote", default=False),
            traits=traits,
            blocks=blocks,
            imports=self.import_rules(),
            cases=self.cases(),
            tolerance={key: float(value) for key, value in self.get("tolerance", default={}).items()},
            place=self.place(),
        )


def _guard(errors: list[SpecError], read: Callable[[], Any]) -> Any:
    try:
        return read()
    except SpecError as error:
        errors.append(error)
        return None


def load_text(file: str, source: str, infer: InferFunctions, errors: list[SpecError]) -> list[Op]:
    """The operators of one file's text. What is wrong is added to `errors`; `file` is its name in messages."""
    document = _guard(errors, lambda: Document(file, source))
    if document is None:
        return []
    shape_errors = check_shape(document)
    errors += shape_errors
    if shape_errors:
        return []
    family = pathlib.PurePath(file).stem
    entries = [_Entry(document, i, family, infer) for i in range(len(document.data))]
    ops = [op for entry in entries if (op := _guard(errors, entry.read)) is not None]
    if len(entries) == 1 and ops and ops[0].name != family:
        errors.append(
            SpecError(ops[0].place, f"the file's only operator is '{ops[0].name}': expected {ops[0].name}.yaml")
        )
    return ops


def _check_unique(ops: list[Op], errors: list[SpecError]) -> None:
    taken: dict[str, Op] = {}
    rules: dict[tuple, ImportRule] = {}
    for op in ops:
        for name in (op.name, *op.aliases):
            other = taken.setdefault(name, op)
            if other is not op:
                errors.append(SpecError(op.place, f"the name '{name}' is taken by {other.name} ({other.place})"))
        for rule in op.imports:
            for key, other_rule in rules.items():
                overlap = rule.since <= (other_rule.until or rule.since) and other_rule.since <= (
                    rule.until or other_rule.since
                )
                if key[:3] == (rule.format, rule.domain, rule.type) and overlap:
                    where = f"{rule.format} {rule.type} is imported at {other_rule.place} already"
                    message = f"{where}; expected opsets that do not overlap"
                    errors.append(SpecError(rule.place, message))
                    break
            rules[(rule.format, rule.domain, rule.type, rule.since, rule.until)] = rule


def load_files(
    paths: list[pathlib.Path], infer: InferFunctions, names: dict[pathlib.Path, str]
) -> tuple[list[Op], list[SpecError]]:
    """All operators sorted by name, and everything that is wrong. `names` gives the files' names in messages."""
    errors: list[SpecError] = []
    ops: list[Op] = []
    for path in paths:
        ops += load_text(names[path], path.read_text(encoding="utf-8"), infer, errors)
    _check_unique(ops, errors)
    return sorted(ops, key=lambda op: op.name), errors
