// Fourier transforms, windows, Einstein sums.
#include <cmath>
#include <numbers>

#include "importer/einsum.h"
#include "importers/onnx/converter.h"

namespace wherry::onnx {

namespace {

void Einsum(OnnxContext& c) {
  std::vector<std::string> operands;
  for (size_t i = 0; i < c.InputCount(); ++i) operands.push_back(c.Input(i));
  const std::string result = LowerEinsum(&c, c.Attr<std::string>("equation"), operands);
  c.Bind(0, operands.size() == 1 && result == operands[0] ? c.Unary("assign", result) : result);
}

// The axis is an attribute in opset 17, an input since 20.
void Dft(OnnxContext& c) {
  const std::string x = c.Input(0);
  OpInputs inputs = {{"x", {x}}};
  OpAttrs attrs = {{"inverse", c.Attr<bool>("inverse", false)}, {"onesided", c.Attr<bool>("onesided", false)}};
  if (c.HasInput(2)) {
    c.PassScalar("axis", 2, &inputs, &attrs);
  } else {
    attrs.emplace_back("axis", Scalar(c.opset() < 20 ? c.Attr<int64_t>("axis", 1) : int64_t{-2}));
  }
  c.PassScalar("length", 1, &inputs, &attrs);
  c.EmitResult("dft", inputs, attrs);
}

// Transforms of windows of the signal [batch, length, 1 or 2], each frame_step behind the last.
void Stft(OnnxContext& c) {
  const std::string signal = c.Input(0);
  const int rank = c.Rank(signal);
  if (rank != 2 && rank != 3) c.Corrupt("the signal has ", rank, " dimensions, expected 2 or 3");
  const std::string x = rank == 2 ? c.Unsqueezed(signal, {2}) : signal;
  const std::string step = c.Reshaped(c.Cast(c.Input(1), DataType::kInt64), {1});
  const std::string window = c.OptionalInput(2);
  std::string length;
  if (c.HasInput(3)) {
    length = c.Reshaped(c.Cast(c.Input(3), DataType::kInt64), {1});
  } else if (!window.empty()) {
    length = c.Unary("shape", window);
  } else {
    c.Corrupt("neither a window nor frame_length is given");
  }
  // One place more than the last at which a whole frame begins.
  const std::string room = c.Scaled(c.Binary("subtract", c.Dimension(x, 1), length), 1.0, 1.0);
  const std::string starts = c.Emit("arange", {{"end", {room}}, {"step", {step}}}, {{"start", Scalar(int64_t{0})}});
  const std::string within = c.Emit("arange", {{"end", {length}}}, {{"start", Scalar(int64_t{0})}});
  const std::string index = c.Binary("add", c.Unsqueezed(starts, {1}), within);
  std::string frames = c.Emit("gather", {{"x", {x}}, {"index", {index}}}, {{"axis", int64_t{1}}});
  if (!window.empty()) frames = c.Binary("multiply", frames, c.Unsqueezed(window, {1}));
  c.EmitResult("dft", {{"x", {frames}}}, {{"axis", Scalar(int64_t{2})}, {"onesided", c.Attr<bool>("onesided", true)}});
}

// a + b cos(x) + c cos(2x), where x goes from 0 to 2 pi over the window: up to but without its end if it is periodic.
void Window(OnnxContext& c, double a, double b, double d) {
  const auto dtype = c.Attr<DataType>("output_datatype", DataType::kFloat);
  const std::string size = c.Reshaped(c.Cast(c.Input(0), DataType::kInt64), {1});
  const std::string places = c.Emit("arange", {{"end", {size}}}, {{"start", Scalar(int64_t{0})}});
  const bool periodic = c.Attr<bool>("periodic", true);
  const std::string whole = c.Cast(periodic ? size : c.Scaled(size, 1.0, -1.0), DataType::kFP64);
  const std::string angle =
      c.Binary("divide", c.Scaled(c.Cast(places, DataType::kFP64), 2.0 * std::numbers::pi), whole);
  std::string y = c.Scaled(c.Unary("cos", angle), b, a);
  if (d != 0.0) y = c.Binary("add", y, c.Scaled(c.Unary("cos", c.Scaled(angle, 2.0)), d));
  c.Bind(0, c.Cast(y, dtype));
}
void HannWindow(OnnxContext& c) { Window(c, 0.5, -0.5, 0.0); }
void HammingWindow(OnnxContext& c) { Window(c, 25.0 / 46.0, -21.0 / 46.0, 0.0); }
void BlackmanWindow(OnnxContext& c) { Window(c, 0.42, -0.5, 0.08); }

// Triangles over the bins of a spectrum whose peaks are evenly spaced on the mel scale: [bins, triangles].
void MelWeightMatrix(OnnxContext& c) {
  const auto real = [&](const std::string& x) { return c.Cast(x, DataType::kFP64); };
  const auto number = [&](double value) { return c.ConvertContext::ConstantScalar(Scalar(value), DataType::kFP64); };
  const auto count_to = [&](const std::string& end) {
    return real(c.Emit("arange", {{"end", {end}}}, {{"start", Scalar(int64_t{0})}}));
  };
  const auto mel = [&](const std::string& hertz) {
    return c.Scaled(c.Unary("log", c.Scaled(real(hertz), 1.0 / 700.0, 1.0)), 2595.0 / std::numbers::ln10);
  };
  const std::string triangles = c.Reshaped(c.Cast(c.Input(0), DataType::kInt64), {1});
  const std::string length = c.Reshaped(c.Cast(c.Input(1), DataType::kInt64), {1});
  const std::string low = mel(c.Input(3));
  const std::string peaks = c.Scaled(triangles, 1.0, 2.0);
  const std::string step = c.Binary("divide", c.Binary("subtract", mel(c.Input(4)), low), real(peaks));
  // The bins at which a triangle begins, has its peak and ends, each shared with its neighbours.
  const std::string mels = c.Binary("add", c.Binary("multiply", count_to(peaks), step), low);
  const std::string hertz = c.Scaled(c.Unary("exp", c.Scaled(mels, std::numbers::ln10 / 2595.0)), 700.0, -700.0);
  const std::string per_hertz = c.Binary("divide", c.Scaled(real(length), 1.0, 1.0), real(c.Input(2)));
  const std::string edges = c.Unary("floor", c.Binary("multiply", hertz, per_hertz));
  const auto edge = [&](int64_t from) {
    return c.Emit("slice", {{"x", {edges}}},
                  {{"axes", std::vector<int64_t>{0}},
                   {"starts", IntArray({from})},
                   {"ends", IntArray({from == 2 ? INT32_MAX : from - 2})}});
  };
  const std::string first = edge(0);
  const std::string peak = edge(1);
  const std::string last = edge(2);
  const std::string half = c.Scaled(c.Binary("floor_divide", length, c.ConvertContext::ConstantInts({2})), 1.0, 1.0);
  const std::string bins = c.Unsqueezed(count_to(half), {1});
  const auto slope = [&](const std::string& from, const std::string& to) {
    return c.Binary("divide", c.Binary("subtract", bins, from), c.Binary("subtract", to, from));
  };
  const auto where = [&](const std::string& condition, const std::string& x, const std::string& y) {
    return c.Emit("where", {{"condition", {condition}}, {"x", {x}}, {"y", {y}}});
  };
  const auto between = [&](const std::string& from, const std::string& to, const char* before) {
    return c.Binary("logical_and", c.Binary("greater_equal", bins, from), c.Binary(before, bins, to));
  };
  // A triangle without a rise is 1 at its peak.
  const std::string rise = where(c.Binary("equal", first, peak), number(1.0), slope(first, peak));
  const std::string rising = where(between(first, peak, "less_equal"), rise, number(0.0));
  const std::string weights = where(between(peak, last, "less_than"), slope(last, peak), rising);
  c.Bind(0, c.Cast(weights, c.Attr<DataType>("output_datatype", DataType::kFloat)));
}

}  // namespace

REGISTER_CONVERTER(onnx, Einsum, &Convert<Einsum>);
REGISTER_CONVERTER(onnx, DFT, &Convert<Dft>);
REGISTER_CONVERTER(onnx, STFT, &Convert<Stft>);
REGISTER_CONVERTER(onnx, HannWindow, &Convert<HannWindow>);
REGISTER_CONVERTER(onnx, HammingWindow, &Convert<HammingWindow>);
REGISTER_CONVERTER(onnx, BlackmanWindow, &Convert<BlackmanWindow>);
REGISTER_CONVERTER(onnx, MelWeightMatrix, &Convert<MelWeightMatrix>);

}  // namespace wherry::onnx
