"""NAME_ops.cc: the operators of a program or plug-in: descriptors that register themselves, and the functions.

One file, so that nothing needs a symbol that another plug-in's operator of the same name could take over, and a static
library's descriptors are linked with the functions.
"""

from emit_eager import emit_functions
from emit_import import emit_rules
from emit_schema import emit_constants, emit_descriptors
from model import Op
from output import Target


def emit_extension(ops: list[Op], target: Target) -> str:
    lines = [target.banner, "\n#include <tuple>\n#include <vector>\n\n"]
    lines.append(f'#include "{target.infer_include}"\n' if target.infer_include else "")
    lines.append(f'#include "{target.extension}_ops.h"\n')
    rules = emit_rules(ops)
    headers = ["eager/op_call.h", "op/infer_meta_context.h", "op/op_schema.h", "op/pending.h"]
    for header in sorted(headers + (["importer/import_rule.h"] if rules else [])):
        lines.append(f'#include "wherry/detail/{header}"\n')
    lines += ["\nnamespace wherry {\nnamespace {\n\n", emit_constants(ops)]
    lines.append(emit_descriptors(ops, "constinit const OpDescriptor"))
    lines += [f"const PendingNode<OpDescriptor> {op.name}_node{{&wherry_op_{op.name}}};\n" for op in ops]
    if rules:
        lines += ["\n", rules, "\nconstexpr ImportRuleSet kRuleSet = {kRules};\n"]
        lines.append("const PendingNode<ImportRuleSet> import_rules_node{&kRuleSet};\n")
    lines += ["\n}  // namespace\n\n", emit_functions(ops), "\n}  // namespace wherry\n"]
    # What USE_OP refers to.
    anchors = [f"wherry_op_{op.name}_anchor" for op in ops]
    lines.append('\nextern "C" {\n')
    lines += [f"extern const char {anchor};\nconst char {anchor} = 0;\n" for anchor in anchors]
    lines.append("}\n")
    return "".join(lines)
