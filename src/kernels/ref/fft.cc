// Discrete Fourier transforms.
#include <algorithm>
#include <bit>
#include <complex>
#include <map>
#include <memory>
#include <numbers>
#include <vector>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "kernels/ref/strided.h"

namespace wherry::ref {
namespace {

using Complex = std::complex<double>;

int64_t SmallestFactor(int64_t n) {
  for (int64_t factor = 2; factor * factor <= n; ++factor) {
    if (n % factor == 0) return factor;
  }
  return n;
}

class Chirp;

// Transforms of one length: split by its prime factors, so that the work is the length times the sum of the small ones
// and the logarithms of the large ones.
class Fourier {
 public:
  Fourier(int64_t length, bool inverse);
  ~Fourier();

  std::vector<Complex> operator()(const std::vector<Complex>& x) const {
    std::vector<Complex> out(roots_.size());
    if (!x.empty()) Transform(x.data(), 1, out.data(), static_cast<int64_t>(x.size()));
    return out;
  }

 private:
  // Prime factors up to this are summed term by term, which is as fast as a chirp of the length.
  static constexpr int64_t kMostSummed = 64;

  // Of every stride-th of x's elements, of which there are n.
  void Transform(const Complex* x, int64_t stride, Complex* out, int64_t n) const;
  // sums[q] of the products of terms[p] and root^pq, over all p.
  void Sum(const std::vector<Complex>& terms, std::vector<Complex>* sums) const;

  std::vector<Complex> roots_;
  std::map<int64_t, std::unique_ptr<const Chirp>> chirps_;  // by their length
};

// Transforms of a large prime length as a convolution (Bluestein): jk is half of j^2 + k^2 - (k - j)^2, so root^jk is a
// product of three elements of the chirp root^(j^2 / 2).
class Chirp {
 public:
  Chirp(int64_t length, bool inverse)
      : chirp_(static_cast<size_t>(length)),
        size_(std::bit_ceil(static_cast<uint64_t>(2 * length - 1))),
        forward_(static_cast<int64_t>(size_), false),
        backward_(static_cast<int64_t>(size_), true) {
    const double turn = (inverse ? 1.0 : -1.0) * std::numbers::pi / static_cast<double>(length);
    std::vector<Complex> against(size_);
    int64_t square = 0;  // modulo twice the length, where the chirp repeats
    for (int64_t j = 0; j < length; ++j) {
      const auto at = static_cast<size_t>(j);
      chirp_[at] = std::polar(1.0, turn * static_cast<double>(square));
      against[at] = against[(size_ - at) % size_] = std::conj(chirp_[at]);
      square = (square + 2 * j + 1) % (2 * length);
    }
    against_ = forward_(against);
  }

  void operator()(const std::vector<Complex>& terms, std::vector<Complex>* sums) const {
    std::vector<Complex> work(size_);
    for (size_t j = 0; j < chirp_.size(); ++j) work[j] = terms[j] * chirp_[j];
    work = forward_(work);
    for (size_t j = 0; j < size_; ++j) work[j] *= against_[j] / static_cast<double>(size_);
    work = backward_(work);
    for (size_t k = 0; k < chirp_.size(); ++k) (*sums)[k] = work[k] * chirp_[k];
  }

 private:
  std::vector<Complex> chirp_;
  size_t size_;
  Fourier forward_;
  Fourier backward_;
  std::vector<Complex> against_;
};

Fourier::Fourier(int64_t length, bool inverse) : roots_(static_cast<size_t>(length)) {
  const double turn = (inverse ? 2.0 : -2.0) * std::numbers::pi / static_cast<double>(length);
  for (int64_t k = 0; k < length; ++k) roots_[static_cast<size_t>(k)] = std::polar(1.0, turn * static_cast<double>(k));
  for (int64_t rest = length; rest > 1;) {
    const int64_t factor = SmallestFactor(rest);
    if (factor > kMostSummed && chirps_.count(factor) == 0) {
      chirps_[factor] = std::make_unique<const Chirp>(factor, inverse);
    }
    rest /= factor;
  }
}

Fourier::~Fourier() = default;

void Fourier::Transform(const Complex* x, int64_t stride, Complex* out, int64_t n) const {
  if (n == 1) {
    *out = *x;
    return;
  }
  const int64_t parts = SmallestFactor(n);
  const int64_t length = n / parts;
  for (int64_t p = 0; p < parts; ++p) Transform(x + p * stride, stride * parts, out + p * length, length);
  if (parts == 2) {
    for (int64_t k = 0; k < length; ++k) {
      const Complex odd = out[length + k] * roots_[static_cast<size_t>(k * stride)];
      out[length + k] = out[k] - odd;
      out[k] += odd;
    }
    return;
  }
  std::vector<Complex> terms(static_cast<size_t>(parts));
  std::vector<Complex> sums(static_cast<size_t>(parts));
  for (int64_t k = 0; k < length; ++k) {
    for (int64_t p = 0; p < parts; ++p) {
      terms[static_cast<size_t>(p)] = out[p * length + k] * roots_[static_cast<size_t>(p * k * stride)];
    }
    Sum(terms, &sums);
    for (int64_t q = 0; q < parts; ++q) out[q * length + k] = sums[static_cast<size_t>(q)];
  }
}

void Fourier::Sum(const std::vector<Complex>& terms, std::vector<Complex>* sums) const {
  const size_t parts = terms.size();
  if (const auto chirp = chirps_.find(static_cast<int64_t>(parts)); chirp != chirps_.end()) {
    (*chirp->second)(terms, sums);
    return;
  }
  const size_t step = roots_.size() / parts;
  for (size_t q = 0; q < parts; ++q) {
    Complex sum = 0.0;
    size_t root = 0;
    for (size_t p = 0; p < parts; ++p) {
      sum += terms[p] * roots_[root];
      root += q * step;
      if (root >= roots_.size()) root -= roots_.size();
    }
    (*sums)[q] = sum;
  }
}

template <typename T>
void Dft(const CpuContext& /*context*/, const DenseTensor& x, const Scalar& length_given, const Scalar& axis_given,
         bool inverse, bool onesided, DenseTensor* out) {
  if (out->numel() == 0) return;
  const auto axis = axis_given.to<int64_t>();
  const int64_t along = axis < 0 ? axis + x.shape().rank() : axis;
  const AxisView in = ViewAxis(x.shape(), along);
  const AxisView result = ViewAxis(out->shape(), along);
  const int64_t parts = x.shape().back();
  const int64_t out_parts = out->shape().back();
  const bool half_in = onesided && inverse;
  const auto given = length_given.to<int64_t>();
  const int64_t length = !onesided || inverse ? result.extent : given != 0 ? given : in.extent;
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  const int64_t lines = in.inner / parts;
  const Fourier fourier(length, inverse);
  std::vector<Complex> line(static_cast<size_t>(length));
  for (int64_t o = 0; o < in.outer; ++o) {
    for (int64_t i = 0; i < lines; ++i) {
      const auto element = [&](int64_t a) -> Complex {
        if (a >= in.extent) return 0.0;
        const T* at = from + ((o * in.extent + a) * lines + i) * parts;
        return {Load(at[0]), parts == 2 ? Load(at[1]) : 0.0};
      };
      for (int64_t a = 0; a < length; ++a) {
        const bool mirrored = half_in && a > length / 2;
        line[static_cast<size_t>(a)] = mirrored ? std::conj(element(length - a)) : element(a);
      }
      const std::vector<Complex> transformed = fourier(line);
      const double scale = inverse ? 1.0 / static_cast<double>(length) : 1.0;
      for (int64_t a = 0; a < result.extent; ++a) {
        T* at = to + ((o * result.extent + a) * lines + i) * out_parts;
        const Complex value = transformed[static_cast<size_t>(a)] * scale;
        at[0] = Store<T>(value.real());
        if (out_parts == 2) at[1] = Store<T>(value.imag());
      }
    }
  }
}

}  // namespace

REGISTER_KERNEL(dft, ref, kHost, kNCHW, Dft, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
