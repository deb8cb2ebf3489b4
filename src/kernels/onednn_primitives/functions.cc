#include "kernels/onednn_primitives/functions.h"

const wherry::onednn::Functions* WherryOnednnFunctions() {
  using namespace wherry::onednn;
  static const Functions functions{Conv2dFunctions(), MatmulFunctions(), FusedMatmulFunctions(), FcFunctions()};
  return &functions;
}
