// The example of generated code in the document that the format of ops/*.yaml comes from, to the letter, run through
// wherry/compat.h and compared with the function that Wherry generates.
#include <gtest/gtest.h>

#include <vector>

#include "wherry/compat.h"
#include "wherry/ops.h"

namespace paddle::experimental {
PD_DLL_DECL Tensor matmul(const Tensor& x, const Tensor& y, bool transpose_x, bool transpose_y);

// clang-format off
PD_DLL_DECL Tensor matmul(const Tensor& x, const Tensor& y, bool transpose_x, bool transpose_y) {

  Backend kernel_backend = Backend::UNDEFINED;
  DataLayout kernel_layout = DataLayout::UNDEFINED;
  DataType kernel_data_type = DataType::UNDEFINED;

  if (kernel_backend == Backend::UNDEFINED 
        || kernel_layout == DataLayout::UNDEFINED
        || kernel_data_type == DataType::UNDEFINED ) {
    auto kernel_key_set = ParseKernelKeyByInputArgs(x, y);
    auto kernel_key = kernel_key_set.GetHigestPriorityKernelKey();
    if (kernel_backend == Backend::UNDEFINED) {
      kernel_backend = kernel_key.backend();
    }
    if (kernel_layout == DataLayout::UNDEFINED) {
      kernel_layout = kernel_key.layout();
    }
    if (kernel_data_type == DataType::UNDEFINED) {
      kernel_data_type = kernel_key.dtype();
    }
  }
  auto kernel = pten::KernelFactory::Instance().SelectKernelOrThrowError(
      "matmul_v2", {kernel_backend, kernel_layout, kernel_data_type});

  auto* dev_ctx = GetDeviceContextByBackend(kernel_backend);
  auto kernel_context = pten::KernelContext(dev_ctx);

  auto dense_x = std::dynamic_pointer_cast<pten::DenseTensor>(x.impl());
  kernel_context.EmplaceBackInput(dense_x);
  auto dense_y = std::dynamic_pointer_cast<pten::DenseTensor>(y.impl());
  kernel_context.EmplaceBackInput(dense_y);

  kernel_context.EmplaceBackAttr(transpose_x);
  kernel_context.EmplaceBackAttr(transpose_y);

  auto out_meta = pten::MatmulInferMeta(dense_x->meta(), dense_y->meta(), transpose_x, transpose_y);

  const auto allocator =
      std::make_shared<paddle::experimental::DefaultAllocator>(
          pten::TransToFluidPlace(kernel_backend));
  auto dense_out = std::make_shared<pten::DenseTensor>(allocator, out_meta);
  kernel_context.EmplaceBackOutput(dense_out);

  Tensor out;
  out.set_impl(dense_out);

  kernel(&kernel_context);
  return out;
}
// clang-format on

namespace {

TEST(SourceDocument, TheExampleOfGeneratedCodeRuns) {
  const Tensor x = Tensor::From<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor y = Tensor::From<float>({3, 2}, {1, 0, 0, 1, 1, 1});
  const Tensor by_hand = paddle::experimental::matmul(x, y, false, false);
  const Tensor generated = wherry::matmul(x, y);
  ASSERT_EQ(by_hand.shape(), Shape({2, 2}));
  ASSERT_EQ(generated.shape(), Shape({2, 2}));
  const std::vector<float> expected = {4, 5, 10, 11};
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(by_hand.data<float>()[i], expected[i]);
    EXPECT_EQ(generated.data<float>()[i], expected[i]);
  }
}

TEST(SourceDocument, TheExampleTakesItsAttributes) {
  const Tensor x = Tensor::From<float>({3, 2}, {1, 4, 2, 5, 3, 6});
  const Tensor y = Tensor::From<float>({2, 3}, {1, 0, 1, 0, 1, 1});
  const Tensor out = paddle::experimental::matmul(x, y, true, true);
  EXPECT_EQ(std::vector<float>(out.data<float>(), out.data<float>() + 4), (std::vector<float>{4, 5, 10, 11}));
}

TEST(SourceDocument, ItsEnumeratorsAreWherrys) {
  const Tensor x = Tensor::From<float>({2}, {1, 2});
  const Tensor out = wherry::full_like(x, 3, DataType::INT64, Backend::CPU, DataLayout::NCHW);
  EXPECT_EQ(out.dtype(), wherry::DataType::kInt64);
  EXPECT_EQ(out.data<int64_t>()[1], 3);
}

}  // namespace
}  // namespace paddle::experimental
