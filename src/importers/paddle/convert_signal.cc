// Complex numbers, Fourier transforms, frames of signals.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/strings.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

bool IsComplex(OpContext& c, const std::string& x) {
  return c.TypeOf(x) == DataType::kComplex64 || c.TypeOf(x) == DataType::kComplex128;
}

// Part 0 or 1 of pairs.
std::string PartOf(OpContext& c, const std::string& pairs, int64_t part) {
  return c.Squeezed(
      c.Emit("slice", {{"x", {pairs}}},
             {{"axes", std::vector<int64_t>{-1}}, {"starts", IntArray({part})}, {"ends", IntArray({part + 1})}}),
      {-1});
}
std::string PairOf(OpContext& c, const std::string& real, const std::string& imaginary) {
  return c.Emit("stack", {{"x", {real, imaginary}}}, {{"axis", int64_t{-1}}});
}
std::string Conjugated(OpContext& c, const std::string& pairs) {
  return PairOf(c, PartOf(c, pairs, 0), c.Unary("neg", PartOf(c, pairs, 1)));
}

void Real(OpContext& c) { c.Result({"Out", 0}, PartOf(c, c.Unary("as_real", c.Input({"X", 0})), 0)); }
void Imag(OpContext& c) { c.Result({"Out", 0}, PartOf(c, c.Unary("as_real", c.Input({"X", 0})), 1)); }
void Complex(OpContext& c) { c.EmitResult("as_complex", {{"x", {PairOf(c, c.Input({"X", 0}), c.Input({"Y", 1}))}}}); }

void Conj(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  if (!IsComplex(c, x)) return c.EmitResult("assign", {{"x", {x}}});
  c.EmitResult("as_complex", {{"x", {Conjugated(c, c.Unary("as_real", x))}}});
}

void Abs(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  if (!IsComplex(c, x)) return c.EmitResult("abs", {{"x", {x}}});
  const std::string squares = c.Unary("square", c.Unary("as_real", x));
  c.Result({"Out", 0}, c.Unary("sqrt", c.Emit("sum", {{"x", {squares}}}, {{"axis", IntArray({-1})}})));
}

void Angle(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  if (IsComplex(c, x)) {
    const std::string pairs = c.Unary("as_real", x);
    return c.EmitResult("atan2", {{"x", {PartOf(c, pairs, 1)}}, {"y", {PartOf(c, pairs, 0)}}});
  }
  const std::string negative = c.Binary("less_than", x, c.Like(x, 0.0));
  c.EmitResult("where", {{"condition", {negative}}, {"x", {c.Like(x, std::numbers::pi)}}, {"y", {c.Like(x, 0.0)}}});
}

struct Transform {
  std::vector<int64_t> axes;
  bool forward = true;
  std::string normalization;
};
Transform TransformOf(OpContext& c, int rank) {
  Transform transform;
  transform.axes = c.Attr<std::vector<int64_t>>("axes");
  if (transform.axes.empty()) c.Corrupt("it has no axes");
  for (int64_t& axis : transform.axes) axis = c.Axis(axis, rank);
  std::vector<int64_t> sorted = transform.axes;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) c.Corrupt("it has an axis twice");
  transform.forward = c.Attr<bool>("forward", true);
  transform.normalization = c.Attr<std::string>("normalization", "backward");
  for (const char* known : {"", "backward", "forward", "ortho"}) {
    if (transform.normalization == known) return transform;
  }
  c.Corrupt("attribute normalization is ", Quote(transform.normalization));
}

// `pairs`, or real numbers with a last dimension of 1, transformed along one axis.
std::string Dft(OpContext& c, const std::string& pairs, int64_t axis, bool inverse, bool onesided = false,
                int64_t length = 0) {
  return c.Emit("dft", {{"x", {pairs}}},
                {{"axis", Scalar(axis)}, {"inverse", inverse}, {"onesided", onesided}, {"length", Scalar(length)}});
}

// Our transform divides by the length when it is inverse; `normalization` says when it should. `whole` has the lengths.
std::string Normalized(OpContext& c, const std::string& x, const Transform& transform, const std::string& whole,
                       int64_t last = 0) {
  const bool as_is = transform.normalization.empty() || transform.normalization == "backward";
  if (as_is) return x;
  double count = 1.0;
  for (size_t i = 0; i < transform.axes.size(); ++i) {
    const Dim& dim = c.Meta(whole).dims[static_cast<size_t>(transform.axes[i])];
    const bool given = last > 0 && i + 1 == transform.axes.size();
    if (!given && !dim.known()) c.Unsupported("dimension ", transform.axes[i], " is not known");
    count *= static_cast<double>(given ? last : dim.value());
  }
  const double factor = transform.normalization == "ortho" ? std::sqrt(count) : count;
  return c.Scaled(x, transform.forward ? 1.0 / factor : factor);
}

void FftC2C(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const Transform transform = TransformOf(c, c.Rank(x));
  std::string pairs = c.Unary("as_real", x);
  for (const int64_t axis : transform.axes) pairs = Dft(c, pairs, axis, !transform.forward);
  c.EmitResult("as_complex", {{"x", {Normalized(c, pairs, transform, x)}}});
}

void FftR2C(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const Transform transform = TransformOf(c, c.Rank(x));
  const bool onesided = c.Attr<bool>("onesided", true);
  std::string pairs = c.Unsqueezed(x, {-1});
  if (onesided && transform.forward) {
    pairs = Dft(c, pairs, transform.axes.back(), /*inverse=*/false, /*onesided=*/true);
  } else if (onesided) {
    // An inverse transform of real numbers is the conjugate of their transform over the length.
    const Dim& dim = c.Meta(x).dims[static_cast<size_t>(transform.axes.back())];
    if (!dim.known()) c.Unsupported("dimension ", transform.axes.back(), " is not known");
    const std::string half = Dft(c, pairs, transform.axes.back(), /*inverse=*/false, /*onesided=*/true);
    pairs = c.Scaled(Conjugated(c, half), 1.0 / static_cast<double>(dim.value()));
  } else {
    pairs = Dft(c, pairs, transform.axes.back(), !transform.forward);
  }
  for (size_t i = 0; i + 1 < transform.axes.size(); ++i) pairs = Dft(c, pairs, transform.axes[i], !transform.forward);
  c.EmitResult("as_complex", {{"x", {Normalized(c, pairs, transform, x)}}});
}

void FftC2R(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const Transform transform = TransformOf(c, c.Rank(x));
  const int64_t axis = transform.axes.back();
  auto length = c.Attr<int64_t>("last_dim_size", 0);
  if (length <= 0) {
    const Dim& dim = c.Meta(x).dims[static_cast<size_t>(axis)];
    if (!dim.known()) c.Unsupported("dimension ", axis, " is not known");
    length = 2 * (dim.value() - 1);
  }
  std::string pairs = c.Unary("as_real", x);
  for (size_t i = 0; i + 1 < transform.axes.size(); ++i) pairs = Dft(c, pairs, transform.axes[i], !transform.forward);
  // A forward transform is the inverse one of the conjugate, times the length.
  if (transform.forward) pairs = Conjugated(c, pairs);
  std::string real = PartOf(c, Dft(c, pairs, axis, /*inverse=*/true, /*onesided=*/true, length), 0);
  if (transform.forward) real = c.Scaled(real, static_cast<double>(length));
  c.EmitResult("assign", {{"x", {Normalized(c, real, transform, x, length)}}});
}

// Whether frames lie along the last axis, else along the first.
bool FramesLast(OpContext& c) {
  const auto axis = c.Attr<int64_t>("axis", -1);
  if (axis != -1 && axis != 0) c.Unsupported("attribute axis is ", axis);
  return axis == -1;
}
int64_t Positive(OpContext& c, const char* name) {
  const auto value = c.Attr<int64_t>(name);
  constexpr int64_t kMost = int64_t{1} << 30;
  if (value < 1 || value > kMost) c.Corrupt("attribute ", name, " is ", value);
  return value;
}

// Pieces of frame_length elements, each hop_length behind the last: [..., frame_length, frames], or along the first
// axis [frames, frame_length, ...].
void Frame(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const int64_t length = Positive(c, "frame_length");
  const int64_t hop = Positive(c, "hop_length");
  const bool last = FramesLast(c);
  const int64_t axis = last ? c.Rank(x) - 1 : 0;
  const Dim extent = c.Rank(x) > 0 ? c.Meta(x).dims[static_cast<size_t>(axis)] : Dim(0);
  if (extent.known() && extent.value() < length) c.Corrupt("a frame of ", length, " is longer than ", extent.value());
  const std::string room = c.Scaled(c.Dimension(x, axis), 1.0, static_cast<double>(1 - length));
  const std::string starts =
      c.Emit("arange", {{"end", {room}}}, {{"start", Scalar(int64_t{0})}, {"step", Scalar(hop)}});
  const std::string within = c.Emit("arange", {}, {{"start", Scalar(int64_t{0})}, {"end", Scalar(length)}});
  const std::string index =
      last ? c.Binary("add", c.Unsqueezed(within, {1}), starts) : c.Binary("add", c.Unsqueezed(starts, {1}), within);
  c.EmitResult("gather", {{"x", {x}}, {"index", {index}}}, {{"axis", axis}});
}

// The other way: what overlaps is added up.
void OverlapAdd(OpContext& c) {
  std::string x = c.Input({"X", 0});
  const int64_t hop = Positive(c, "hop_length");
  const bool last = FramesLast(c);
  const int64_t rank = c.Rank(x);
  if (rank < 2) c.Corrupt("its input has rank ", rank);
  if (!last) {
    // [frames, frame_length, ...]
    std::vector<int64_t> perm;
    for (int64_t i = 2; i < rank; ++i) perm.push_back(i);
    perm.insert(perm.end(), {1, 0});
    x = c.Transposed(x, perm);
  }
  const std::string length = c.Dimension(x, rank - 2);
  const std::string frames = c.Dimension(x, rank - 1);
  const std::string places =
      c.Binary("add", c.Unsqueezed(c.CountTo(length), {1}), c.Scaled(c.CountTo(frames), static_cast<double>(hop)));
  x = c.Emit("flatten", {{"x", {x}}}, {{"start_axis", rank - 2}, {"stop_axis", rank - 1}});
  const std::string index = c.Expanded(c.Reshaped(places, {-1}), c.Unary("shape", x));
  const std::string total =
      c.Binary("add", c.Scaled(frames, static_cast<double>(hop), static_cast<double>(-hop)), length);
  std::vector<std::string> dims;
  for (int64_t i = 0; i + 2 < rank; ++i) dims.push_back(c.Dimension(x, i));
  dims.push_back(total);
  const std::string zeros =
      c.Emit("full", {{"shape", {c.Joined(dims)}}}, {{"value", Scalar(0)}, {"dtype", c.TypeOf(x)}});
  std::string sum = c.Emit("put_along_axis", {{"x", {zeros}}, {"index", {index}}, {"value", {x}}},
                           {{"axis", int64_t{-1}}, {"reduce", std::string("add")}});
  if (!last && rank > 2) {
    std::vector<int64_t> perm = {rank - 2};
    for (int64_t i = 0; i + 2 < rank; ++i) perm.push_back(i);
    sum = c.Transposed(sum, perm);
  }
  c.EmitResult("assign", {{"x", {sum}}});
}

}  // namespace

REGISTER_CONVERTER(paddle, real, &Convert<Real>);
REGISTER_CONVERTER(pir, real, &Convert<Real, 1>);
REGISTER_CONVERTER(paddle, imag, &Convert<Imag>);
REGISTER_CONVERTER(pir, imag, &Convert<Imag, 1>);
REGISTER_CONVERTER(paddle, complex, &Convert<Complex>);
REGISTER_CONVERTER(pir, complex, &Convert<Complex, 2>);
REGISTER_CONVERTER(paddle, conj, &Convert<Conj>);
REGISTER_CONVERTER(pir, conj, &Convert<Conj, 1>);
REGISTER_CONVERTER(paddle, abs, &Convert<Abs>);
REGISTER_CONVERTER(pir, abs, &Convert<Abs, 1>);
REGISTER_CONVERTER(pir, abs_, &Convert<Abs, 1>);
REGISTER_CONVERTER(paddle, angle, &Convert<Angle>);
REGISTER_CONVERTER(pir, angle, &Convert<Angle, 1>);
REGISTER_CONVERTER(paddle, fft_c2c, &Convert<FftC2C>);
REGISTER_CONVERTER(pir, fft_c2c, &Convert<FftC2C, 1>);
REGISTER_CONVERTER(paddle, fft_r2c, &Convert<FftR2C>);
REGISTER_CONVERTER(pir, fft_r2c, &Convert<FftR2C, 1>);
REGISTER_CONVERTER(paddle, fft_c2r, &Convert<FftC2R>);
REGISTER_CONVERTER(pir, fft_c2r, &Convert<FftC2R, 1>);
REGISTER_CONVERTER(paddle, frame, &Convert<Frame>);
REGISTER_CONVERTER(pir, frame, &Convert<Frame, 1>);
REGISTER_CONVERTER(paddle, overlap_add, &Convert<OverlapAdd>);
REGISTER_CONVERTER(pir, overlap_add, &Convert<OverlapAdd, 1>);

}  // namespace wherry::paddle
