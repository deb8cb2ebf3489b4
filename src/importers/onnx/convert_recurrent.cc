// LSTM, GRU, RNN.
#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "base/strings.h"
#include "importers/onnx/convert_quantize.h"

namespace wherry::onnx {

namespace {

struct Parameters {
  const char* name;  // ours
  bool has_alpha;
  bool has_beta;
  double alpha;  // where the model does not give it
  double beta;
};

// By ONNX's name in lower case: models write it either way. The defaults are those of the operators of the same name.
const Parameters* FindActivation(std::string name) {
  static const std::map<std::string, Parameters> activations = {
      {"sigmoid", {"sigmoid", false, false, 0, 0}},
      {"tanh", {"tanh", false, false, 0, 0}},
      {"relu", {"relu", false, false, 0, 0}},
      {"affine", {"affine", true, true, 1.0, 0}},
      {"leakyrelu", {"leaky_relu", true, false, 0.01, 0}},
      {"thresholdedrelu", {"thresholded_relu", true, false, 1.0, 0}},
      {"scaledtanh", {"scaled_tanh", true, true, 1.0, 1.0}},
      {"hardsigmoid", {"hard_sigmoid", true, true, 0.2, 0.5}},
      {"elu", {"elu", true, false, 1.0, 0}},
      {"softsign", {"softsign", false, false, 0, 0}},
      {"softplus", {"softplus", false, false, 0, 0}},
  };
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  const auto it = activations.find(name);
  return it == activations.end() ? nullptr : &it->second;
}

// activation_alpha and _beta hold values in the order of the activations that take one.
void AddActivations(OnnxContext& c, OpAttrs* attrs) {
  if (!c.HasAttr("activations")) return;
  std::vector<std::string> names;
  std::vector<double> alphas;
  std::vector<double> betas;
  const auto given_alphas = c.Attr<std::vector<double>>("activation_alpha", {});
  const auto given_betas = c.Attr<std::vector<double>>("activation_beta", {});
  size_t next_alpha = 0;
  size_t next_beta = 0;
  for (const std::string& name : c.Attr<std::vector<std::string>>("activations")) {
    const Parameters* const known = FindActivation(name);
    if (known == nullptr) c.Unsupported("activation ", Quote(name));
    names.emplace_back(known->name);
    const bool takes_alpha = known->has_alpha && next_alpha < given_alphas.size();
    const bool takes_beta = known->has_beta && next_beta < given_betas.size();
    alphas.push_back(takes_alpha ? given_alphas[next_alpha++] : known->alpha);
    betas.push_back(takes_beta ? given_betas[next_beta++] : known->beta);
  }
  attrs->insert(attrs->end(), {{"activations", names}, {"alphas", alphas}, {"betas", betas}});
}

std::string Transposed(OnnxContext& c, const std::string& x, std::vector<int64_t> perm) {
  return x.empty() ? x : c.Emit("transpose", {{"x", {x}}}, {{"perm", std::move(perm)}});
}

// With the weights `w` and `r` in place of the operator's.
void Recurrent(OnnxContext& c, const std::string& cell, const std::string& w, const std::string& r) {
  const auto layout = c.Attr<int64_t>("layout", 0);
  if (layout != 0 && layout != 1) c.Corrupt("attribute layout is ", layout);
  // Batch first.
  const auto turned = [&](const std::string& value) { return layout == 0 ? value : Transposed(c, value, {1, 0, 2}); };
  OpInputs inputs = {{"x", {turned(c.Input(0))}},
                     {"w", {w}},
                     {"r", {r}},
                     {"bias", {c.OptionalInput(3)}},
                     {"sequence_lens", {c.OptionalInput(4)}},
                     {"initial_h", {turned(c.OptionalInput(5))}}};
  OpAttrs attrs = {{"cell", cell},
                   {"direction", c.Attr<std::string>("direction", "forward")},
                   {"clip", c.Attr<double>("clip", 0.0)}};
  if (cell == "lstm") {
    inputs.emplace_back("initial_c", std::vector<std::string>{turned(c.OptionalInput(6))});
    inputs.emplace_back("peephole", std::vector<std::string>{c.OptionalInput(7)});
    attrs.emplace_back("input_forget", c.Attr<int64_t>("input_forget", 0) != 0);
  } else if (cell == "gru") {
    attrs.emplace_back("linear_before_reset", c.Attr<int64_t>("linear_before_reset", 0) != 0);
  }
  AddActivations(c, &attrs);
  // hidden_size says again what r has.
  const MetaTensor& meta = c.Meta(r);
  if (c.HasAttr("hidden_size") && meta.rank_known && meta.rank() == 3 && meta.dims[2].known() &&
      meta.dims[2].value() != c.Attr<int64_t>("hidden_size")) {
    c.Corrupt("attribute hidden_size is ", c.Attr<int64_t>("hidden_size"), ", R is ", meta.DebugString());
  }
  const std::vector<std::string> results = c.EmitMany("rnn", inputs, attrs, cell == "lstm" ? 3 : 2);
  if (c.HasOutput(0)) c.Bind(0, layout == 0 ? results[0] : Transposed(c, results[0], {2, 0, 1, 3}));
  // Of a sequence without steps our rnn gives the initial states, ONNX Runtime zeros.
  const std::string lengths = c.OptionalInput(4);
  std::string any_steps;
  for (size_t i = 1; i < results.size(); ++i) {
    if (!c.HasOutput(i)) continue;
    std::string last = results[i];
    if (!lengths.empty()) {
      if (any_steps.empty()) any_steps = c.Unsqueezed(c.Binary("greater_than", lengths, c.Like(lengths, 0.0)), {1});
      last = c.Emit("where", {{"condition", {any_steps}}, {"x", {last}}, {"y", {c.Like(last, 0.0)}}});
    }
    c.Bind(i, turned(last));
  }
}

void Lstm(OnnxContext& c) { Recurrent(c, "lstm", c.Input(1), c.Input(2)); }
void Gru(OnnxContext& c) { Recurrent(c, "gru", c.Input(1), c.Input(2)); }
void Rnn(OnnxContext& c) { Recurrent(c, "rnn", c.Input(1), c.Input(2)); }

// Of com.microsoft: weights are integers [directions, inputs, 4 * hidden] with scales and zero points by direction, or
// by its columns. Computed in floats, which is nearer to the network that was quantised than its integers are.
void DynamicQuantizeLstm(OnnxContext& c) {
  const auto weight = [&](size_t position, size_t scale) {
    const auto broadcast = [&](const std::string& x) {
      return c.Unsqueezed(x, c.Rank(x) == 2 ? std::vector<int64_t>{1} : std::vector<int64_t>{1, 2});
    };
    const std::string centred = Centred(c, c.Input(position), broadcast(c.Input(scale + 1)), {}, DataType::kFloat);
    return Transposed(c, c.Binary("multiply", centred, broadcast(c.Input(scale))), {0, 2, 1});
  };
  Recurrent(c, "lstm", weight(1, 8), weight(2, 10));
}

}  // namespace

REGISTER_CONVERTER(onnx, com_microsoft_DynamicQuantizeLSTM, &Convert<DynamicQuantizeLstm>);
REGISTER_CONVERTER(onnx, LSTM, &Convert<Lstm>);
REGISTER_CONVERTER(onnx, GRU, &Convert<Gru>);
REGISTER_CONVERTER(onnx, RNN, &Convert<Rnn>);

}  // namespace wherry::onnx
