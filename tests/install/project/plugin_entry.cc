// A plug-in's own code calls its operators' functions; a program reaches them through what the plug-in offers.
#include "gain_ops.h"

extern "C" void CallGain(const wherry::Tensor& x, float factor, wherry::Tensor* out);
void CallGain(const wherry::Tensor& x, float factor, wherry::Tensor* out) { *out = wherry::gain(x, factor); }
