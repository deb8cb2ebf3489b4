#include "op/infer/infer_meta.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "op/infer/slice_range.h"
#include "op/infer/window.h"
#include "op/unknown_dim.h"
#include "wherry/error.h"

namespace wherry {
namespace {

using D = DataType;

MetaTensor Values(DataType dtype, const std::vector<Dim>& values) {
  MetaTensor meta(dtype, {Dim(static_cast<int64_t>(values.size()))});
  meta.values = values;
  return meta;
}

MetaTensor ScalarValue(const Dim& value) {
  MetaTensor meta(D::kInt64, {});
  meta.values = std::vector<Dim>{value};
  return meta;
}

template <typename Function>
std::string MessageOf(Function function) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
    return error.what();
  }
  return "";
}

class SymbolicInfer : public testing::Test {
 protected:
  SymbolTable table_;
  Dim n_ = table_.Symbol("N");
  Dim s_ = table_.Symbol("S");
};

// What exporters write for x.reshape(x.shape[0], x.shape[1], 4, -1).
TEST_F(SymbolicInfer, ShapeGatherConcatReshape) {
  const MetaTensor x(D::kFloat, {n_, s_, Dim(64)});
  const MetaTensor shape = ShapeInferMeta(x, D::kInt64);
  EXPECT_EQ(shape.DebugString(), "i64[3] = [N, S, 64]");
  const MetaTensor batch = GatherInferMeta(shape, ScalarValue(0), 0);
  const MetaTensor length = GatherInferMeta(shape, ScalarValue(-2), 0);
  const MetaTensor batch1 = UnsqueezeInferMeta(batch, IntArray{0});
  const MetaTensor length1 = UnsqueezeInferMeta(length, IntArray{0});
  const MetaTensor heads = Values(D::kInt64, {4});
  const MetaTensor rest = Values(D::kInt64, {-1});
  const MetaTensor target = ConcatInferMeta({&batch1, &length1, &heads, &rest}, 0);
  EXPECT_EQ(target.DebugString(), "i64[4] = [N, S, 4, -1]");
  const MetaTensor out = ReshapeInferMeta(x, target, false);
  EXPECT_EQ(out.DebugString(), "f32[N,S,4,16]");
  const MetaTensor back = ReshapeInferMeta(TransposeInferMeta(out, {0, 2, 1, 3}), IntArray{0, 4, -1}, false);
  EXPECT_EQ(back.dims[2], s_ * Dim(16));
}

TEST_F(SymbolicInfer, ArithmeticOnShapes) {
  const MetaTensor shape = ShapeInferMeta(MetaTensor(D::kFloat, {n_, Dim(6)}), D::kInt64);
  const MetaTensor two = ScalarValue(2);
  EXPECT_EQ(AddInferMeta(shape, two).values->at(1), Dim(8));
  EXPECT_EQ(SubtractInferMeta(shape, two).values->at(0), n_ - Dim(2));
  EXPECT_EQ(MultiplyInferMeta(shape, two).values->at(0), n_ * Dim(2));
  EXPECT_EQ(DivideInferMeta(MultiplyInferMeta(shape, two), two).values->at(0), n_);
  EXPECT_EQ(FloorDivideInferMeta(shape, ScalarValue(4)).values->at(1), Dim(1));
  EXPECT_EQ(RemainderInferMeta(shape, ScalarValue(4)).values->at(1), Dim(2));
  EXPECT_EQ(ProdInferMeta(shape, IntArray{}, false).values->at(0), n_ * Dim(6));
  EXPECT_EQ(SumInferMeta(shape, IntArray{0}, true).DebugString(), "i64[1] = [" + (n_ + Dim(6)).DebugString() + "]");
  EXPECT_EQ(CastInferMeta(shape, D::kInt32).values->at(0), n_);
  EXPECT_FALSE(CastInferMeta(shape, D::kFloat).values.has_value());
  EXPECT_EQ(SliceInferMeta(shape, {0}, IntArray{-1}, IntArray{INT64_MAX}, {}).values->at(0), Dim(6));
  EXPECT_EQ(ScaleInferMeta(shape, Scalar(3.0F), Scalar(1.0F), true).values->at(1), Dim(19));
  EXPECT_FALSE(ScaleInferMeta(shape, Scalar(0.5F), Scalar(0.0F), true).values.has_value());
}

// Expand to a shape that has -1 where the input's dimension stays: Where(Equal(shape, -1), 1, shape).
TEST_F(SymbolicInfer, WhereEqualOnShapes) {
  const MetaTensor wanted = Values(D::kInt64, {n_, -1});
  const MetaTensor equal = EqualInferMeta(wanted, ScalarValue(-1));
  ASSERT_TRUE(equal.values.has_value());
  EXPECT_EQ(equal.DebugString(), "bool[2] = [0, 1]");
  const MetaTensor ones = FullInferMeta(IntArray{2}, Scalar(1), D::kInt64);
  const MetaTensor target = WhereInferMeta(equal, ones, wanted);
  EXPECT_EQ(target.DebugString(), "i64[2] = [N, 1]");
  EXPECT_EQ(ExpandInferMeta(MetaTensor(D::kFloat, {Dim(1), Dim(5)}), target).DebugString(), "f32[N,5]");
  EXPECT_FALSE(EqualInferMeta(wanted, ScalarValue(7)).values.has_value());  // N may be 7
  EXPECT_EQ(GreaterThanInferMeta(wanted, ScalarValue(-5)).DebugString().substr(0, 7), "bool[2]");
}

TEST_F(SymbolicInfer, UnknownShapesGiveUnknownRank) {
  const MetaTensor x(D::kFloat, {Dim(2), Dim(3)});
  const MetaTensor unknown(D::kInt64, {Dim(2)});  // a shape whose values are not known
  EXPECT_EQ(ReshapeInferMeta(x, unknown, false).DebugString(), "f32[?]");
  EXPECT_EQ(ExpandInferMeta(x, unknown).dims, std::vector<Dim>(2, Dim(kUnknownDim)));  // the rank is known
  EXPECT_EQ(UnaryInferMeta(MetaTensor::UnknownRank(D::kFP16)).DebugString(), "f16[?]");
  EXPECT_EQ(AddInferMeta(x, MetaTensor::UnknownRank(D::kFloat)).DebugString(), "f32[?]");
  EXPECT_EQ(SplitInferMeta(x, unknown, 0).size(), 2U);
  EXPECT_EQ(SumInferMeta(MetaTensor::UnknownRank(D::kFloat), IntArray{}, false).DebugString(), "f32[]");
}

TEST_F(SymbolicInfer, Windows) {
  const MetaTensor x(D::kFloat, {n_, Dim(3), s_, Dim(33)});
  const MetaTensor filter(D::kFloat, {Dim(8), Dim(3), Dim(3), Dim(3)});
  const MetaTensor out = Conv2dInferMeta(x, filter, {}, {2, 2}, {1, 1}, "EXPLICIT", {1, 1}, 1, {});
  EXPECT_EQ(out.dims[0], n_);
  EXPECT_EQ(out.dims[3], Dim(17));
  EXPECT_EQ(Evaluate(out.dims[2], {{"S", 48}}), 24);
  EXPECT_EQ(Evaluate(out.dims[2], {{"S", 49}}), 25);
  const MetaTensor same = Conv2dInferMeta(x, filter, {}, {2, 2}, {}, "SAME", {1, 1}, 1, {});
  EXPECT_EQ(Evaluate(same.dims[2], {{"S", 49}}), 25);
  for (const int64_t size : {5, 6, 7, 8}) {
    const auto pooled = [&](const Dim& height) {
      return Pool2dInferMeta(MetaTensor(D::kFloat, {Dim(1), Dim(1), height, Dim(9)}), IntArray{2, 2}, {3, 3}, {1, 1},
                             true, true, "max", false, false, "EXPLICIT", {1, 1});
    };
    EXPECT_EQ(Evaluate(pooled(s_).dims[2], {{"S", size}}), pooled(size).dims[2].value()) << size;
  }
}

// As ONNX's shape inference has it; ONNX Runtime 1.24 refuses such a MaxPool and crops such an LpPool.
TEST(Window, SamePaddingNeverCrops) {
  const WindowAxis axis = ResolveWindowAxis(ParseWindow(1, {3}, {}, "SAME", {1}), 0, 6, 1, false);
  EXPECT_EQ(axis.output, 2);
  EXPECT_EQ(axis.pad_begin, 0);
  EXPECT_EQ(axis.pad_end, 0);
}

TEST_F(SymbolicInfer, TransposedWindows) {
  const MetaTensor filter(D::kFloat, {Dim(4), Dim(3), Dim(3), Dim(2)});
  for (const char* algorithm : {"EXPLICIT", "VALID", "SAME", "SAME_LOWER", "SAME_FORWARD"}) {
    for (const int64_t size : {1, 4, 5, 6}) {
      const auto result = [&](const Dim& height) {
        return Conv2dTransposeInferMeta(MetaTensor(D::kFloat, {n_, Dim(4), height, Dim(5)}), filter, {}, IntArray{},
                                        {3, 2}, {1, 0}, {1, 1}, algorithm, {2, 1}, 2, {});
      };
      EXPECT_EQ(Evaluate(result(s_).dims[2], {{"S", size}}), result(size).dims[2].value()) << algorithm << " " << size;
      EXPECT_EQ(result(s_).dims[1], Dim(6));
    }
  }
  const MetaTensor x(D::kFloat, {n_, Dim(4), s_, s_});
  const MetaTensor sized =
      Conv2dTransposeInferMeta(x, filter, {}, IntArray{7, 9}, {1, 1}, {0, 0}, {}, "EXPLICIT", {1, 1}, 1, {});
  EXPECT_EQ(sized.dims[2], Dim(7));
  EXPECT_THROW(Conv2dTransposeInferMeta(x, filter, {}, IntArray{7}, {1, 1}, {0, 0}, {}, "EXPLICIT", {1, 1}, 1, {}),
               Error);
  EXPECT_THROW(Conv2dTransposeInferMeta(x, filter, {}, IntArray{}, {1, 1}, {0, 0}, {-1, 0}, "EXPLICIT", {1, 1}, 1, {}),
               Error);
  const MetaTensor small(D::kFloat, {Dim(1), Dim(4), Dim(2), Dim(2)});
  EXPECT_THROW(Conv2dTransposeInferMeta(small, filter, {}, IntArray{}, {1, 1}, {9, 0}, {}, "EXPLICIT", {1, 1}, 1, {}),
               Error);
}

TEST_F(SymbolicInfer, PivotsBelongToTheirMatrices) {
  const MetaTensor lu(D::kFloat, {Dim(4), Dim(3), Dim(2)});
  EXPECT_EQ(LuPermutationInferMeta(lu, MetaTensor(D::kInt32, {Dim(4), Dim(2)})).shape(), (Shape{4, 3, 3}));
  EXPECT_NE(MessageOf([&] { LuPermutationInferMeta(lu, MetaTensor(D::kInt32, {Dim(0), Dim(2)})); }), "");
}

TEST_F(SymbolicInfer, Slices) {
  const auto sliced = [&](const Dim& dim, int64_t start, int64_t end, int64_t step) {
    return SliceInferMeta(MetaTensor(D::kFloat, {dim}), {0}, IntArray{start}, IntArray{end}, {step}).dims[0];
  };
  for (const int64_t start : {-3, -1, 0, 1, 4}) {
    for (const int64_t end : {INT64_MAX, int64_t{-2}, int64_t{0}, int64_t{2}, int64_t{9}}) {
      for (const int64_t step : {1, 2}) {
        for (const int64_t size : {0, 1, 2, 5, 12}) {
          EXPECT_EQ(Evaluate(sliced(s_, start, end, step), {{"S", size}}), sliced(size, start, end, step).value())
              << start << ":" << end << ":" << step << " of " << size;
        }
      }
    }
  }
  EXPECT_EQ(sliced(s_, 0, INT64_MAX, 1), s_);
  EXPECT_EQ(sliced(s_, -1, INT64_MIN, -1), s_);
}

TEST_F(SymbolicInfer, Arange) {
  SymScalar end;
  end.dim = s_;
  EXPECT_EQ(Evaluate(ArangeInferMeta(Scalar(0), end, Scalar(2), D::kInt64).dims[0], {{"S", 7}}), 4);
  const MetaTensor known = ArangeInferMeta(Scalar(3), Scalar(0), Scalar(-1), D::kInt64);
  EXPECT_EQ(known.DebugString(), "i64[3] = [3, 2, 1]");
}

TEST_F(SymbolicInfer, RecurrentLayers) {
  const MetaTensor x(D::kFloat, {s_, n_, Dim(5)});
  const MetaTensor w(D::kFloat, {Dim(2), Dim(16), Dim(5)});
  const MetaTensor r(D::kFloat, {Dim(2), Dim(16), Dim(4)});
  const auto infer = [&](const MetaTensor* initial_h, const MetaTensor* initial_c, const std::string& cell,
                         const std::string& direction) {
    return RnnInferMeta(x, w, r, nullptr, nullptr, initial_h, initial_c, nullptr, cell, direction, {}, {}, {}, 0.0F,
                        false, false);
  };
  const auto results = infer(nullptr, nullptr, "lstm", "bidirectional");
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results[0].DebugString(), "f32[S,2,N,4]");
  EXPECT_EQ(results[1].DebugString(), "f32[2,N,4]");
  EXPECT_EQ(results[2].DebugString(), "f32[2,N,4]");
  // The batch is known from the state.
  const MetaTensor h(D::kFloat, {Dim(2), Dim(3), Dim(4)});
  EXPECT_EQ(infer(&h, nullptr, "lstm", "bidirectional")[0].DebugString(), "f32[S,2,3,4]");
  EXPECT_NE(MessageOf([&] { infer(nullptr, nullptr, "lstm", "forward"); }).find("w is f32[2,16,5], expected [1,16,5]"),
            std::string::npos);
  EXPECT_NE(MessageOf([&] { infer(nullptr, nullptr, "gru", "bidirectional"); }).find("expected [2,12,5]"),
            std::string::npos);
  EXPECT_NE(MessageOf([&] { infer(nullptr, &h, "rnn", "forward"); }).find("are for cell lstm"), std::string::npos);
  EXPECT_NE(MessageOf([&] { infer(nullptr, nullptr, "lstm", "both"); }).find("direction is 'both'"), std::string::npos);
  const std::vector<std::string> acts = {"sigmoid", "swish"};
  EXPECT_NE(MessageOf([&] {
              RnnInferMeta(x, w, r, nullptr, nullptr, nullptr, nullptr, nullptr, "gru", "forward", acts, {}, {}, 0.0F,
                           false, false);
            }).find("activation 'swish', expected one of sigmoid, tanh"),
            std::string::npos);
}

TEST_F(SymbolicInfer, LogicOnKnownValues) {
  MetaTensor yes = Values(D::kBool, {1, 0});
  MetaTensor no = Values(D::kBool, {0});
  EXPECT_EQ(LogicalNotInferMeta(yes).DebugString(), "bool[2] = [0, 1]");
  EXPECT_EQ(LogicalAndInferMeta(yes, no).DebugString(), "bool[2] = [0, 0]");
  EXPECT_EQ(LogicalOrInferMeta(yes, no).DebugString(), "bool[2] = [1, 0]");
  EXPECT_EQ(LogicalXorInferMeta(yes, yes).DebugString(), "bool[2] = [0, 0]");
  EXPECT_FALSE(LogicalNotInferMeta(Values(D::kInt64, {n_})).values.has_value());
}

TEST(Infer, TypesArePromoted) {
  const MetaTensor f(D::kFloat, {Dim(2)});
  const MetaTensor h(D::kFP16, {Dim(2)});
  EXPECT_EQ(AddInferMeta(f, h).dtype, D::kFloat);
  EXPECT_EQ(EqualInferMeta(f, h).dtype, D::kBool);
  EXPECT_EQ(SumInferMeta(MetaTensor(D::kBool, {Dim(2)}), IntArray{}, false).dtype, D::kInt64);
  EXPECT_EQ(FullLikeInferMeta(f, D::kInt32, DataLayout::kUndefined).dtype, D::kInt32);
  EXPECT_EQ(FullLikeInferMeta(f, D::kUndefined, DataLayout::kUndefined).dtype, D::kFloat);
}

TEST(Infer, ValuesThatWouldWrapAreForgotten) {
  const MetaTensor big = Values(D::kInt32, {INT32_MAX});
  EXPECT_FALSE(AddInferMeta(big, Values(D::kInt32, {1})).values.has_value());
  EXPECT_FALSE(MultiplyInferMeta(Values(D::kInt64, {INT64_MAX}), Values(D::kInt64, {2})).values.has_value());
  EXPECT_FALSE(DivideInferMeta(big, Values(D::kInt32, {0})).values.has_value());
  EXPECT_FALSE(CastInferMeta(Values(D::kInt64, {300}), D::kUInt8).values.has_value());
}

TEST(Infer, ErrorsNameArgumentsAndShapes) {
  const MetaTensor x(D::kFloat, {Dim(2), Dim(3)});
  const MetaTensor y(D::kFloat, {Dim(4)});
  EXPECT_EQ(MessageOf([&] { AddInferMeta(x, y); }),
            "x [2,3] and y [4] do not broadcast: 3 against 4 at axis 1 of the result");
  EXPECT_NE(MessageOf([&] {
              ReshapeInferMeta(x, IntArray{4, 2}, false);
            }).find("x [2,3] has 6 elements"),
            std::string::npos);
  EXPECT_NE(MessageOf([&] { ReshapeInferMeta(x, IntArray{-1, -1}, false); }).find("-1 twice"), std::string::npos);
  EXPECT_NE(MessageOf([&] { TransposeInferMeta(x, {0, 0}); }).find("perm has axis 0 twice"), std::string::npos);
  EXPECT_NE(MessageOf([&] { ConcatInferMeta({&x, &y}, 0); }).find("x[1] [4]"), std::string::npos);
  EXPECT_NE(MessageOf([&] { SoftmaxInferMeta(x, 2); }).find("axis is 2"), std::string::npos);
  EXPECT_NE(MessageOf([&] { GatherInferMeta(x, y, 0); }).find("index is f32[4]"), std::string::npos);
  Epilogue epilogue;
  epilogue.steps.push_back({EpilogueStep::Kind::kBias, ActKind::kIdentity, 0.0F, 0.0F, 0});
  EXPECT_NE(MessageOf([&] {
              FcInferMeta(x, MetaTensor(D::kFloat, {Dim(3), Dim(5)}), {&y}, 1, epilogue);
            }).find("5 channels"),
            std::string::npos);
  EXPECT_NE(MessageOf([&] {
              FcInferMeta(x, MetaTensor(D::kFloat, {Dim(3), Dim(4)}), {}, 1, epilogue);
            }).find("operand 0"),
            std::string::npos);
  EXPECT_EQ(FcInferMeta(x, MetaTensor(D::kFloat, {Dim(3), Dim(4)}), {&y}, 1, epilogue).DebugString(), "f32[2,4]");
}

TEST(Infer, WeightOnlyLinear) {
  const auto meta = [](D dtype, std::vector<int64_t> dims) {
    return MetaTensor(dtype, std::vector<Dim>(dims.begin(), dims.end()));
  };
  const MetaTensor x = meta(D::kFloat, {2, 80});
  const MetaTensor scale = meta(D::kFloat, {5, 3});
  const auto infer = [&](const MetaTensor& weight, const MetaTensor* scales, const MetaTensor* zeros, int bits,
                         int64_t group) {
    return WeightOnlyLinearInferMeta(x, weight, scales, zeros, {}, bits, group, Epilogue(), D::kUndefined)
        .DebugString();
  };
  const MetaTensor bytes = meta(D::kUInt8, {5, 80});
  EXPECT_EQ(infer(bytes, &scale, nullptr, 8, 32), "f32[2,5]");
  EXPECT_EQ(infer(meta(D::kUInt8, {5, 40}), &scale, nullptr, 4, 32), "f32[2,5]");
  EXPECT_EQ(infer(meta(D::kUInt8, {5, 48}), &scale, nullptr, 4, 32), "f32[2,5]");  // whole groups
  EXPECT_EQ(infer(meta(D::kBF16, {5, 80}), nullptr, nullptr, 8, -1), "f32[2,5]");
  const auto refused = [&](const char* why, const MetaTensor& weight, const MetaTensor* scales, const MetaTensor* zeros,
                           int bits, int64_t group) {
    const std::string message = MessageOf([&] { infer(weight, scales, zeros, bits, group); });
    EXPECT_NE(message.find(why), std::string::npos) << message;
  };
  const MetaTensor row_scale = meta(D::kFloat, {5});
  const MetaTensor zeros = meta(D::kInt8, {5, 3});
  refused("integers of 4 bits, x has 80 columns", meta(D::kUInt8, {5, 44}), &scale, nullptr, 4, 32);
  refused("expected one per group", bytes, &row_scale, nullptr, 8, 32);
  refused("expected one per row", bytes, &scale, nullptr, 8, -1);
  refused("zero_point is", bytes, &scale, &zeros, 8, 32);
  refused("expected 8, or 4 of u8", meta(D::kInt8, {5, 40}), &scale, nullptr, 4, 32);
  refused("integers need a weight_scale", bytes, nullptr, nullptr, 8, -1);
  refused("columns of both", meta(D::kBF16, {5, 79}), nullptr, nullptr, 8, -1);
  refused("expected i8, u8 or floats", meta(D::kInt32, {5, 80}), nullptr, nullptr, 8, -1);
  refused("group_size is 0", bytes, &scale, nullptr, 8, 0);
  const MetaTensor small = meta(D::kBF16, {2, 80});
  const auto infer_as = [&](D out_dtype) {
    return WeightOnlyLinearInferMeta(small, meta(D::kBF16, {5, 80}), nullptr, nullptr, {}, 8, -1, Epilogue(), out_dtype)
        .DebugString();
  };
  EXPECT_EQ(infer_as(D::kUndefined), "bf16[2,5]");
  EXPECT_EQ(infer_as(D::kFloat), "f32[2,5]");
  EXPECT_NE(MessageOf([&] { infer_as(D::kInt8); }).find("expected the same or f32"), std::string::npos);
}

TEST(Infer, HostileSizes) {
  const MetaTensor x(D::kFloat, {Dim(2), Dim(3)});
  EXPECT_THROW(TileInferMeta(x, IntArray{INT64_MAX, 2}), Error);
  EXPECT_THROW(ReshapeInferMeta(x, IntArray{INT64_MAX, INT64_MAX}, false), Error);
  EXPECT_THROW(PadInferMeta(x, IntArray{INT64_MAX, 0, 1, 0}, "constant"), Error);
  EXPECT_THROW(ArangeInferMeta(Scalar(int64_t{INT64_MIN}), Scalar(int64_t{INT64_MAX}), Scalar(1), D::kInt64), Error);
  const MetaTensor image(D::kFloat, {Dim(1), Dim(1), Dim(4), Dim(4)});
  EXPECT_THROW(Conv2dInferMeta(image, image, {}, {1, 1}, {INT64_MAX, 0}, "EXPLICIT", {1, 1}, 1, {}), Error);
  EXPECT_THROW(SliceInferMeta(x, {0}, IntArray{0}, IntArray{1}, {0}), Error);
  EXPECT_EQ(SliceInferMeta(x, {0}, IntArray{INT64_MIN}, IntArray{INT64_MAX}, {INT64_MAX}).dims[0], Dim(1));
  // A step that is never taken stays out of kernels' arithmetic.
  EXPECT_EQ(ResolveSlice(4, 0, 4, INT64_MAX).step, 1);
  EXPECT_EQ(ResolveSlice(4, 3, -100, INT64_MIN).count, 1);
  EXPECT_EQ(ResolveSlice(4, 3, -100, INT64_MIN).step, -1);
  EXPECT_EQ(ResolveSlice(4, 3, -100, -2).step, -2);
}

TEST(Infer, EmptyAndScalar) {
  const MetaTensor scalar(D::kFloat, {});
  EXPECT_EQ(ReshapeInferMeta(scalar, IntArray{1, -1}, false).DebugString(), "f32[1,1]");
  EXPECT_EQ(SqueezeInferMeta(scalar, IntArray{}).DebugString(), "f32[]");
  EXPECT_EQ(ReshapeInferMeta(MetaTensor(D::kFloat, {Dim(0), Dim(12)}), IntArray{0, -1, 4}, false).DebugString(),
            "f32[0,3,4]");
  EXPECT_EQ(ShapeInferMeta(scalar, D::kInt64).DebugString(), "i64[0] = []");
  EXPECT_THROW(ReshapeInferMeta(MetaTensor(D::kFloat, {Dim(0), Dim(3)}), IntArray{-1, 0}, true), Error);
}

}  // namespace
}  // namespace wherry
