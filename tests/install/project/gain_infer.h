#pragma once

#include "wherry/extend.h"

wherry::MetaTensor GainInferMeta(const wherry::MetaTensor& x);
