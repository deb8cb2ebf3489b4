"""Decision trees of ai.onnx.ml."""

import numpy as np
from runtime_case import Draw, case

F32 = np.float32
I64 = np.int64


def trees():
    d = Draw("trees")
    x = np.concatenate([d.f(12, 3, low=-2, high=2), [[np.nan, 0.5, 1.0], [0.0, np.nan, -1.0]]]).astype(F32)
    ml = {"domain": "ai.onnx.ml", "versions": {"ai.onnx.ml": 3}}
    # Two trees: one of three branches, one of one branch; node numbers begin anew in each.
    nodes = {
        "nodes_treeids": [0] * 7 + [1] * 3,
        "nodes_nodeids": [0, 1, 2, 3, 4, 5, 6, 0, 1, 2],
        "nodes_featureids": [0, 1, 2, 0, 0, 0, 0, 1, 0, 0],
        "nodes_modes": ["BRANCH_LEQ"] * 3 + ["LEAF"] * 4 + ["BRANCH_LEQ", "LEAF", "LEAF"],
        "nodes_values": [0.2, -0.3, 0.4, 0, 0, 0, 0, 0.1, 0, 0],
        "nodes_truenodeids": [1, 3, 5, 0, 0, 0, 0, 1, 0, 0],
        "nodes_falsenodeids": [2, 4, 6, 0, 0, 0, 0, 2, 0, 0],
    }
    leaves = {"treeids": [0, 0, 0, 0, 1, 1], "nodeids": [3, 4, 5, 6, 1, 2]}
    weights = [0.3, -0.5, 0.7, 0.1, -0.2, 0.6]
    positive = [abs(weight) / 2 for weight in weights]
    missing = nodes | {"nodes_missing_value_tracks_true": [1, 0, 1, 0, 0, 0, 0, 1, 0, 0]}

    def listed(prefix, ids, values):
        return {f"{prefix}_{key}": value for key, value in leaves.items()} | {
            f"{prefix}_ids": ids, f"{prefix}_weights": values}  # fmt: skip

    op = "TreeEnsembleRegressor"
    one = nodes | listed("target", [0] * 6, weights) | {"n_targets": 1}
    two = missing | listed("target", [0, 1, 0, 1, 1, 0], weights) | {"n_targets": 2}
    case("tree_regressor", op, [x], one, **ml)
    case("tree_regressor_f64", op, [x.astype(np.float64)], one, **ml)
    # Every row has a weight for each target: ONNX Runtime leaves the base out where there is none.
    apart = two | {"target_ids": [0, 0, 0, 0, 1, 1], "base_values": [0.5, -1.5]}
    case("tree_regressor_base", op, [x], apart, **ml)
    for aggregate in ("AVERAGE", "MIN", "MAX"):
        case(f"tree_regressor_{aggregate.lower()}", op, [x], two | {"aggregate_function": aggregate}, **ml)
    for post in ("LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"):
        case(f"tree_regressor_{post.lower()}", op, [x], two | {"post_transform": post}, **ml)
    for mode in ("LT", "GTE", "GT", "EQ", "NEQ"):
        kinds = [f"BRANCH_{mode}" if kind != "LEAF" else kind for kind in one["nodes_modes"]]
        case(f"tree_regressor_{mode.lower()}", op, [d.i(9, 3, low=-1, high=2).astype(F32)],
             one | {"nodes_modes": kinds, "nodes_values": [0.0, 1.0] + [0.0] * 5 + [1.0, 0.0, 0.0]}, **ml)  # fmt: skip
    op = "TreeEnsembleClassifier"
    both = ("label", "scores")
    # Without negative weights: ONNX Runtime's label is among the classes that a row has a weight for.
    three = nodes | listed("class", [0, 1, 2, 1, 0, 2], positive) | {"classlabels_int64s": [7, 5, 9]}
    case("tree_classifier", op, [x], three, both, **ml)
    case("tree_classifier_i64", op, [d.i(9, 3, low=-2, high=3, dtype=I64)], three, both, **ml)
    for post in ("LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"):
        case(f"tree_classifier_{post.lower()}", op, [x], three | {"post_transform": post}, both, **ml)
    case("tree_classifier_base", op, [x], three | {"base_values": [0.1, 0.9, -0.4]}, both, **ml)
    named = nodes | listed("class", [0, 1, 2, 1, 0, 2], positive) | {"classlabels_strings": ["no", "yes", "so"]}
    case("tree_classifier_strings", op, [x], named, both, **ml)
    for name, values in (("signed", weights), ("positive", positive)):
        binary = missing | listed("class", [0] * 6, values) | {"classlabels_int64s": [3, 4]}
        for post in ("NONE", "LOGISTIC"):
            case(f"tree_classifier_binary_{name}_{post.lower()}", op, [x], binary | {"post_transform": post}, both, **ml)
        case(f"tree_classifier_binary_{name}_base", op, [x], binary | {"base_values": [0.2]}, both, **ml)


def add():
    trees()
