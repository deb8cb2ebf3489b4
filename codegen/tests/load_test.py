"""What the loader reads and what it refuses: the message names the file, the line and what was expected."""

import json
import pathlib
import re
import sys
import tempfile
import textwrap
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from infer_header import InferFunctions  # noqa: E402
from load import load_files, load_text  # noqa: E402
from model import Default, Enumerator  # noqa: E402
from yaml_source import Document  # noqa: E402

TESTS = pathlib.Path(__file__).resolve().parent
OPS = TESTS.parent.parent / "ops"
NO_HEADER = InferFunctions(None)

RELU = """\
- api : relu
  args : (const Tensor& x)
  output : Tensor
  infer_meta :
    func : UnaryInferMeta
  kernel :
    func : relu
"""


def load(text, infer=NO_HEADER, file="ops/relu.yaml"):
    errors = []
    ops = load_text(file, text, infer, errors)
    return ops, [str(error) for error in errors]


class SourceDocumentTest(unittest.TestCase):
    """source_entries.yaml holds the two entries of the document that the format comes from, to the letter."""

    def setUp(self):
        self.text = (TESTS / "source_entries.yaml").read_text(encoding="utf-8")

    def test_the_entries_load_as_they_stand(self):
        ops, errors = load(self.text, file="source_entries.yaml")
        self.assertEqual(errors, [])
        matmul, full_like = ops
        self.assertEqual([arg.name for arg in matmul.args], ["x", "y", "transpose_x", "transpose_y"])
        self.assertEqual([arg.type.name for arg in matmul.args], ["Tensor", "Tensor", "bool", "bool"])
        self.assertEqual([arg.default for arg in matmul.args], [None, None, Default(False), Default(False)])
        self.assertEqual([output.name for output in matmul.outputs], ["out"])
        self.assertEqual((matmul.infer_func, matmul.infer_params), ("MatmulInferMeta", (0, 1, 2, 3)))
        self.assertEqual((matmul.kernel, matmul.kernel_params), ("matmul_v2", (0, 1, 2, 3)))

        self.assertEqual(full_like.args[2].default, Default(Enumerator("DataType", "kUndefined")))
        self.assertEqual(full_like.args[3].type.name, "Target")
        self.assertEqual(full_like.infer_params, (0, 2, 4))
        self.assertEqual((full_like.kernel, full_like.kernel_params), ("fill_any_like", (0, 1)))
        self.assertEqual(full_like.data_type_rule, (2, 0))
        self.assertEqual(full_like.backend_rule, (3, 0))
        self.assertEqual(full_like.layout_rule, (4, 0))

    def test_they_are_wherrys_own(self):
        for entry in Document("source_entries.yaml", self.text).data:
            path = OPS / f"{entry['api']}.yaml"
            own = Document(path.name, path.read_text(encoding="utf-8")).data[0]
            self.assertEqual({key: own[key] for key in entry}, entry)


class DocumentationTest(unittest.TestCase):
    """What docs/op_entries.md shows."""

    def test_its_examples_load(self):
        text = (OPS.parent / "docs" / "op_entries.md").read_text(encoding="utf-8")
        entry, rules = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
        self.assertEqual(load(entry, file="full_like.yaml")[1], [])
        leaky_relu = RELU.replace("relu", "leaky_relu").replace("Tensor& x)", "Tensor& x, float negative_slope = 0.01)")
        ops, errors = load(leaky_relu + rules, file="leaky_relu.yaml")
        self.assertEqual(errors, [])
        self.assertEqual([rule.type for rule in ops[0].imports], ["leaky_relu", "leaky_relu", "LeakyRelu"])

    def test_it_names_every_key(self):
        text = (OPS.parent / "docs" / "op_entries.md").read_text(encoding="utf-8")
        schema = json.loads((OPS / "schema.json").read_text(encoding="utf-8"))
        keys = set(schema["$defs"]["op"]["properties"])
        self.assertEqual({key for key in keys if f"`{key}" not in text}, set())


class LoadTest(unittest.TestCase):
    def test_every_file_of_the_tree(self):
        paths = sorted(OPS.rglob("*.yaml"))
        header = OPS.parent / "src" / "op" / "infer" / "infer_meta.h"
        infer = InferFunctions(header)
        ops, errors = load_files(paths, infer, {path: path.name for path in paths})
        self.assertEqual([str(error) for error in errors], [])
        self.assertGreater(len(ops), 70)
        without_doc = [op.name for op in ops if not op.doc]
        self.assertEqual(without_doc, [])

    def test_numbers_follow_yaml_1_2(self):
        document = Document("x.yaml", "[1e-6, .5, -3, true, yes, on, 1_000, .inf]")
        self.assertEqual(document.data, [1e-6, 0.5, -3, True, "yes", "on", "1_000", float("inf")])

    def test_lines_of_folded_arguments(self):
        text = RELU.replace("(const Tensor& x)", "(const Tensor& x,\n          bool a = 3)")
        self.assertEqual(load(text)[1], ["ops/relu.yaml:3:20: args: expected a default of type bool for 'a'"])

    def test_sets_of_types_make_one_case_each(self):
        ops, errors = load(RELU + '  cases :\n    - {x: "{f32, f64}[2,3] in [0, 1]"}\n')
        self.assertEqual(errors, [])
        self.assertEqual([case.args["x"].dtype for case in ops[0].cases], ["f32", "f64"])
        self.assertEqual(ops[0].cases[0].args["x"].shape, (2, 3))

    def test_functions_that_do_not_exist_or_take_other_things(self):
        with tempfile.TemporaryDirectory() as folder:
            header = pathlib.Path(folder) / "infer_meta.h"
            header.write_text(
                "// MetaTensor OldInferMeta(const MetaTensor& x);\n"
                "MetaTensor UnaryInferMeta(const MetaTensor& x);\n"
                "MetaTensor BinaryInferMeta(const MetaTensor& x,\n                           const MetaTensor& y);\n"
                "std::vector<MetaTensor> SplitInferMeta(const std::vector<const MetaTensor*>& xs);\n"
            )
            infer = InferFunctions(header, "infer_meta.h")
            self.assertEqual(load(RELU, infer)[1], [])
            for func, message in {
                "UnaryInfer": "infer_meta.h declares no function 'UnaryInfer'; did you mean 'UnaryInferMeta' or "
                "'BinaryInferMeta'?",
                "OldInferMeta": "infer_meta.h declares no function 'OldInferMeta'; did you mean ",
                "BinaryInferMeta": "BinaryInferMeta (infer_meta.h:3) takes 2 parameters, but 1 arguments are passed: x",
                "SplitInferMeta": "SplitInferMeta (infer_meta.h:5) takes 'const std::vector<const MetaTensor*>&' where "
                "'x' of type Tensor is passed; expected const MetaTensor&",
            }.items():
                with self.subTest(func):
                    _, errors = load(RELU.replace("UnaryInferMeta", func), infer)
                    self.assertEqual(len(errors), 1)
                    self.assertTrue(errors[0].startswith(f"ops/relu.yaml:5:12: infer_meta.func: {message}"), errors[0])

    def test_names_are_unique_in_the_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / name for name in ("unary.yaml", "other.yaml")]
            second = RELU.replace("relu", "tanh") + "  aliases : [relu]\n"
            imports = "  import :\n    onnx : {type: Relu, since: SINCE, inputs: [x]}\n"
            paths[0].write_text(RELU + imports.replace("SINCE", "7") + RELU.replace("relu", "sigmoid"))
            paths[1].write_text(second + imports.replace("SINCE", "14") + RELU.replace("relu", "erf"))
            _, errors = load_files(paths, NO_HEADER, {path: path.name for path in paths})
            self.assertEqual(
                [str(error) for error in errors],
                [
                    "other.yaml:1:3: the name 'relu' is taken by relu (unary.yaml:1:3)",
                    "other.yaml:10:12: onnx Relu is imported at unary.yaml:9:12 already; expected opsets that do not "
                    "overlap",
                ],
            )


# (what, change of RELU, the message without "ops/relu.yaml:")
BAD = [
    ("not YAML", ("  output : Tensor\n", "  output : [\n"), "5:10: not YAML: expected ',' or ']', but got ':'"),
    (
        "a key twice",
        ("  output : Tensor\n", "  output : Tensor\n  output : Tensor\n"),
        "4:3: the key 'output' is here twice",
    ),
    ("no list", ("- api", "  api"), "1:3: expected a list of operators, each beginning with '- api : NAME'"),
    ("unknown key", ("  kernel", "  kernal"), "6:3: unknown key 'kernal'; did you mean 'kernel'?"),
    (
        "unknown inner key",
        ("    func : relu", "    func : relu\n    dtype : x"),
        "8:5: kernel: unknown key 'dtype'; did you mean ",
    ),
    ("missing key", ("  output : Tensor\n", ""), "1:3: the key 'output' is missing"),
    ("missing infer_meta", ("  infer_meta :\n    func : UnaryInferMeta\n", ""), "1:3: the key 'infer_meta' is missing"),
    (
        "a list for a text",
        ("output : Tensor", "output : [Tensor]"),
        "3:12: output: expected Tensor, Tensor(a), Tensor(b), or ",
    ),
    ("bad op name", ("api : relu", "api : ReLU"), "1:9: api: expected a lower-case name, as in full_like, got 'ReLU'"),
    ("unknown type", ("const Tensor& x", "const Tensr& x"), "2:11: args: unknown type 'Tensr'; did you mean 'Tensor'?"),
    ("no type", ("(const Tensor& x)", "(x)"), "2:11: args: unknown type 'x'; expected one of: DataLayout, DataType, "),
    ("tensor by value", ("const Tensor& x", "Tensor x"), "2:11: args: expected 'const Tensor& NAME'"),
    (
        "bool by reference",
        ("Tensor& x)", "Tensor& x, const bool& y)"),
        "2:28: args: bool is passed by value: expected 'bool NAME'",
    ),
    ("no name", ("Tensor& x)", "Tensor& )"), "2:25: args: expected an argument's name, got ')'"),
    ("no end", ("Tensor& x)", "Tensor& x"), "2:26: args: expected ',', got the end"),
    ("more after the end", ("Tensor& x)", "Tensor& x) y"), "2:28: args: expected nothing more, got 'y'"),
    ("a strange character", ("Tensor& x)", "Tensor& x; y)"), "2:26: args: unexpected character ';'"),
    ("an argument twice", ("Tensor& x)", "Tensor& x, int x)"), "2:32: args: argument 'x' is here twice"),
    (
        "default, then none",
        ("Tensor& x)", "Tensor& x, int a = 1, int b)"),
        "2:43: args: 'b' has no default but follows 'a', which has one; expected defaults on the last arguments only",
    ),
    (
        "default of another type",
        ("Tensor& x)", "Tensor& x, int a = 1.5)"),
        "2:36: args: expected a default of type int for 'a'",
    ),
    (
        "default out of range",
        ("Tensor& x)", "Tensor& x, int a = 3000000000)"),
        "2:36: args: expected a default of type int for 'a'",
    ),
    (
        "default of a tensor",
        ("Tensor& x)", "Tensor& x = 1)"),
        "2:29: args: a tensor has no default; 'x' could be a const optional<Tensor>&",
    ),
    (
        "unknown enumerator",
        ("Tensor& x)", "Tensor& x, DataType t = DataType::FLOAT3)"),
        "2:51: args: DataType has no enumerator 'FLOAT3'",
    ),
    (
        "unknown value",
        ("Tensor& x)", "Tensor& x, int a = Foo::X)"),
        "2:36: args: unknown value 'Foo'; expected a literal, or an ",
    ),
    (
        "unknown output type",
        ("output : Tensor", "output : Tensors"),
        "3:12: output: expected Tensor or vector<Tensor>, got 'Tensors'",
    ),
    (
        "unnamed outputs",
        ("output : Tensor", "output : Tensor(a), Tensor"),
        "3:23: output: several outputs need names, as in Tensor(out), ",
    ),
    (
        "an output twice",
        ("output : Tensor", "output : Tensor(a), Tensor(a)"),
        "3:23: output: output 'a' is here twice; expected names",
    ),
    (
        "a list among outputs",
        ("output : Tensor", "output : Tensor(a), vector<Tensor>(b)"),
        "3:12: output: a list must be the only output",
    ),
    (
        "output like argument",
        ("output : Tensor", "output : Tensor(x)"),
        "3:12: output: 'x' names both an argument and an output",
    ),
    (
        "param that is none",
        ("    func : relu", "    func : relu\n    param : [y]"),
        "8:14: kernel.param: 'y' is no argument of relu; expected one of: x",
    ),
    (
        "param twice",
        ("    func : relu", "    func : relu\n    param : [x, x]"),
        "8:17: kernel.param: 'x' is here twice",
    ),
    (
        "rule of no argument",
        ("    func : relu", "    func : relu\n    data_type : y"),
        "8:17: kernel.data_type: 'y' is no argument of relu",
    ),
    (
        "rule beyond a tensor",
        ("    func : relu", "    func : relu\n    data_type : x > x"),
        "8:17: kernel.data_type: nothing may follow the tensor 'x'",
    ),
    (
        "inplace of nothing",
        ("    func : relu", "    func : relu\n  inplace : (y -> out)"),
        "8:13: inplace: 'y' is no argument of relu",
    ),
    (
        "inplace without arrow",
        ("    func : relu", "    func : relu\n  inplace : (x)"),
        "8:13: inplace: expected \"(argument -> output)\", got '(x)'",
    ),
    (
        "optional that is none",
        ("    func : relu", "    func : relu\n  optional : [y]"),
        "8:15: optional: 'y' is no argument of relu",
    ),
    (
        "all intermediate",
        ("    func : relu", "    func : relu\n  intermediate : [out]"),
        "8:18: intermediate: every output is intermediate",
    ),
    (
        "unknown trait",
        ("    func : relu", "    func : relu\n  traits : [unery]"),
        "8:13: traits: unknown value 'unery'; did you mean 'unary'?",
    ),
    (
        "blocks without control flow",
        ("    func : relu", "    func : relu\n  blocks : 2"),
        "8:12: blocks: blocks and the trait control_flow go together",
    ),
    (
        "tolerance of no float",
        ("    func : relu", "    func : relu\n  tolerance : {i32: 1}"),
        "8:16: tolerance: unknown key 'i32'",
    ),
    (
        "negative tolerance",
        ("    func : relu", "    func : relu\n  tolerance : {f32: -1}"),
        "8:21: tolerance.f32: expected a number, 0 or more, got '-1'",
    ),
    (
        "import of nothing",
        ("    func : relu", "    func : relu\n  import : {tflite: {type: Relu}}"),
        "8:13: import: unknown key 'tflite'",
    ),
    (
        "import without inputs",
        ("    func : relu", "    func : relu\n  import : {onnx: {type: Relu}}"),
        "8:19: import.onnx: nothing gives the argument 'x'",
    ),
    (
        "import of no argument",
        ("    func : relu", "    func : relu\n  import : {onnx: {type: Relu, inputs: [y]}}"),
        "8:41: import.onnx.inputs: 'y' is no argument",
    ),
    (
        "import of no attribute",
        ("    func : relu", "    func : relu\n  import : {onnx: {type: Relu, inputs: [x], attrs: {a: b}}}"),
        "8:56: import.onnx.attrs.a: 'a' is no argument",
    ),
    (
        "import of opsets",
        ("    func : relu", "    func : relu\n  import : {onnx: {type: Relu, inputs: [x], since: 7, until: 6}}"),
        "8:62: import.onnx.until: until 6 comes before since 7",
    ),
    (
        "case of no argument",
        ("    func : relu", '    func : relu\n  cases : [{y: "f32[2]"}]'),
        "8:16: cases.y: 'y' is no argument of relu",
    ),
    (
        "case without argument",
        ("    func : relu", "    func : relu\n  cases : [{}]"),
        "8:12: cases: the argument 'x' is missing",
    ),
    (
        "case of no type",
        ("    func : relu", '    func : relu\n  cases : [{x: "float[2]"}]'),
        "8: cases: x: unknown data type 'float'",
    ),
    (
        "case of no shape",
        ("    func : relu", "    func : relu\n  cases : [{x: f32}]"),
        "8:19: cases: x: expected '[', got the end",
    ),
    (
        "case of negative size",
        ("    func : relu", '    func : relu\n  cases : [{x: "f32[-1]"}]'),
        "8: cases: x: expected dimensions of 0 or more",
    ),
    (
        "case of few values",
        ("    func : relu", '    func : relu\n  cases : [{x: "f32[2] = 1"}]'),
        "8: cases: x: expected 2 values, got 1",
    ),
    (
        "case of an empty range",
        ("    func : relu", '    func : relu\n  cases : [{x: "f32[2] in [1, 0]"}]'),
        "8: cases: x: the range [1.0, 0.0] is empty",
    ),
    (
        "another file name",
        ("api : relu", "api : relu6"),
        "1:3: the file's only operator is 'relu6': expected relu6.yaml",
    ),
]


class BadEntryTest(unittest.TestCase):
    def test_messages(self):
        for what, (old, new), message in BAD:
            with self.subTest(what):
                self.assertIn(old, RELU)
                ops, errors = load(RELU.replace(old, new, 1))
                self.assertEqual(len(errors), 1, errors)
                self.assertTrue(errors[0].startswith("ops/relu.yaml:" + message), errors[0])

    def test_a_rule_wants_an_attribute_of_its_kind(self):
        text = RELU.replace("Tensor& x)", "Tensor& x, int a)").replace(
            "    func : relu", "    func : relu\n    backend : a > x"
        )
        self.assertEqual(
            load(text)[1], ["ops/relu.yaml:8:15: kernel.backend: 'a' is of type int; expected a Target or a tensor"]
        )

    def test_attributes_of_cases_and_imports_are_of_their_type(self):
        text = RELU.replace("Tensor& x)", "Tensor& x, DataType dtype, bool flag)")
        case = text + '  cases :\n    - {x: "f32[]", dtype: f31, flag: true}\n'
        self.assertEqual(
            load(case)[1],
            [
                "ops/relu.yaml:9:27: cases.dtype: expected a value of type DataType for 'dtype', got 'f31'; did you mean "
                "'f32' or 'f16'?"
            ],
        )
        rule = (
            text + "  import :\n    pir : {type: relu, inputs: [x], attrs: {dtype: t, flag: {from: f, default: 2}}}\n"
        )
        self.assertEqual(
            load(rule)[1],
            ["ops/relu.yaml:9:80: import.pir.attrs.flag.default: expected a value of type bool for 'flag', got '2'"],
        )

    def test_all_bad_entries_are_reported(self):
        text = RELU.replace("Tensor& x", "Tensr& x") + RELU.replace("Tensor& x", "Tenser& x")
        self.assertEqual(len(load(text)[1]), 2)

    def test_sets_of_different_sizes(self):
        text = RELU.replace("Tensor& x)", "Tensor& x, const Tensor& y)")
        text += '  cases :\n    - {x: "{f32,f64}[]", y: "{f32,f64,f16}[]"}\n'
        self.assertEqual(
            load(text)[1],
            ["ops/relu.yaml:9:7: cases: the sets of data types have different sizes; they are taken in step"],
        )

    def test_control_flow_has_blocks_and_no_kernel(self):
        entry = textwrap.dedent("""\
            - api : relu
              args : (const Tensor& cond)
              output : vector<Tensor>
              traits : [control_flow]
              blocks : 2
            """)
        ops, errors = load(entry)
        self.assertEqual(errors, [])
        self.assertFalse(ops[0].has_api)
        _, errors = load(entry + "  kernel : {func: relu}\n")
        self.assertEqual(
            errors, ["ops/relu.yaml:6:12: kernel: control flow is run by the executor: expected no kernel"]
        )


if __name__ == "__main__":
    unittest.main()
