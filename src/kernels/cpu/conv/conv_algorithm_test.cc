#include "kernels/cpu/conv/conv_algorithm.h"

#include <gtest/gtest.h>

#include "kernels/cpu/conv/conv_test_util.h"

namespace wherry::cpu {
namespace {

ConvAlgorithm Choose(int64_t height, int64_t width, const ConvWeightShape& weight, int64_t stride = 1,
                     int64_t pad = 1) {
  return ChooseConvAlgorithm(MakeConvShape(1, height, width, weight, stride, pad), 1);
}

TEST(ConvAlgorithm, WhatTheBenchmarkFoundFastest) {
  EXPECT_EQ(Choose(56, 56, {64, 64, 3, 3, 1}), ConvAlgorithm::kWinograd4);
  EXPECT_EQ(Choose(28, 28, {128, 128, 3, 3, 1}), ConvAlgorithm::kWinograd4);
  EXPECT_EQ(Choose(14, 14, {256, 256, 3, 3, 1}), ConvAlgorithm::kWinograd4);
  EXPECT_EQ(Choose(7, 7, {512, 512, 3, 3, 1}), ConvAlgorithm::kWinograd2);
  EXPECT_EQ(Choose(160, 160, {32, 32, 3, 3, 1}), ConvAlgorithm::kWinograd4);
  EXPECT_EQ(Choose(80, 80, {48, 24, 3, 3, 1}), ConvAlgorithm::kWinograd4);
  EXPECT_EQ(Choose(224, 224, {64, 3, 3, 3, 1}), ConvAlgorithm::kDirect);
  EXPECT_EQ(Choose(1, 1, {512, 512, 3, 3, 1}), ConvAlgorithm::kDirect);
}

TEST(ConvAlgorithm, OnlyWhatCanRun) {
  EXPECT_EQ(Choose(56, 56, {64, 64, 3, 3, 1}, 2), ConvAlgorithm::kDirect);
  EXPECT_EQ(Choose(28, 28, {256, 8, 3, 3, 32}), ConvAlgorithm::kDepthwise);
  EXPECT_EQ(Choose(28, 28, {512, 16, 3, 3, 32}), ConvAlgorithm::kDirect);
  EXPECT_EQ(Choose(28, 28, {64, 64, 1, 1, 1}, 1, 0), ConvAlgorithm::kGemm);
  EXPECT_EQ(Choose(28, 28, {64, 64, 1, 1, 1}, 2, 0), ConvAlgorithm::kDirect);
  EXPECT_EQ(Choose(28, 28, {64, 64, 1, 1, 1}, 1, 1), ConvAlgorithm::kDirect);
  EXPECT_EQ(Choose(28, 28, {64, 1, 3, 3, 64}), ConvAlgorithm::kDepthwise);
  EXPECT_EQ(Choose(28, 28, {128, 1, 3, 3, 64}), ConvAlgorithm::kDepthwise);
  EXPECT_EQ(Choose(28, 28, {1024, 1, 3, 3, 64}), ConvAlgorithm::kDirect);
  EXPECT_EQ(Choose(28, 28, {24, 1, 3, 3, 3}), ConvAlgorithm::kDirect);
  EXPECT_EQ(ChooseConvAlgorithm(MakeConvShape(1, 28, 28, {64, 64, 3, 3, 1}, 1, 2, 2), 1), ConvAlgorithm::kDirect);
}

TEST(ConvAlgorithm, EmptyImagesAndManyThreads) {
  EXPECT_EQ(ChooseConvAlgorithm(MakeConvShape(0, 28, 28, {64, 64, 1, 1, 1}), 4), ConvAlgorithm::kGemm);
  ChooseConvAlgorithm(MakeConvShape(0, 28, 28, {64, 64, 3, 3, 1}, 1, 1), 4);
  ChooseConvAlgorithm(MakeConvShape(1, 28, 28, {0, 64, 3, 3, 1}, 1, 1), 4);
  // Four tiles of F(4,3) cannot occupy 16 threads, the panels of direct can.
  EXPECT_NE(ChooseConvAlgorithm(MakeConvShape(1, 7, 7, {512, 512, 3, 3, 1}, 1, 1), 16), ConvAlgorithm::kWinograd4);
}

}  // namespace
}  // namespace wherry::cpu
