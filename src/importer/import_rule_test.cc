#include "importer/import_rule.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "importer/importer.h"
#include "op/pending.h"
#include "op/schema_registry.h"
#include "wherry/error.h"

namespace wherry {
namespace {

TEST(ImportRule, RulesAreFoundByFormatDomainTypeAndOpset) {
  const ImportRule* rule = FindImportRule("onnx", "", "HardSwish", 14);
  ASSERT_NE(rule, nullptr);
  EXPECT_STREQ(rule->op, "hardswish");
  ASSERT_EQ(rule->inputs.size(), 1U);
  EXPECT_STREQ(rule->inputs[0].ours, "x");
  EXPECT_EQ(rule->inputs[0].theirs, nullptr);

  EXPECT_EQ(FindImportRule("onnx", "", "HardSwish", rule->since - 1), nullptr);
  EXPECT_EQ(FindImportRule("onnx", "ai.example", "HardSwish", 14), nullptr);
  EXPECT_EQ(FindImportRule("onnx", "", "NoSuchOperator", 13), nullptr);
  EXPECT_EQ(FindImportRule("tflite", "", "HardSwish", 14), nullptr);
}

TEST(ImportRule, PaddleRulesNameParameters) {
  const ImportRule* rule = FindImportRule("paddle", "", "softmax");
  ASSERT_NE(rule, nullptr);
  ASSERT_EQ(rule->inputs.size(), 1U);
  EXPECT_STREQ(rule->inputs[0].theirs, "X");
  ASSERT_EQ(rule->outputs.size(), 1U);
  EXPECT_STREQ(rule->outputs[0].theirs, "Out");
}

TEST(ImportRule, RulesAreSortedAndFitTheirSchemas) {
  const ImportRule* previous = nullptr;
  for (const ImportRule& rule : BuiltinImportRules()) {
    SCOPED_TRACE(std::string(rule.format) + " " + rule.type);
    if (previous != nullptr) {
      const auto key = [](const ImportRule& r) {
        return std::tuple<std::string, std::string, std::string, int>(r.format, r.domain, r.type, r.since);
      };
      EXPECT_LT(key(*previous), key(rule));
    }
    previous = &rule;

    const OpSchema* schema = SchemaRegistry::Global().Find(rule.op);
    ASSERT_NE(schema, nullptr);
    for (const ImportTensor& tensor : rule.inputs) {
      if (tensor.ours != nullptr) {
        EXPECT_GE(schema->FindArg(tensor.ours), 0) << tensor.ours;
      }
    }
    for (const ImportTensor& tensor : rule.outputs) {
      if (tensor.ours != nullptr) {
        EXPECT_GE(schema->FindOutput(tensor.ours), 0) << tensor.ours;
      }
    }
    for (const ImportAttr& attr : rule.attrs) {
      const int index = schema->FindArg(attr.ours);
      ASSERT_GE(index, 0) << attr.ours;
      EXPECT_EQ(schema->args[static_cast<size_t>(index)].type, attr.type) << attr.ours;
      if (attr.value != nullptr) {
        EXPECT_EQ(TypeOf(attr.ParsedValue()), attr.type) << attr.ours << " = " << attr.value;
      }
      if (attr.theirs == nullptr) {
        EXPECT_NE(attr.value, nullptr) << attr.ours;
      }
    }
  }
}

constexpr ImportTensor kInputs[] = {{"x", nullptr}};
constexpr ImportTensor kOutputs[] = {{"out", nullptr}};

TEST(ImportRule, ProgramsAddTheirOwn) {
  EXPECT_EQ(FindImportRule("onnx", "com.example", "Gain", 4), nullptr);
  static constexpr ImportRule kGain[] = {{"onnx", "com.example", "Gain", 3, 5, "relu", kInputs, kOutputs, {}}};
  static constexpr ImportRuleSet kSet = {kGain};
  static const PendingNode<ImportRuleSet> node(&kSet);
  EXPECT_EQ(FindImportRule("onnx", "com.example", "Gain", 2), nullptr);
  EXPECT_EQ(FindImportRule("onnx", "com.example", "Gain", 3), &kGain[0]);
  EXPECT_EQ(FindImportRule("onnx", "com.example", "Gain", 6), nullptr);

  // What is taken is an Error once, and stays as it was; it takes nothing else with it.
  static constexpr ImportRule kTaken[] = {
      {"onnx", "", "HardSwish", 1, ImportRule::kNoLimit, "relu", kInputs, kOutputs, {}},
      {"onnx", "com.example", "Other", 1, ImportRule::kNoLimit, "relu", kInputs, kOutputs, {}}};
  static constexpr ImportRuleSet kTakenSet = {kTaken};
  static const PendingNode<ImportRuleSet> taken_node(&kTakenSet);
  EXPECT_THROW(FindImportRule("onnx", "", "NoSuchOperator"), Error);
  EXPECT_STREQ(FindImportRule("onnx", "", "HardSwish", 14)->op, "hardswish");
  EXPECT_EQ(FindImportRule("onnx", "com.example", "Other"), &kTaken[1]);
}

TEST(ImportRule, NoTypeHasBothARuleAndAConverter) {
  for (const ConverterDescriptor* converter : BuiltinConverters()) {
    for (const ImportRule& rule : BuiltinImportRules()) {
      EXPECT_FALSE(std::string(rule.format) == converter->importer && std::string(rule.type) == converter->type)
          << rule.format << " " << rule.type;
    }
  }
}

}  // namespace
}  // namespace wherry
