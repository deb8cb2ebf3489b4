// Clip: bounds as attributes before opset 11, as inputs since.
#include "importers/onnx/converter.h"

namespace wherry::onnx {

namespace {

void Clip(OnnxContext& c) {
  OpInputs inputs = {{"x", {c.Input(0)}}};
  OpAttrs attrs;
  if (c.opset() < 11) {
    for (const char* name : {"min", "max"}) {
      if (c.HasAttr(name)) attrs.emplace_back(name, Scalar(c.Attr<double>(name)));
    }
  } else {
    c.PassScalar("min", 1, &inputs, &attrs);
    c.PassScalar("max", 2, &inputs, &attrs);
  }
  c.EmitResult("clip", inputs, attrs);
}

}  // namespace

REGISTER_CONVERTER(onnx, Clip, &Convert<Clip>);

}  // namespace wherry::onnx
