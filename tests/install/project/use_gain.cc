// What the program wants of its static library: nothing else refers to the pass, or to what only models use.
#include "wherry/extend.h"

USE_OP(gain);
USE_KERNEL(gain, example, kHost, kNCHW);
#ifdef USE_PASS
USE_MIR_PASS(gain_pair_fuse_pass);
#endif
