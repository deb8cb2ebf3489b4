"""Grammars of an entry's `args`, `output`, key rules and argument pairs.

args    : '(' [ arg { ',' arg } ] ')'
arg     : ['const'] type ['&'] NAME [ '=' value ]
type    : ['std' '::'] NAME [ '<' type '>' ]
value   : true | false | NUMBER | STRING | ENUM '::' NAME | '{' [ value { ',' value } ] '}'
outputs : output { ',' output }
output  : type [ '(' NAME ')' ]
rule    : NAME { '>' NAME }
pairs   : '(' pair { ',' pair } ')'          pair : NAME '->' NAME
"""

from typing import Any

from errors import did_you_mean
from model import TYPE_ALIASES, TYPES, Arg, ArgType, Default, Enumerator, Output
from scanner import Scanner, Token
from values import NAMES, find_enumerator
from yaml_source import Text


def _type_text(scanner: Scanner) -> str:
    if scanner.peek().text == "std" and scanner.peek(1).text == "::":
        scanner.take()
        scanner.take()
    name = scanner.name("a type").text
    if scanner.accept("<"):
        inner = _type_text(scanner)
        scanner.expect(">")
        return f"{name}<{TYPE_ALIASES.get(inner, inner)}>"
    return TYPE_ALIASES.get(name, name)


def _parse_type(scanner: Scanner) -> ArgType:
    start = scanner.peek()
    is_const = scanner.accept_word("const")
    name = _type_text(scanner)
    is_reference = scanner.accept("&")
    if name not in TYPES:
        scanner.fail(f"unknown type '{name}'" + did_you_mean(name, TYPES), start)
    found = TYPES[name]
    if found.by_value and is_reference:
        scanner.fail(f"{name} is passed by value: expected '{name} NAME'", start)
    if not found.by_value and not (is_const and is_reference):
        scanner.fail(f"expected 'const {name}& NAME'", start)
    return found


def _parse_enumerator(scanner: Scanner) -> Enumerator:
    start = scanner.name("a value")
    enum = TYPE_ALIASES.get(start.text, start.text)
    if enum not in NAMES:
        scanner.fail(
            f"unknown value '{start.text}'; expected a literal, or an enumerator of " + ", ".join(NAMES), start
        )
    scanner.expect("::")
    token = scanner.name(f"an enumerator of {enum}")
    name = find_enumerator(enum, token.text)
    if name is None:
        scanner.fail(f"{enum} has no enumerator '{token.text}'" + did_you_mean(token.text, NAMES[enum]), token)
    return Enumerator(enum, name)


def _parse_value(scanner: Scanner) -> Any:
    token = scanner.peek()
    if token.kind == "string":
        return scanner.string()
    if scanner.accept("{"):
        values = []
        while not scanner.accept("}"):
            if values:
                scanner.expect(",")
            values.append(_parse_value(scanner))
        return values
    if token.kind == "name" and token.text in ("true", "false"):
        return scanner.take().text == "true"
    if token.kind == "number" or scanner.at("-") or token.text in ("inf", "nan"):
        number = scanner.number("a number")
        is_integer = token.kind == "number" and not set(token.text) & set(".eEfF")
        return int(token.text.rstrip("L")) if is_integer else number
    return _parse_enumerator(scanner)


def _fits_scalar(name: str, value: Any) -> bool:
    if name == "bool":
        return isinstance(value, bool)
    if name in ("int", "int64_t"):
        bits = 31 if name == "int" else 63
        return isinstance(value, int) and not isinstance(value, bool) and -(2**bits) <= value < 2**bits
    if name in ("float", "double"):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if name == "string":
        return isinstance(value, str)
    if name == "Scalar":
        return isinstance(value, (bool, int, float))
    return isinstance(value, Enumerator) and value.enum == name


def value_fits(type_: ArgType, value: Any) -> bool:
    """Whether a value may stand where the type is asked for."""
    if type_.name in ("Epilogue", "ElementwiseProgram"):
        return isinstance(value, str) or value == []
    if type_.name == "IntArray":
        return isinstance(value, list) and all(_fits_scalar("int64_t", item) for item in value)
    if type_.name.startswith("vector<"):
        element = type_.name[len("vector<") : -1]
        return isinstance(value, list) and all(_fits_scalar(element, item) for item in value)
    if type_.kind == "kOptionalTensor":
        return False
    return _fits_scalar(type_.name, value)


def _parse_arg(scanner: Scanner, previous: list[Arg]) -> Arg:
    type_ = _parse_type(scanner)
    token = scanner.name("an argument's name")
    if any(arg.name == token.text for arg in previous):
        scanner.fail(f"argument '{token.text}' is here twice", token)
    default = None
    if scanner.accept("="):
        start = scanner.peek()
        value = _parse_value(scanner)
        if type_.kind == "kTensorList" and value == []:
            pass
        elif type_.kind != "kAttribute":
            scanner.fail(f"a tensor has no default; '{token.text}' could be a const optional<Tensor>&", start)
        elif not value_fits(type_, value):
            scanner.fail(f"expected a default of type {type_.name} for '{token.text}'", start)
        default = Default(value)
    elif previous and previous[-1].default is not None:
        scanner.fail(
            f"'{token.text}' has no default but follows '{previous[-1].name}', which has one; "
            "expected defaults on the last arguments only",
            token,
        )
    return Arg(token.text, type_, default, scanner.text.at(token.offset))


def parse_args(text: Text, what: str = "args") -> tuple[Arg, ...]:
    scanner = Scanner(text, what)
    args: list[Arg] = []
    scanner.expect("(")
    while not scanner.accept(")"):
        if args:
            scanner.expect(",")
        args.append(_parse_arg(scanner, args))
    scanner.finish()
    return tuple(args)


def parse_outputs(text: Text) -> tuple[Output, ...]:
    scanner = Scanner(text, "output")
    outputs: list[Output] = []
    unnamed: list[Token] = []
    while True:
        start = scanner.peek()
        name = _type_text(scanner)
        if name not in ("Tensor", "vector<Tensor>"):
            scanner.fail(f"expected Tensor or vector<Tensor>, got '{name}'", start)
        label = "out"
        if scanner.accept("("):
            label = scanner.name("the output's name").text
            scanner.expect(")")
        else:
            unnamed.append(start)
        if any(output.name == label for output in outputs):
            scanner.fail(f"output '{label}' is here twice; expected names, as in Tensor(out), Tensor(mask)", start)
        outputs.append(Output(label, name == "vector<Tensor>"))
        if not scanner.accept(","):
            break
    scanner.finish()
    if len(outputs) > 1 and unnamed:
        scanner.fail("several outputs need names, as in Tensor(out), Tensor(mask)", unnamed[0])
    return tuple(outputs)


def parse_rule(text: Text, what: str) -> list[Token]:
    """The names of "dtype > x", in order."""
    scanner = Scanner(text, what)
    names = [scanner.name("an argument's name")]
    while scanner.accept(">"):
        names.append(scanner.name("an argument's name"))
    scanner.finish()
    return names


def parse_pairs(text: Text, what: str) -> list[tuple[Token, Token]]:
    """The (argument, output) names of "(x -> out, y -> out2)"."""
    scanner = Scanner(text, what)
    pairs = []
    scanner.expect("(")
    while not scanner.accept(")"):
        if pairs:
            scanner.expect(",")
        argument = scanner.name("an argument's name")
        scanner.expect("->")
        pairs.append((argument, scanner.name("an output's name")))
    scanner.finish()
    return pairs
