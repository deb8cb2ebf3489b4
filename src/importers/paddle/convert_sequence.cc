// Sequences of different lengths one behind the other, as older programs have them: rows [R, ...], whose lengths (LoD)
// go beside the tensor. Here the lengths are a value of their own, known from lod_reset, im2sequence or an input, which
// is one sequence, on.
#include <algorithm>

#include "base/strings.h"
#include "importer/constant_tensor.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

// The rows of an input, and where its sequences lie.
struct Sequences {
  std::string rows;
  std::string lengths;  // i64[n]
  std::string ends;     // of each, the first row behind it
  std::string starts;
};

Sequences Located(OpContext& c, const std::string& rows, const std::string& lengths) {
  Sequences found{rows, lengths, "", ""};
  found.ends = c.Emit("cumsum", {{"x", {lengths}}}, {{"axis", Scalar(int64_t{0})}});
  found.starts = c.Binary("subtract", found.ends, lengths);
  return found;
}
Sequences SequencesOf(OpContext& c, const std::string& rows) {
  const std::string lengths = c.LengthsOf(rows);
  if (lengths.empty()) c.Unsupported("the lengths of its sequences (LoD) are not known");
  return Located(c, rows, lengths);
}

std::string Rows(OpContext& c, const std::string& x, const std::string& index) {
  return c.Emit("gather", {{"x", {x}}, {"index", {index}}}, {{"axis", int64_t{0}}});
}
std::string Where(OpContext& c, const std::string& condition, const std::string& x, const std::string& y) {
  return c.Emit("where", {{"condition", {condition}}, {"x", {x}}, {"y", {y}}});
}

// The sequence of each of `count` rows, and the place that each has in its sequence; i64.
std::string OwnerOfRows(OpContext& c, const Sequences& of, const std::string& count) {
  return c.Emit("searchsorted", {{"sequence", {of.ends}}, {"values", {c.CountTo(count)}}}, {{"right", true}});
}
std::string PlaceOfRows(OpContext& c, const Sequences& of, const std::string& owner, const std::string& count) {
  return c.Binary("subtract", c.CountTo(count), Rows(c, of.starts, owner));
}
std::string CountOf(OpContext& c, const std::string& x) { return c.Dimension(x, 0); }

// `mask` [a] or [a, b], shaped to broadcast against what has `rank` dimensions.
std::string Spread(OpContext& c, const std::string& mask, int from, int rank) {
  std::string spread = mask;
  for (int i = from; i < rank; ++i) spread = c.Unsqueezed(spread, {-1});
  return spread;
}

// One row for each sequence. A sequence without rows gives pad_value.
void Pool(OpContext& c) {
  const Sequences of = SequencesOf(c, c.Input({"X"}));
  auto type = c.Attr<std::string>("pooltype", "AVERAGE");
  const double empty = c.Attr<double>("pad_value", 0.0);
  const std::string count = CountOf(c, of.lengths);
  const int rank = c.Rank(of.rows);
  if (type == "LAST" || type == "FIRST") {
    const std::string at = type == "LAST" ? c.Scaled(of.ends, 1.0, -1.0) : of.starts;
    const std::string last = c.Scaled(CountOf(c, of.rows), 1.0, -1.0);
    const std::string inside = c.Binary("maximum", c.Binary("minimum", at, last), c.Like(at, 0.0));
    const std::string none = c.Binary("equal", of.lengths, c.Like(of.lengths, 0.0));
    return c.EmitResult("where", {{"condition", {Spread(c, none, 1, rank)}},
                                  {"x", {c.Like(of.rows, empty)}},
                                  {"y", {Rows(c, of.rows, inside)}}});
  }
  const char* reduce = type == "AVERAGE"                 ? "mean"
                       : type == "SUM" || type == "SQRT" ? "add"
                       : type == "MAX"                   ? "max"
                                                         : "";
  if (*reduce == '\0') c.Corrupt("attribute pooltype is ", Quote(type));
  std::vector<std::string> dims = {count};
  for (int i = 1; i < rank; ++i) dims.push_back(c.Dimension(of.rows, i));
  const std::string owner = Spread(c, OwnerOfRows(c, of, CountOf(c, of.rows)), 1, rank);
  std::string pooled = c.Emit("put_along_axis",
                              {{"x", {c.Expanded(c.Like(of.rows, empty), c.Joined(dims))}},
                               {"index", {c.Expanded(owner, c.Unary("shape", of.rows))}},
                               {"value", {of.rows}}},
                              {{"axis", int64_t{0}}, {"reduce", std::string(reduce)}, {"include_self", false}});
  if (type == "SQRT") {
    const std::string number = c.Binary("maximum", of.lengths, c.Like(of.lengths, 1.0));
    const std::string root = c.Unary("sqrt", c.Cast(number, c.TypeOf(of.rows)));
    pooled = c.Binary("divide", pooled, Spread(c, root, 1, rank));
  }
  c.EmitResult("assign", {{"x", {pooled}}});
}

// Rows as [sequences, steps, ...]; behind the end of a sequence stands `padding`, or whatever without one.
std::string Padded(OpContext& c, const Sequences& of, const std::string& steps, const std::string& padding) {
  const std::string places = c.CountTo(steps);
  const std::string index = c.Binary("add", c.Unsqueezed(of.starts, {1}), places);
  const std::string last = c.Scaled(CountOf(c, of.rows), 1.0, -1.0);
  const std::string padded = Rows(c, of.rows, c.Binary("minimum", index, last));
  if (padding.empty()) return padded;
  const std::string inside = c.Binary("less_than", places, c.Unsqueezed(of.lengths, {1}));
  return Where(c, Spread(c, inside, 2, c.Rank(of.rows) + 1), padded, padding);
}
std::string LongestOf(OpContext& c, const std::string& lengths) { return c.Reshaped(c.Unary("max", lengths), {1}); }

// The other way: the rows of [sequences, steps, ...] that are in a sequence.
std::string Unpadded(OpContext& c, const std::string& x, const Sequences& of) {
  const std::string count = c.Reshaped(c.Unary("sum", of.lengths), {1});
  const std::string owner = OwnerOfRows(c, of, count);
  const std::string index =
      c.Binary("add", c.Binary("multiply", owner, c.Dimension(x, 1)), PlaceOfRows(c, of, owner, count));
  return Rows(c, c.Emit("flatten", {{"x", {x}}}, {{"start_axis", int64_t{0}}, {"stop_axis", int64_t{1}}}), index);
}

void Pad(OpContext& c) {
  const Sequences of = SequencesOf(c, c.Input({"X"}));
  const auto length = c.Attr<int64_t>("padded_length", -1);
  if (length == 0 || length > INT32_MAX) c.Corrupt("attribute padded_length is ", length);
  const std::string steps =
      length < 0 ? LongestOf(c, of.lengths) : c.ConvertContext::ConstantInts(std::vector<int64_t>{length});
  c.Result({"Out"}, Padded(c, of, steps, c.Input({"PadValue"})));
  c.Result({"Length"}, c.Unary("assign", of.lengths));
}

void Unpad(OpContext& c) {
  const std::string lengths = c.Cast(c.Reshaped(c.Input({"Length"}), {-1}), DataType::kInt64);
  const std::string rows = Unpadded(c, c.Input({"X"}), Located(c, "", lengths));
  c.SetLengths(rows, lengths);
  c.Result({"Out"}, rows);
}

void Softmax(OpContext& c) {
  const Sequences of = SequencesOf(c, c.Input({"X"}));
  const int rank = c.Rank(of.rows);
  const std::string owner = OwnerOfRows(c, of, CountOf(c, of.rows));
  const std::string index = c.Expanded(Spread(c, owner, 1, rank), c.Unary("shape", of.rows));
  std::vector<std::string> dims = {CountOf(c, of.lengths)};
  for (int i = 1; i < rank; ++i) dims.push_back(c.Dimension(of.rows, i));
  const std::string zeros = c.Expanded(c.Like(of.rows, 0.0), c.Joined(dims));
  // For each row what its sequence's rows give together.
  const auto shared = [&](const std::string& value, const char* reduce) {
    const std::string of_each =
        c.Emit("put_along_axis", {{"x", {zeros}}, {"index", {index}}, {"value", {value}}},
               {{"axis", int64_t{0}}, {"reduce", std::string(reduce)}, {"include_self", false}});
    return Rows(c, of_each, owner);
  };
  const std::string powers = c.Unary("exp", c.Binary("subtract", of.rows, shared(of.rows, "max")));
  c.EmitResult("divide", {{"x", {powers}}, {"y", {shared(powers, "add")}}});
}

// Row i of X as often as the i-th sequence of Y has rows.
void ExpandAs(OpContext& c) {
  const std::string x = c.Input({"X"});
  const std::string y = c.Input({"Y"});
  if (!c.LengthsOf(x).empty() && c.op().type == "sequence_expand")
    c.Unsupported("it repeats sequences of several rows");
  const Sequences of = SequencesOf(c, y);
  const std::string rows = Rows(c, x, OwnerOfRows(c, of, CountOf(c, y)));
  c.SetLengths(rows, of.lengths);
  c.Result({"Out"}, rows);
}

// Each row with its neighbours in the sequence, from contextStart on and contextLength many, times the filter.
void Conv(OpContext& c) {
  const Sequences of = SequencesOf(c, c.Input({"X"}));
  const auto start = c.Attr<int64_t>("contextStart", 0);
  const auto length = c.Attr<int64_t>("contextLength", 1);
  constexpr int64_t kMost = 1 << 12;
  if (c.Attr<bool>("paddingTrainable", false)) c.Unsupported("attribute paddingTrainable is true");
  if (length < 1 || length > kMost || start < -kMost || start > kMost)
    c.Corrupt("its context is ", length, " rows from ", start, " on");
  const std::string count = CountOf(c, of.rows);
  const std::string owner = OwnerOfRows(c, of, count);
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < length; ++i) offsets.push_back(start + i);
  const std::string around = c.ConvertContext::ConstantInts(offsets);
  const std::string place = c.Binary("add", c.Unsqueezed(PlaceOfRows(c, of, owner, count), {1}), around);
  const std::string inside = c.Binary("logical_and", c.Binary("greater_equal", place, c.Like(place, 0.0)),
                                      c.Binary("less_than", place, c.Unsqueezed(Rows(c, of.lengths, owner), {1})));
  const std::string index = c.Binary("add", c.Unsqueezed(c.CountTo(count), {1}), around);
  const std::string neighbours = Rows(c, of.rows, Where(c, inside, index, c.Like(index, 0.0)));
  const std::string kept = Where(c, c.Unsqueezed(inside, {2}), neighbours, c.Like(neighbours, 0.0));
  const std::string flat = c.Emit("flatten", {{"x", {kept}}}, {{"start_axis", int64_t{1}}, {"stop_axis", int64_t{2}}});
  c.Result({"Out"}, c.Binary("matmul", flat, c.Input({"Filter"})));
}

void Reverse(OpContext& c) {
  const Sequences of = SequencesOf(c, c.Input({"X"}));
  const std::string owner = OwnerOfRows(c, of, CountOf(c, of.rows));
  const std::string both = c.Binary("add", Rows(c, of.starts, owner), Rows(c, of.ends, owner));
  const std::string index = c.Scaled(c.Binary("subtract", both, c.CountTo(CountOf(c, of.rows))), 1.0, -1.0);
  c.Result({"Y"}, Rows(c, of.rows, index));
}

// The i-th sequences of all inputs, one behind the other.
void Concat(OpContext& c) {
  const std::vector<std::string> inputs = c.InputList({"X"});
  if (inputs.empty()) c.Corrupt("it has no inputs");
  std::vector<std::string> owners;
  std::string lengths;
  for (const std::string& x : inputs) {
    const Sequences of = SequencesOf(c, x);
    owners.push_back(OwnerOfRows(c, of, CountOf(c, x)));
    lengths = lengths.empty() ? of.lengths : c.Binary("add", lengths, of.lengths);
  }
  const std::string order = c.EmitMany("argsort", {{"x", {c.Joined(owners)}}}, {{"axis", int64_t{0}}}, 2)[1];
  const std::string rows = Rows(c, c.Joined(inputs), order);
  c.SetLengths(rows, lengths);
  c.Result({"Out"}, rows);
}

// The same rows as other sequences: those of Y, or from each of target_lod to the next.
void LodReset(OpContext& c) {
  const std::string x = c.Unary("assign", c.Input({"X"}));
  std::string lengths;
  if (const std::string y = c.OptionalInput({"Y"}); !y.empty()) {
    lengths = c.LengthsOf(y);
    if (lengths.empty()) {
      const std::string offsets = c.Cast(c.Reshaped(y, {-1}), DataType::kInt64);
      const auto part = [&](int64_t from, int64_t to) {
        return c.Emit("slice", {{"x", {offsets}}},
                      {{"axes", std::vector<int64_t>{0}}, {"starts", IntArray({from})}, {"ends", IntArray({to})}});
      };
      lengths = c.Binary("subtract", part(1, INT32_MAX), part(0, -1));
    }
  } else {
    const auto offsets = c.Attr<std::vector<int64_t>>("target_lod");
    if (offsets.size() < 2 || !std::is_sorted(offsets.begin(), offsets.end()) || offsets[0] != 0) {
      c.Corrupt("attribute target_lod is ", Join(offsets, ", "));
    }
    std::vector<int64_t> each;
    for (size_t i = 1; i < offsets.size(); ++i) each.push_back(offsets[i] - offsets[i - 1]);
    lengths = c.ConvertContext::ConstantInts(each);
  }
  c.SetLengths(x, lengths);
  c.Result({"Out"}, x);
}

// A row for each place of a window in an image; the places of an image are a sequence.
void Im2Sequence(OpContext& c) {
  if (c.HasInput({"Y"})) c.Unsupported("the sizes of its images are given");
  const std::string x = c.Input({"X"});
  const std::string columns = c.Emit("unfold", {{"x", {x}}},
                                     {{"kernel_sizes", c.Attr<std::vector<int64_t>>("kernels")},
                                      {"strides", c.Attr<std::vector<int64_t>>("strides", {1, 1})},
                                      {"paddings", c.Attr<std::vector<int64_t>>("paddings", {0, 0, 0, 0})},
                                      {"dilations", std::vector<int64_t>{1, 1}}});
  const std::string rows = c.Emit("flatten", {{"x", {c.Transposed(columns, {0, 2, 1})}}},
                                  {{"start_axis", int64_t{0}}, {"stop_axis", int64_t{1}}});
  c.SetLengths(rows, c.Expanded(c.Dimension(columns, 2), c.Dimension(x, 0)));
  c.Result({"Out"}, rows);
}

// How the gates of a dynamic network become those of the op rnn: ours, by their place in Paddle's, and with which sign.
struct Gates {
  std::vector<int64_t> places;
  std::vector<double> signs;
};

std::string Part(OpContext& c, const std::string& x, int64_t axis, int64_t begin, int64_t size) {
  return c.Emit(
      "slice", {{"x", {x}}},
      {{"axes", std::vector<int64_t>{axis}}, {"starts", IntArray({begin})}, {"ends", IntArray({begin + size})}});
}

// Gates of `size` along an axis, in our order.
std::string Reordered(OpContext& c, const std::string& x, const Gates& gates, int64_t axis, int64_t size) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < gates.places.size(); ++i) {
    const std::string part = Part(c, x, axis, gates.places[i] * size, size);
    parts.push_back(gates.signs[i] < 0.0 ? c.Unary("neg", part) : part);
  }
  return c.Emit("concat", {{"x", parts}}, {{"axis", axis}});
}

std::string ActivationOf(OpContext& c, const char* name, const char* fallback) {
  auto activation = c.Attr<std::string>(name, fallback);
  if (activation != "sigmoid" && activation != "tanh" && activation != "relu") {
    c.Unsupported("attribute ", name, " is ", Quote(activation));
  }
  return activation;
}

// A layer over sequences whose products with the input's weights are computed before: here their weight is a
// permutation. `state` is [gates * size, size]; `bias` [1, gates * size] may be empty.
void Recurrent(OpContext& c, const Gates& gates, int64_t size, const std::string& state, const std::string& bias,
               OpInputs inputs, OpAttrs attrs) {
  const Sequences of = SequencesOf(c, c.Input({"Input"}));
  const auto count = static_cast<int64_t>(gates.places.size());
  const int64_t all = count * size;
  std::vector<Scalar> ones(static_cast<size_t>(all * all), Scalar(0.0));
  for (int64_t gate = 0; gate < count; ++gate) {
    for (int64_t i = 0; i < size; ++i) {
      const int64_t from = gates.places[static_cast<size_t>(gate)] * size + i;
      ones[static_cast<size_t>((gate * size + i) * all + from)] = Scalar(gates.signs[static_cast<size_t>(gate)]);
    }
  }
  const DataType dtype = c.TypeOf(of.rows);
  const std::string padded = c.Transposed(Padded(c, of, LongestOf(c, of.lengths), ""), {1, 0, 2});
  inputs.emplace_back("x", std::vector<std::string>{padded});
  inputs.emplace_back("w", std::vector<std::string>{c.Constant(TensorOfScalars(Shape{1, all, all}, ones, dtype))});
  inputs.emplace_back("r", std::vector<std::string>{c.Unsqueezed(state, {0})});
  inputs.emplace_back("sequence_lens", std::vector<std::string>{c.Cast(of.lengths, DataType::kInt32)});
  if (!bias.empty()) {
    const std::string ours = Reordered(c, bias, gates, 1, size);
    inputs.emplace_back("bias", std::vector<std::string>{
                                    c.Emit("concat", {{"x", {ours, c.Scaled(ours, 0.0)}}}, {{"axis", int64_t{1}}})});
  }
  if (const std::string first = c.OptionalInput({"H0"}); !first.empty()) {
    inputs.emplace_back("initial_h", std::vector<std::string>{c.Unsqueezed(first, {0})});
  }
  attrs.emplace_back("direction", std::string(c.Attr<bool>("is_reverse", false) ? "reverse" : "forward"));
  const std::string y = c.EmitMany("rnn", inputs, attrs, 2)[0];
  const std::string rows = Unpadded(c, c.Transposed(c.Squeezed(y, {1}), {1, 0, 2}), of);
  c.SetLengths(rows, of.lengths);
  c.Result({"Hidden"}, rows);
}

int64_t StateSize(OpContext& c, const std::string& weight, int64_t gates) {
  const MetaTensor& meta = c.Meta(weight);
  const bool known = meta.rank_known && meta.rank() == 2 && meta.dims[0].known() && meta.dims[1].known();
  if (!known) c.Unsupported("the size of its state is not known");
  const int64_t size = meta.dims[0].value();
  constexpr int64_t kMost = 1024;
  if (size < 1 || meta.dims[1].value() != gates * size) c.Corrupt("its weight is ", meta.DebugString());
  if (size > kMost) c.Unsupported("its state has ", size, " elements");
  return size;
}

// Gates c, i, f, o; with peepholes their weights for i, f and o stand behind the bias.
void Lstm(OpContext& c) {
  const std::string weight = c.Input({"Weight"});
  const std::string bias = c.OptionalInput({"Bias"});
  const int64_t size = StateSize(c, weight, 4);
  const Gates gates{{1, 3, 2, 0}, {1.0, 1.0, 1.0, 1.0}};
  OpInputs inputs;
  if (c.Attr<bool>("use_peepholes", true) && !bias.empty()) {
    const std::vector<std::string> parts = {Part(c, bias, 1, 4 * size, size), Part(c, bias, 1, 6 * size, size),
                                            Part(c, bias, 1, 5 * size, size)};
    inputs.emplace_back("peephole", std::vector<std::string>{c.Emit("concat", {{"x", parts}}, {{"axis", int64_t{1}}})});
  }
  if (const std::string first = c.OptionalInput({"C0"}); !first.empty()) {
    inputs.emplace_back("initial_c", std::vector<std::string>{c.Unsqueezed(first, {0})});
  }
  const std::vector<std::string> activations = {ActivationOf(c, "gate_activation", "sigmoid"),
                                                ActivationOf(c, "candidate_activation", "tanh"),
                                                ActivationOf(c, "cell_activation", "tanh")};
  Recurrent(c, gates, size, c.Transposed(Reordered(c, weight, gates, 1, size), {1, 0}), bias, inputs,
            {{"cell", std::string("lstm")}, {"activations", activations}});
}

// Gates u, r and c; the weight is one for u and r [size, 2 * size] and behind it one for c, whatever its shape says.
// Where u is what is new, it is one less ours, so the sigmoid of the negative.
void Gru(OpContext& c) {
  const std::string weight = c.Input({"Weight"});
  const int64_t size = StateSize(c, weight, 3);
  const Gates gates{{0, 1, 2}, {c.Attr<bool>("origin_mode", false) ? 1.0 : -1.0, 1.0, 1.0}};
  const std::string gate = ActivationOf(c, "gate_activation", "sigmoid");
  if (gate != "sigmoid") c.Unsupported("attribute gate_activation is ", Quote(gate));
  const std::string flat = c.Reshaped(weight, {-1});
  const std::string both = c.Reshaped(Part(c, flat, 0, 0, 2 * size * size), {size, 2 * size});
  const std::string candidate = c.Reshaped(Part(c, flat, 0, 2 * size * size, size * size), {size, size});
  const std::string all = c.Emit("concat", {{"x", {both, candidate}}}, {{"axis", int64_t{1}}});
  Recurrent(c, gates, size, c.Transposed(Reordered(c, all, gates, 1, size), {1, 0}), c.OptionalInput({"Bias"}), {},
            {{"cell", std::string("gru")},
             {"activations", std::vector<std::string>{gate, ActivationOf(c, "activation", "tanh")}}});
}

}  // namespace

REGISTER_CONVERTER(paddle, sequence_pool, &Convert<Pool>);
REGISTER_CONVERTER(paddle, sequence_pad, &Convert<Pad>);
REGISTER_CONVERTER(paddle, sequence_unpad, &Convert<Unpad>);
REGISTER_CONVERTER(paddle, sequence_softmax, &Convert<Softmax>);
REGISTER_CONVERTER(paddle, sequence_expand, &Convert<ExpandAs>);
REGISTER_CONVERTER(paddle, sequence_expand_as, &Convert<ExpandAs>);
REGISTER_CONVERTER(paddle, sequence_conv, &Convert<Conv>);
REGISTER_CONVERTER(paddle, sequence_reverse, &Convert<Reverse>);
REGISTER_CONVERTER(paddle, sequence_concat, &Convert<Concat>);
REGISTER_CONVERTER(paddle, lod_reset, &Convert<LodReset>);
REGISTER_CONVERTER(paddle, im2sequence, &Convert<Im2Sequence>);
REGISTER_CONVERTER(paddle, lstm, &Convert<Lstm>);
REGISTER_CONVERTER(paddle, gru, &Convert<Gru>);

}  // namespace wherry::paddle
