// Convolutions, products, pooling, normalisations, reductions: the ops that carry epilogues and layouts.
#include <algorithm>

#include "graph_fuzz/generators.h"

namespace wherry::graph_fuzz {

namespace {

std::string Image(ProgramWriter* writer) {
  Random& random = writer->random();
  const auto fits = [](const MetaTensor& type) {
    return type.dtype == DataType::kFloat && type.rank() == 4 && type.shape().numel() > 0;
  };
  const std::string found = random.OneIn(5) ? "" : writer->Existing(fits);
  if (!found.empty()) return found;
  const int64_t size = 3 + static_cast<int64_t>(random.Below(5));
  return writer->NewInput(DataType::kFloat, {1 + static_cast<int64_t>(random.Below(2)),
                                             1 + static_cast<int64_t>(random.Below(8)), size, size});
}

std::string ChannelVector(ProgramWriter* writer, int64_t channels, int64_t rank_after, int low = -2) {
  Random& random = writer->random();
  Dims dims = {channels};
  if (random.OneIn(3)) dims.insert(dims.begin(), 1);
  dims.insert(dims.end(), static_cast<size_t>(rank_after), 1);
  if (rank_after == 0) dims = {channels};
  return random.OneIn(8) ? writer->NewInput(DataType::kFloat, dims, low)
                         : writer->NewWeight(DataType::kFloat, dims, low);
}

// What commonly follows: scale, bias, batch norm, residual, activation, in any order.
void AddTail(ProgramWriter* writer, std::string x, int64_t channels, int64_t rank_after) {
  static constexpr const char* kActs[] = {"relu", "relu6", "hardswish", "sigmoid",
                                          "tanh", "gelu",  "silu",      "leaky_relu"};
  Random& random = writer->random();
  for (size_t i = random.Below(4); i > 0 && !x.empty(); --i) {
    const std::string before = x;
    switch (random.Below(6)) {
      case 0: x = writer->Add("add", {{"x", {x}}, {"y", {ChannelVector(writer, channels, rank_after)}}}); break;
      case 1: x = writer->Add("multiply", {{"x", {x}}, {"y", {ChannelVector(writer, channels, rank_after)}}}); break;
      case 2: x = writer->Add("add", {{"x", {writer->Like(DataType::kFloat, writer->DimsOf(x))}}, {"y", {x}}}); break;
      case 3: {
        const auto vector = [&](int low) { return writer->NewWeight(DataType::kFloat, {channels}, low); };
        const std::string normed = writer->Add("batch_norm", {{"x", {x}},
                                                              {"mean", {vector(-1)}},
                                                              {"variance", {vector(1)}},
                                                              {"scale", {vector(-1)}},
                                                              {"bias", {vector(-1)}}});
        x = normed.empty() ? x : normed;
        break;
      }
      default: x = writer->Add(random.Pick(kActs), {{"x", {x}}}); break;
    }
    if (!before.empty() && random.OneIn(10)) writer->Add("tanh", {{"x", {before}}});  // a second reader
  }
}

void AddConv(ProgramWriter* writer) {
  Random& random = writer->random();
  const std::string x = Image(writer);
  const Dims dims = writer->DimsOf(x);
  int64_t groups = 1;
  if (random.OneIn(3)) groups = dims[1];
  if (random.OneIn(6) && dims[1] % 2 == 0) groups = 2;
  const int64_t out = groups * (1 + static_cast<int64_t>(random.Below(groups == 1 ? 8 : 2)));
  const auto size = [&] {
    return std::min<int64_t>(1 + static_cast<int64_t>(random.Below(3)), std::min(dims[2], dims[3]));
  };
  const Dims filter = {out, dims[1] / groups, size(), size()};
  const std::string w =
      random.OneIn(10) ? writer->Like(DataType::kFloat, filter) : writer->NewWeight(DataType::kFloat, filter, -1, 1);
  Attributes attributes = {{"groups", groups}};
  const auto pair = [&](size_t below, int64_t from) {
    return std::vector<int64_t>{from + static_cast<int64_t>(random.Below(below)),
                                from + static_cast<int64_t>(random.Below(below))};
  };
  if (random.OneIn(2)) attributes.emplace_back("paddings", pair(3, 0));
  if (random.OneIn(3)) attributes.emplace_back("strides", pair(2, 1));
  if (random.OneIn(6)) attributes.emplace_back("dilations", pair(2, 1));
  if (random.OneIn(8)) {
    const Dims transposed = {dims[1], out / groups, size(), size()};
    const std::string y =
        writer->Add("conv2d_transpose",
                    {{"x", {x}}, {"filter", {writer->NewWeight(DataType::kFloat, transposed, -1, 1)}}}, attributes);
    if (!y.empty()) AddTail(writer, y, writer->DimsOf(y)[1], 2);
    return;
  }
  const std::string y = writer->Add("conv2d", {{"x", {x}}, {"filter", {w}}}, attributes);
  if (!y.empty()) AddTail(writer, y, out, 2);
}

void AddProduct(ProgramWriter* writer) {
  Random& random = writer->random();
  const std::string x = writer->Any(DataType::kFloat, 2, 4);
  const Dims dims = writer->DimsOf(x);
  const int64_t out = writer->AnyDim();
  const auto weight_or_value = [&](const Dims& of) {
    return random.OneIn(3) ? writer->Like(DataType::kFloat, of) : writer->NewWeight(DataType::kFloat, of, -1, 1);
  };
  std::string y;
  switch (random.Below(4)) {
    case 0: {
      const auto split = 1 + static_cast<int64_t>(random.Below(dims.size() - 1));
      int64_t rows = 1;
      for (size_t i = static_cast<size_t>(split); i < dims.size(); ++i) rows *= dims[i];
      y = writer->Add("mul", {{"x", {x}}, {"y", {weight_or_value({rows, out})}}}, {{"x_num_col_dims", split}});
      break;
    }
    case 1: {  // a batch on both sides
      Dims other = dims;
      const bool transpose = random.OneIn(2);
      other[dims.size() - 2] = transpose ? out : dims.back();
      other.back() = transpose ? dims.back() : out;
      const std::string left = random.OneIn(3) ? writer->Add("scale", {{"x", {x}}}, {{"scale", Scalar(0.5)}}) : x;
      y = writer->Add("matmul", {{"x", {left}}, {"y", {weight_or_value(other)}}}, {{"transpose_y", transpose}});
      break;
    }
    case 2: {
      const bool transpose = random.OneIn(3);
      y = writer->Add("matmul", {{"x", {x}}, {"y", {weight_or_value({dims[dims.size() - (transpose ? 2 : 1)], out})}}},
                      {{"transpose_x", transpose}});
      break;
    }
    default: y = writer->Add("matmul", {{"x", {x}}, {"y", {weight_or_value({dims.back(), out})}}}); break;
  }
  if (y.empty()) return;
  if (random.OneIn(4)) y = writer->Add("multiply", {{"x", {y}}, {"y", {writer->NewWeight(DataType::kFloat, {})}}});
  if (!y.empty()) AddTail(writer, y, writer->DimsOf(y).back(), 0);
}

void AddAttention(ProgramWriter* writer) {
  Random& random = writer->random();
  const std::string q = writer->Any(DataType::kFloat, 3, 4);
  const Dims dims = writer->DimsOf(q);
  const std::string k = writer->Like(DataType::kFloat, dims);
  const std::string v = writer->Like(DataType::kFloat, dims);
  std::string scores;
  if (random.OneIn(2)) {
    scores = writer->Add("matmul", {{"x", {q}}, {"y", {k}}}, {{"transpose_y", true}});
  } else {
    std::vector<int64_t> perm(dims.size());
    for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    scores = writer->Add("matmul", {{"x", {q}}, {"y", {writer->Add("transpose", {{"x", {k}}}, {{"perm", perm}})}}});
  }
  if (scores.empty()) return;
  if (random.OneIn(2)) scores = writer->Add("scale", {{"x", {scores}}}, {{"scale", Scalar(0.5)}});
  if (random.OneIn(2)) {
    scores =
        writer->Add("add", {{"x", {scores}}, {"y", {writer->Broadcasts(DataType::kFloat, writer->DimsOf(scores))}}});
  }
  const std::string weights =
      writer->Add("softmax", {{"x", {scores}}}, {{"axis", random.OneIn(8) ? int64_t{0} : int64_t{-1}}});
  writer->Add("matmul", {{"x", {weights}}, {"y", {v}}});
}

void AddNorm(ProgramWriter* writer) {
  Random& random = writer->random();
  const std::string x = writer->Any(DataType::kFloat, 2, 4);
  const Dims dims = writer->DimsOf(x);
  const auto vector = [&](int64_t size) { return writer->NewWeight(DataType::kFloat, {size}); };
  const auto axis = static_cast<int64_t>(dims.size()) - 1;
  switch (random.Below(6)) {
    case 0: writer->Add("softmax", {{"x", {x}}}, {{"axis", static_cast<int64_t>(random.Below(dims.size()))}}); break;
    case 1: writer->Add("log_softmax", {{"x", {x}}}); break;
    case 2:
      writer->Add(random.OneIn(2) ? "layer_norm" : "rms_norm",
                  {{"x", {x}}, {"scale", {vector(dims.back())}}, {"bias", {vector(dims.back())}}},
                  {{"begin_norm_axis", axis}});
      break;
    case 3:
      writer->Add("instance_norm", {{"x", {x}}, {"scale", {vector(dims[1])}}, {"bias", {vector(dims[1])}}});
      break;
    case 4:
      writer->Add("group_norm", {{"x", {x}}}, {{"groups", dims[1] % 2 == 0 && dims[1] > 0 ? int64_t{2} : int64_t{1}}});
      break;
    default: {  // layer norm from its pieces
      const auto mean = [&](const std::string& of) {
        return writer->Add("mean", {{"x", {of}}}, {{"axis", IntArray{-1}}, {"keepdim", true}});
      };
      const std::string centred = writer->Add("subtract", {{"x", {x}}, {"y", {mean(x)}}});
      const std::string variance = mean(writer->Add("square", {{"x", {centred}}}));
      const std::string deviation =
          writer->Add("sqrt", {{"x", {writer->Add("scale", {{"x", {variance}}}, {{"bias", Scalar(1e-5)}})}}});
      const std::string normed = writer->Add("divide", {{"x", {centred}}, {"y", {deviation}}});
      const std::string scaled = writer->Add("multiply", {{"x", {normed}}, {"y", {vector(dims.back())}}});
      writer->Add("add", {{"x", {scaled}}, {"y", {vector(dims.back())}}});
    }
  }
}

void AddPool(ProgramWriter* writer) {
  Random& random = writer->random();
  const std::string x = Image(writer);
  const auto number = [&](int64_t from, size_t below) { return from + static_cast<int64_t>(random.Below(below)); };
  switch (random.Below(4)) {
    case 0:
      writer->Add("interpolate", {{"x", {x}}},
                  {{"axes", std::vector<int64_t>{2, 3}},
                   {"scale", std::vector<double>{2, 2}},
                   {"mode", std::string(random.OneIn(2) ? "nearest" : "linear")}});
      break;
    case 1: writer->Add("mean", {{"x", {x}}}, {{"axis", IntArray{2, 3}}, {"keepdim", random.OneIn(2)}}); break;
    default:
      writer->Add("pool2d", {{"x", {x}}},
                  {{"kernel_size", IntArray{number(1, 3), number(1, 3)}},
                   {"strides", std::vector<int64_t>{number(1, 2), number(1, 2)}},
                   {"paddings", std::vector<int64_t>{number(0, 2), number(0, 2)}},
                   {"exclusive", random.OneIn(2)},
                   {"ceil_mode", random.OneIn(3)},
                   {"pooling_type", std::string(random.OneIn(2) ? "max" : "avg")},
                   {"global_pooling", random.OneIn(5)}});
  }
}

void AddReduction(ProgramWriter* writer) {
  static constexpr const char* kOps[] = {"sum", "mean", "max", "min", "prod"};
  Random& random = writer->random();
  const std::string x = writer->Any(random.OneIn(4) ? DataType::kInt64 : DataType::kFloat, 1);
  std::vector<int64_t> axes;
  for (int axis = 0; axis < writer->RankOf(x); ++axis) {
    if (random.OneIn(2)) axes.push_back(random.OneIn(2) ? axis : axis - writer->RankOf(x));
  }
  if (random.OneIn(8)) {
    writer->Add(random.OneIn(2) ? "argmax" : "argmin", {{"x", {x}}}, {{"keepdims", random.OneIn(2)}});
  } else if (random.OneIn(8)) {
    writer->Add("cumsum", {{"x", {x}}}, {{"reverse", random.OneIn(2)}});
  } else {
    writer->Add(random.Pick(kOps), {{"x", {x}}}, {{"axis", IntArray(axes)}, {"keepdim", random.OneIn(2)}});
  }
}

// Squeeze and excite: a global mean, two products, and the image scaled by what they give.
void AddSqueezeExcite(ProgramWriter* writer) {
  Random& random = writer->random();
  const std::string x = Image(writer);
  const int64_t channels = writer->DimsOf(x)[1];
  const std::string pooled =
      writer->Add("pool2d", {{"x", {x}}},
                  {{"kernel_size", IntArray{1, 1}}, {"pooling_type", std::string("avg")}, {"global_pooling", true}});
  const auto weight = [&] { return writer->NewWeight(DataType::kFloat, {channels, channels, 1, 1}, -1, 1); };
  const std::string a =
      writer->Add("relu", {{"x", {writer->Add("conv2d", {{"x", {pooled}}, {"filter", {weight()}}})}}});
  const std::string b = writer->Add(random.OneIn(2) ? "sigmoid" : "hardsigmoid",
                                    {{"x", {writer->Add("conv2d", {{"x", {a}}, {"filter", {weight()}}})}}});
  writer->Add("multiply", {{"x", {x}}, {"y", {b}}});
}

constexpr Generator kGenerators[] = {
    {"conv", 14, AddConv}, {"product", 12, AddProduct},    {"attention", 4, AddAttention}, {"norm", 8, AddNorm},
    {"pool", 6, AddPool},  {"reduction", 7, AddReduction}, {"excite", 2, AddSqueezeExcite}};

}  // namespace

std::span<const Generator> NetworkGenerators() { return kGenerators; }

}  // namespace wherry::graph_fuzz
