// Labels decoded and compared. In older files sequences may be rows behind one another, whose lengths (LoD) go beside
// the tensor; only those with lengths of their own are read.
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

void CtcAlign(OpContext& c) {
  const std::string x = c.Input({"Input", 0});
  const std::string length = c.OptionalInput({"InputLength", 1});
  if (length.empty()) c.Unsupported("its sequences have no lengths of their own (LoD)");
  const auto results = c.EmitMany("ctc_align", {{"x", {x}}, {"input_length", {length}}},
                                  {{"blank", c.Attr<int64_t>("blank", 0)},
                                   {"merge_repeated", c.Attr<bool>("merge_repeated", true)},
                                   {"padding_value", c.Attr<int64_t>("padding_value", 0)}},
                                  2);
  c.Result({"Output", 0}, results[0]);
  c.Result({"OutputLength", 1}, results[1]);
}

void EditDistance(OpContext& c) {
  const std::string hyps_length = c.OptionalInput({"HypsLength", 2});
  const std::string refs_length = c.OptionalInput({"RefsLength", 3});
  if (hyps_length.empty() || refs_length.empty()) c.Unsupported("its sequences have no lengths of their own (LoD)");
  const auto results = c.EmitMany("edit_distance",
                                  {{"hyps", {c.Input({"Hyps", 0})}},
                                   {"refs", {c.Input({"Refs", 1})}},
                                   {"hyps_length", {hyps_length}},
                                   {"refs_length", {refs_length}}},
                                  {{"normalized", c.Attr<bool>("normalized", false)}}, 2);
  c.Result({"SequenceNum", 0}, results[0]);
  c.Result({"Out", 1}, results[1]);
}

}  // namespace

REGISTER_CONVERTER(paddle, ctc_align, &Convert<CtcAlign>);
REGISTER_CONVERTER(pir, ctc_align, &Convert<CtcAlign, 2, 2>);
REGISTER_CONVERTER(paddle, edit_distance, &Convert<EditDistance>);
REGISTER_CONVERTER(pir, edit_distance, &Convert<EditDistance, 4, 2>);

}  // namespace wherry::paddle
