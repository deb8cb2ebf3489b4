"""docs/reference/paddle.md, for reference_tables.py: Paddle's operators in both forms, what of them is read, what is missing and why.

What is read comes from the built command and, for attributes, from the rules in ops/*.yaml and the converters' sources;
what is missing from scripts/paddle_missing.yaml.
"""

import pathlib
import re

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
FORMS = {"paddle": "ProgramDesc", "pir": "PIR"}


def types_of(kernels: list[dict]) -> dict[str, list[str]]:
    """Operator of Wherry's -> element types that its reference kernels have, in the order of the kernels."""
    types: dict[str, list[str]] = {}
    for kernel in kernels:
        if kernel["provider"] == "ref":
            dtype = kernel["key"].split("/")[1]
            if dtype not in types.setdefault(kernel["op"], []):
                types[kernel["op"]].append(dtype)
    return types


def rule_attributes() -> dict[tuple[str, str], set[str]]:
    """(form, type) -> attributes that a rule reads."""
    found: dict[tuple[str, str], set[str]] = {}
    for path in sorted((ROOT / "ops").glob("*.yaml")):
        for entry in yaml.safe_load(path.read_text(encoding="utf-8")) or []:
            for form in FORMS:
                rules = entry.get("import", {}).get(form, [])
                for rule in rules if isinstance(rules, list) else [rules]:
                    names = found.setdefault((form, rule["type"]), set())
                    for source in (rule.get("attrs") or {}).values():
                        name = source.get("from") if isinstance(source, dict) else source
                        if name:
                            names.add(str(name))
    return found


def functions(text: str) -> dict[str, str]:
    """The functions of a source file, by name: from a line that begins one to the brace that ends it."""
    found = {}
    pattern = r"^(?:[\w:<>,*& ]+ )(\w+)\([^;{]*\) \{(?:([^\n]*)\}$|\n(.*?)\n\}$)"
    for match in re.finditer(pattern, text, re.DOTALL | re.MULTILINE):
        found[match.group(1)] = match.group(2) or match.group(3) or ""
    return found


READERS = re.compile(r"\b(?:Attr(?:<[^()]*?>)?|HasAttr|FindAttr|KnownInts?|KnownBound|IntsOf|OptionalInts|NumberOf|Positive(?:Attr)?|numbers|given)\(")


def read_names(body: str) -> set[str]:
    """The names that calls which read attributes (or tensors in place of them) are given, and those in loops over names."""
    names = set()
    for match in READERS.finditer(body):
        depth, end = 1, match.end()
        while depth > 0 and end < len(body):
            depth += {"(": 1, ")": -1}.get(body[end], 0)
            end += 1
        texts = re.findall(r'"(\w+)"', body[match.end() : end])
        names |= set(texts[:1] if match.group().startswith("Attr") else texts)  # what follows is the value without it
    for listed in re.findall(r"for \(const char\* (?:const )?\w+ : \{([^}]*)\}\)", body):
        names |= set(re.findall(r'"(\w+)"', listed))
    return names


def converter_reads(ops: set[str]) -> dict[tuple[str, str], tuple[set[str], set[str]]]:
    """(form, type) -> attributes that a converter reads and operators that it may become, by what its source names."""
    found = {}
    for path in sorted((ROOT / "src" / "importers" / "paddle").glob("convert_*.cc")):
        if path.stem.endswith("_test"):
            continue
        text = path.read_text(encoding="utf-8")
        bodies = functions(text)
        for form, kind, function in re.findall(r"REGISTER_CONVERTER\((\w+), (\w+),\s*&Convert<(\w+)(?:<[^()]*?>)?(?:, [\w:]+)*>\)", text):
            reached, waiting = set(), [function]
            while waiting:
                name = waiting.pop()
                if name in reached or name not in bodies:
                    continue
                reached.add(name)
                waiting += re.findall(r"\b([A-Z]\w+)(?:<\w+>)?\(", bodies[name])
            body = "\n".join(bodies[name] for name in sorted(reached))
            attributes = read_names(body)
            become = set(re.findall(r"\w+\((?:c, )?\"(\w+)\"", body)) & ops - attributes
            found[(form, kind)] = (attributes, become)
    return found


def code(names) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def page(ops: list[dict], imports: list[dict], kernels: list[dict]) -> str:
    """The page, from what `wherry list` says."""
    imports = [entry for entry in imports if entry["format"] in FORMS]
    types = types_of(kernels)
    rules = rule_attributes()
    converters = converter_reads({op["name"] for op in ops})
    missing = yaml.safe_load((ROOT / "scripts" / "paddle_missing.yaml").read_text(encoding="utf-8"))
    kinds = sorted({entry["type"] for entry in imports})
    read = {(entry["format"], entry["type"]): entry["op"] for entry in imports}
    for group in missing:
        for name in group["operators"]:
            assert name not in kinds, f"{name} is listed as missing, and is read"
    text = """# Paddle's operators

Written by `scripts/reference_tables.py` from the built command, the rules and the converters. `wherry show MODEL --check` says whether a certain model
runs; what it says of an operator that is not supported names the attribute and the place.

"""
    text += f"""Files: `.pdmodel` and `__model__` (ProgramDesc, as Paddle 1.8 to 3.3 write them) and `.json` (PIR, versions 0 to 4), each with its parameters beside
it or in a folder; both from memory too. {len([k for k in read if k[0] == 'paddle'])} operators are read in a ProgramDesc, {len([k for k in read if k[0] == 'pir'])} in PIR; control flow beside these.

What every operator has (`op_role` and its kin) and what is about devices is ignored. "Becomes" names the operators of Wherry's that do the work; their
element types are at the end of the page.

## What is read

| operator | forms | attributes and named inputs that are read | becomes |
| --- | --- | --- | --- |
"""
    used = set()
    for kind in kinds:
        forms = [form for form in FORMS if (form, kind) in read]
        attributes, become = set(), set()
        for form in forms:
            op = read[(form, kind)]
            if op:
                become.add(op)
                attributes |= rules.get((form, kind), set())
            else:
                more, into = converters.get((form, kind), (set(), set()))
                attributes |= more
                become |= into
        used |= become
        shown = code(become) if len(become) <= 4 else f"{len(become)} of Wherry's"
        text += f"| `{kind}` | {', '.join(FORMS[form] for form in forms)} | {code(attributes)} | {shown} |\n"
    text += "\n## What is missing\n\nAn operator that is neither here nor above is not known to inference programs.\n\n"
    for group in missing:
        text += f"- {group['reason']}: {code(group['operators'])}.\n"
    text += "\n## Element types\n\n| operator of Wherry's | types |\n| --- | --- |\n"
    for op in sorted(used):
        if op in types:
            text += f"| `{op}` | {', '.join(types[op])} |\n"
    return text
