// For tests: a small network that fc_fuse_pass makes one statement of.
#pragma once

namespace wherry {

// relu(x * [[1, 2], [3, 4]] + [10, 20]): [1, 1] gives [14, 26].
inline constexpr char kFcProgram[] = R"(
weight %w : f32[2,2] = [1, 2, 3, 4]
weight %b : f32[2] = [10, 20]
block main(%x : f32[N,2]) -> (%y) {
  %m = mul(x: %x, y: %w)
  %a = add(x: %m, y: %b)
  %y = relu(x: %a)
}
)";

}  // namespace wherry
