// rnn: layers of LSTM, GRU or plain cells, one of ours each; and single steps.
#include <array>
#include <utility>

#include "base/strings.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

// How Paddle's gates become those of the op rnn.
struct Mode {
  const char* name;  // Paddle's
  const char* cell;
  const char* activation;     // of a plain cell
  std::vector<size_t> gates;  // ours, by their place in Paddle's weights
};

// i f c o and r z c there, i o f c and z r h here.
const Mode* FindMode(const std::string& name) {
  static const std::array<Mode, 4> modes = {Mode{"LSTM", "lstm", nullptr, {0, 3, 1, 2}},
                                            Mode{"GRU", "gru", nullptr, {1, 0, 2}},
                                            Mode{"RNN_TANH", "rnn", "tanh", {0}}, Mode{"RNN_RELU", "rnn", "relu", {0}}};
  for (const Mode& mode : modes) {
    if (name == mode.name) return &mode;
  }
  return nullptr;
}

std::string Concat(OpContext& c, const std::vector<std::string>& parts, int64_t axis) {
  return parts.size() == 1 ? parts[0] : c.Emit("concat", {{"x", parts}}, {{"axis", axis}});
}
std::string Stack(OpContext& c, const std::vector<std::string>& parts) {
  return c.Emit("stack", {{"x", parts}}, {{"axis", int64_t{0}}});
}
std::string Slice(OpContext& c, const std::string& x, int64_t begin, int64_t end, int64_t axis = 0) {
  return c.Emit("slice", {{"x", {x}}},
                {{"axes", std::vector<int64_t>{axis}}, {"starts", IntArray({begin})}, {"ends", IntArray({end})}});
}

// A weight or bias with its gates in our order.
std::string Reordered(OpContext& c, const std::string& value, const Mode& mode, int64_t hidden) {
  if (mode.gates.size() == 1) return value;
  std::vector<std::string> gates;
  for (const size_t gate : mode.gates) {
    const auto at = static_cast<int64_t>(gate) * hidden;
    gates.push_back(Slice(c, value, at, at + hidden));
  }
  return Concat(c, gates, 0);
}

// Slices of it would be cut short without a word.
void CheckExtent(const OpContext& c, const std::string& value, size_t axis, int64_t extent) {
  const MetaTensor& meta = c.Meta(value);
  if (!meta.rank_known || axis >= meta.dims.size() || !meta.dims[axis].known()) return;
  if (meta.dims[axis].value() != extent)
    c.Corrupt("dimension ", axis, " of ", Quote(value), " is ", meta.dims[axis].value(), ", expected ", extent);
}

void Rnn(OpContext& c) {
  const auto name = c.Attr<std::string>("mode");
  const Mode* const mode = FindMode(name);
  if (mode == nullptr) c.Corrupt("attribute mode is ", Quote(name));
  const auto layers = c.Attr<int64_t>("num_layers", 1);
  const auto hidden = c.Attr<int64_t>("hidden_size");
  const int64_t directions = c.Attr<bool>("is_bidirec", false) ? 2 : 1;
  constexpr int64_t kMost = 1 << 24;
  if (layers < 1 || layers > 1024 || hidden < 1 || hidden > kMost) {
    c.Corrupt("it has ", layers, " layers of ", hidden, " values");
  }
  std::string x = c.Input({"Input", 0});
  const std::vector<std::string> states = c.InputList({"PreState", 1});
  const std::vector<std::string> weights = c.InputList({"WeightList", 2});
  const bool lstm = mode->gates.size() == 4;
  if (states.size() != (lstm ? 2U : 1U)) c.Corrupt("it has ", states.size(), " initial states");
  // Per layer and direction the weights of x and of the state, then in the same order the biases.
  const auto half = static_cast<size_t>(layers * directions * 2);
  if (weights.size() != 2 * half) c.Corrupt("it has ", weights.size(), " weights, expected ", 2 * half);
  const int64_t rows = static_cast<int64_t>(mode->gates.size()) * hidden;
  for (const std::string& weight : weights) CheckExtent(c, weight, 0, rows);
  OpAttrs attrs = {{"cell", std::string(mode->cell)},
                   {"direction", std::string(directions == 2 ? "bidirectional" : "forward")},
                   {"linear_before_reset", name == "GRU"}};
  if (mode->activation != nullptr) {
    attrs.emplace_back("activations", std::vector<std::string>(static_cast<size_t>(directions), mode->activation));
  }
  std::vector<std::string> last_h;
  std::vector<std::string> last_c;
  for (int64_t layer = 0; layer < layers; ++layer) {
    std::vector<std::string> w, r, bias;
    for (int64_t d = 0; d < directions; ++d) {
      const auto at = static_cast<size_t>((layer * directions + d) * 2);
      const auto ours = [&](size_t i) { return Reordered(c, weights[i], *mode, hidden); };
      w.push_back(ours(at));
      r.push_back(ours(at + 1));
      bias.push_back(Concat(c, {ours(half + at), ours(half + at + 1)}, 0));
    }
    const int64_t row = layer * directions;
    OpInputs inputs = {{"x", {x}},
                       {"w", {Stack(c, w)}},
                       {"r", {Stack(c, r)}},
                       {"bias", {Stack(c, bias)}},
                       {"sequence_lens", {c.OptionalInput({"SequenceLength", 3})}},
                       {"initial_h", {Slice(c, states[0], row, row + directions)}}};
    if (lstm) {
      inputs.emplace_back("initial_c", std::vector<std::string>{Slice(c, states[1], row, row + directions)});
    }
    const std::vector<std::string> results = c.EmitMany("rnn", inputs, attrs, lstm ? 3 : 2);
    last_h.push_back(results[1]);
    if (lstm) last_c.push_back(results[2]);
    // [steps, D, batch, H] -> [steps, batch, D * H].
    const std::string together = c.Transposed(results[0], {0, 2, 1, 3});
    x = c.Emit("flatten", {{"x", {together}}}, {{"start_axis", int64_t{2}}, {"stop_axis", int64_t{3}}});
  }
  c.Result({"Out", 0}, x);
  c.Result({"State", 2}, Concat(c, last_h, 0), 0);
  if (lstm) c.Result({"State", 2}, Concat(c, last_c, 0), 1);
}

// x after the activation of a number of Paddle's.
std::string Activated(OpContext& c, const std::string& x, int64_t number) {
  static const std::array<const char*, 4> types = {"assign", "sigmoid", "tanh", "relu"};
  if (number < 0 || number >= static_cast<int64_t>(types.size())) c.Corrupt("it has activation ", number);
  return c.Unary(types[static_cast<size_t>(number)], x);
}

// One step of a GRU. Input has x's part of the gates u, r and c; the weight is one for u and r [D, 2 * D] and behind it
// one for c [D, D], whatever its shape says.
void GruUnit(OpContext& c) {
  std::string gates = c.Input({"Input", 0});
  const std::string before = c.Input({"HiddenPrev", 1});
  const std::string weight = c.Input({"Weight", 2});
  const std::string bias = c.OptionalInput({"Bias", 3});
  const MetaTensor& meta = c.Meta(weight);
  if (!meta.rank_known || meta.rank() != 2 || !meta.dims[0].known())
    c.Unsupported("the size of its state is not known");
  const int64_t size = meta.dims[0].value();
  CheckExtent(c, weight, 1, 3 * size);
  CheckExtent(c, gates, 1, 3 * size);
  const std::string flat = c.Reshaped(weight, {-1});
  const std::string to_gates = c.Reshaped(Slice(c, flat, 0, 2 * size * size), {size, 2 * size});
  const std::string to_state = c.Reshaped(Slice(c, flat, 2 * size * size, 3 * size * size), {size, size});
  if (!bias.empty()) gates = c.Binary("add", gates, bias);
  const auto gate = c.Attr<int64_t>("gate_activation", 1);
  const std::string both = c.Binary("add", Slice(c, gates, 0, 2 * size, 1), c.Binary("matmul", before, to_gates));
  const std::string u = Activated(c, Slice(c, both, 0, size, 1), gate);
  const std::string r = Activated(c, Slice(c, both, size, 2 * size, 1), gate);
  const std::string reset = c.Binary("multiply", r, before);
  const std::string state =
      Activated(c, c.Binary("add", Slice(c, gates, 2 * size, 3 * size, 1), c.Binary("matmul", reset, to_state)),
                c.Attr<int64_t>("activation", 2));
  const bool keeps = c.Attr<bool>("origin_mode", false);  // u is what is kept, else what is new
  const std::string& from = keeps ? state : before;
  const std::string change = c.Binary("multiply", u, c.Binary("subtract", keeps ? before : state, from));
  c.Result({"Gate", 0}, Concat(c, {u, r, state}, 1));
  c.Result({"ResetHiddenPrev", 1}, reset);
  c.Result({"Hidden", 2}, c.Binary("add", from, change));
}

// One step of an LSTM, from the gates i, f, o and c.
void LstmUnit(OpContext& c) {
  const std::string gates = c.Input({"X"});
  const std::string before = c.Input({"C_prev"});
  const MetaTensor& meta = c.Meta(before);
  if (!meta.rank_known || meta.rank() != 2 || !meta.dims[1].known())
    c.Unsupported("the size of its state is not known");
  const int64_t size = meta.dims[1].value();
  CheckExtent(c, gates, 1, 4 * size);
  const auto gate = [&](int64_t i) { return Slice(c, gates, i * size, (i + 1) * size, 1); };
  const std::string forget = c.Unary("sigmoid", c.Scaled(gate(1), 1.0, c.Attr<double>("forget_bias", 0.0)));
  const std::string update = c.Binary("multiply", c.Unary("sigmoid", gate(0)), c.Unary("tanh", gate(3)));
  const std::string state = c.Binary("add", c.Binary("multiply", forget, before), update);
  c.Result({"C"}, state);
  c.Result({"H"}, c.Binary("multiply", c.Unary("sigmoid", gate(2)), c.Unary("tanh", state)));
}

}  // namespace

REGISTER_CONVERTER(paddle, gru_unit, &Convert<GruUnit>);
REGISTER_CONVERTER(pir, gru_unit, &Convert<GruUnit, 4, 3>);
REGISTER_CONVERTER(paddle, lstm_unit, &Convert<LstmUnit>);
REGISTER_CONVERTER(paddle, rnn, &Convert<Rnn>);
REGISTER_CONVERTER(pir, rnn, &Convert<Rnn, 5, 4>);

}  // namespace wherry::paddle
