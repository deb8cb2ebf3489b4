// Arithmetic and transforms of complex numbers, which expectations cannot be written in.
#include <gtest/gtest.h>

#include <complex>

#include "wherry/ops.h"

namespace wherry::ref {
namespace {

using Complex = std::complex<float>;

Tensor Make(const std::vector<Complex>& values) {
  std::vector<float> parts;
  for (const Complex& value : values) parts.insert(parts.end(), {value.real(), value.imag()});
  return as_complex(Tensor::From<float>({static_cast<int64_t>(values.size()), 2}, parts));
}
std::vector<Complex> Read(const Tensor& tensor) {
  const Tensor pairs = as_real(tensor);
  std::vector<Complex> values;
  for (int64_t i = 0; i < tensor.numel(); ++i)
    values.emplace_back(pairs.data<float>()[2 * i], pairs.data<float>()[2 * i + 1]);
  return values;
}

TEST(Complex, Arithmetic) {
  const Tensor x = Make({{1, 2}, {3, -1}});
  const Tensor y = Make({{0, 1}, {2, 2}});
  EXPECT_EQ(x.dtype(), DataType::kComplex64);
  EXPECT_EQ(Read(add(x, y)), (std::vector<Complex>{{1, 3}, {5, 1}}));
  EXPECT_EQ(Read(subtract(x, y)), (std::vector<Complex>{{1, 1}, {1, -3}}));
  EXPECT_EQ(Read(multiply(x, y)), (std::vector<Complex>{{-2, 1}, {8, 4}}));
  EXPECT_EQ(Read(divide(x, y)), (std::vector<Complex>{{2, -1}, {0.5F, -1}}));
  EXPECT_EQ(Read(scale(x, 2.0F, 1.0F)), (std::vector<Complex>{{3, 4}, {7, -2}}));
}

TEST(Complex, Movement) {
  const Tensor x = reshape(Make({{1, 2}, {3, 4}, {5, 6}, {7, 8}}), {2, 2});
  EXPECT_EQ(Read(transpose(x, {1, 0})), (std::vector<Complex>{{1, 2}, {5, 6}, {3, 4}, {7, 8}}));
  EXPECT_EQ(Read(slice(x, {1}, {1}, {2})), (std::vector<Complex>{{3, 4}, {7, 8}}));
  EXPECT_EQ(Read(concat({x, x}, 1)).size(), 8U);
}

}  // namespace
}  // namespace wherry::ref
