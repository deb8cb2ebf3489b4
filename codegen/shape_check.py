"""Validates a document against ops/schema.json, with messages for people: where, and what was expected."""

import functools
import json
import pathlib

import jsonschema

from errors import SpecError, did_you_mean
from yaml_source import Document

SCHEMA = pathlib.Path(__file__).resolve().parent.parent / "ops" / "schema.json"
_WORDS = {list: "a list", dict: "a mapping", type(None): "nothing"}


@functools.cache
def _validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def _got(value) -> str:
    return _WORDS.get(type(value)) or f"'{value}'"


def _expected(schema) -> str:
    """The description of a schema, following references."""
    while isinstance(schema, dict) and "description" not in schema and "$ref" in schema:
        schema = _validator().schema["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    return schema.get("description", "something else") if isinstance(schema, dict) else "something else"


def _deepest(error: jsonschema.ValidationError) -> jsonschema.ValidationError:
    """Of the alternatives' errors, the one that is furthest in: the alternative that was meant."""
    while error.context:
        longest = max(len(child.absolute_path) for child in error.context)
        if longest == len(error.absolute_path):
            break
        error = next(child for child in error.context if len(child.absolute_path) == longest)
    return error


def _label(path: tuple) -> str:
    """The keys of a path within an entry: "kernel.data_type"."""
    return ".".join(str(part) for part in path[1:] if isinstance(part, str))


def _convert(document: Document, error: jsonschema.ValidationError) -> list[SpecError]:
    error = _deepest(error)
    path = tuple(error.absolute_path)
    prefix = _label(path) + ": " if _label(path) else ""
    if error.validator == "additionalProperties" and error.validator_value is False:
        known = set(error.schema.get("properties", {}))
        return [
            SpecError(
                document.key_place(*path, key),
                f"{prefix}unknown key '{key}'" + did_you_mean(str(key), known - set(error.instance)),
            )
            for key in error.instance
            if key not in known
        ]
    if error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        return [SpecError(document.place(*path), f"{prefix}the key '{missing[0]}' is missing")]
    if error.validator == "enum":
        message = f"unknown value {_got(error.instance)}" + did_you_mean(str(error.instance), error.validator_value)
        return [SpecError(document.place(*path), prefix + message)]
    return [SpecError(document.place(*path), f"{prefix}expected {_expected(error.schema)}, got {_got(error.instance)}")]


def check_shape(document: Document) -> list[SpecError]:
    """Everything in the document that the schema does not allow, in the order of the file."""
    if document.data is None:
        return [SpecError(document.place(), "the file is empty; expected a list of operators")]
    if not isinstance(document.data, list):
        return [SpecError(document.place(), "expected a list of operators, each beginning with '- api : NAME'")]
    found: dict[str, SpecError] = {}
    for error in _validator().iter_errors(document.data):
        for converted in _convert(document, error):
            found.setdefault(str(converted), converted)
    return sorted(found.values(), key=lambda e: (e.place.line, e.place.column))
