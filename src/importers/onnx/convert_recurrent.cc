// LSTM, GRU, RNN.
#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "base/strings.h"
#include "importers/onnx/converter.h"

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

void Recurrent(OnnxContext& c, const char* cell) {
  const auto layout = c.Attr<int64_t>("layout", 0);
  if (layout != 0 && layout != 1) c.Corrupt("attribute layout is ", layout);
  // Batch first.
  const auto turned = [&](const std::string& value) { return layout == 0 ? value : Transposed(c, value, {1, 0, 2}); };
  OpInputs inputs = {{"x", {turned(c.Input(0))}},
                     {"w", {c.Input(1)}},
                     {"r", {c.Input(2)}},
                     {"bias", {c.OptionalInput(3)}},
                     {"sequence_lens", {c.OptionalInput(4)}},
                     {"initial_h", {turned(c.OptionalInput(5))}}};
  OpAttrs attrs = {{"cell", std::string(cell)},
                   {"direction", c.Attr<std::string>("direction", "forward")},
                   {"clip", c.Attr<double>("clip", 0.0)}};
  if (c.op().type == "LSTM") {
    inputs.emplace_back("initial_c", std::vector<std::string>{turned(c.OptionalInput(6))});
    inputs.emplace_back("peephole", std::vector<std::string>{c.OptionalInput(7)});
    attrs.emplace_back("input_forget", c.Attr<int64_t>("input_forget", 0) != 0);
  } else if (c.op().type == "GRU") {
    attrs.emplace_back("linear_before_reset", c.Attr<int64_t>("linear_before_reset", 0) != 0);
  }
  AddActivations(c, &attrs);
  // hidden_size says again what r has.
  const MetaTensor& r = c.Meta(c.Input(2));
  if (c.HasAttr("hidden_size") && r.rank_known && r.rank() == 3 && r.dims[2].known() &&
      r.dims[2].value() != c.Attr<int64_t>("hidden_size")) {
    c.Corrupt("attribute hidden_size is ", c.Attr<int64_t>("hidden_size"), ", R is ", r.DebugString());
  }
  const std::vector<std::string> results = c.EmitMany("rnn", inputs, attrs, c.op().type == "LSTM" ? 3 : 2);
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

void Lstm(OnnxContext& c) { Recurrent(c, "lstm"); }
void Gru(OnnxContext& c) { Recurrent(c, "gru"); }
void Rnn(OnnxContext& c) { Recurrent(c, "rnn"); }

}  // namespace

REGISTER_CONVERTER(onnx, LSTM, &Convert<Lstm>);
REGISTER_CONVERTER(onnx, GRU, &Convert<Gru>);
REGISTER_CONVERTER(onnx, RNN, &Convert<Rnn>);

}  // namespace wherry::onnx
