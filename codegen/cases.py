"""Grammar of the tensors in an entry's `cases`.

tensor : dtype '[' [ INT { ',' INT } ] ']' [ 'in' '[' NUMBER ',' NUMBER ']' ] [ '=' NUMBER { ',' NUMBER } ]
dtype  : NAME | '{' NAME { ',' NAME } '}'      a set makes one case of each; several sets are taken in step
list   : '[' [ tensor { ',' tensor } ] ']'
"""

import dataclasses
from typing import Any

from errors import did_you_mean
from model import CaseTensor
from scanner import Scanner
from yaml_source import Text

# As wherry::ToString(DataType) prints them: those that test data can be made of.
DTYPES = ("bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64")


@dataclasses.dataclass(frozen=True)
class TensorSpec:
    """A tensor of a case before its set of types is spread out."""

    dtypes: tuple[str, ...]
    tensor: CaseTensor

    def pick(self, i: int) -> CaseTensor:
        return dataclasses.replace(self.tensor, dtype=self.dtypes[i] if len(self.dtypes) > 1 else self.dtypes[0])


def _dtype(scanner: Scanner) -> str:
    token = scanner.name("a data type")
    if token.text not in DTYPES:
        scanner.fail(f"unknown data type '{token.text}'" + did_you_mean(token.text, DTYPES), token)
    return token.text


def _list(scanner: Scanner, item) -> list:
    """item { ',' item } up to a closing bracket."""
    items = []
    while not scanner.accept("]"):
        if items:
            scanner.expect(",")
        items.append(item())
    return items


def _tensor(scanner: Scanner) -> TensorSpec:
    if scanner.accept("{"):
        dtypes = [_dtype(scanner)]
        while scanner.accept(","):
            dtypes.append(_dtype(scanner))
        scanner.expect("}")
    else:
        dtypes = [_dtype(scanner)]
    scanner.expect("[")
    start = scanner.peek()
    shape = _list(scanner, lambda: scanner.integer("a dimension"))
    if any(dim < 0 for dim in shape):
        scanner.fail("expected dimensions of 0 or more", start)
    low = high = values = None
    if scanner.accept_word("in"):
        scanner.expect("[")
        low = scanner.number("the lowest value")
        scanner.expect(",")
        high = scanner.number("the highest value")
        scanner.expect("]")
        if not low <= high:
            scanner.fail(f"the range [{low}, {high}] is empty", start)
    if scanner.accept("="):
        first = scanner.peek()
        values = [scanner.number("a value")]
        # What follows a comma and is no number is the next tensor of a list.
        while scanner.at(",") and (scanner.peek(1).kind == "number" or scanner.peek(1).text in ("-", "inf", "nan")):
            scanner.take()
            values.append(scanner.number("a value"))
        count = 1
        for dim in shape:
            count *= dim
        if len(values) != count:
            scanner.fail(f"expected {count} values, got {len(values)}", first)
    return TensorSpec(tuple(dtypes), CaseTensor("", tuple(shape), low, high, None if values is None else tuple(values)))


def parse_tensor(text: Text, what: str) -> TensorSpec:
    scanner = Scanner(text, what)
    spec = _tensor(scanner)
    scanner.finish()
    return spec


def parse_tensor_list(text: Text, what: str) -> list[TensorSpec]:
    scanner = Scanner(text, what)
    scanner.expect("[")
    specs = _list(scanner, lambda: _tensor(scanner))
    scanner.finish()
    return specs


def spread(specs: dict[str, Any]) -> list[dict[str, Any]]:
    """One dict of CaseTensors for each data type of the sets; other values pass through. Raises ValueError."""
    flat = [spec for value in specs.values() for spec in (value if isinstance(value, list) else [value])]
    counts = {len(spec.dtypes) for spec in flat if isinstance(spec, TensorSpec) and len(spec.dtypes) > 1}
    if len(counts) > 1:
        raise ValueError("the sets of data types have different sizes; they are taken in step")

    def pick(value: Any, i: int) -> Any:
        if isinstance(value, list):
            return [pick(item, i) for item in value]
        return value.pick(i) if isinstance(value, TensorSpec) else value

    return [{name: pick(value, i) for name, value in specs.items()} for i in range(counts.pop() if counts else 1)]
