// What is known to fail: known_failures/<provider>.txt, one a line:
//
//   KERNEL | TEXT | REASON       e.g.  onednn:softmax | f32[0, | oneDNN refuses empty tensors (its issue 1234)
//
// All failures of the kernel whose case or variant contains TEXT are expected. A line that matches no failure is itself
// a failure.
#pragma once

#include <string>
#include <vector>

namespace wherry::conformance {

class KnownFailures {
 public:
  // Reads the provider's file in `folder`; an absent one is empty. Error(kInvalidArgument) for a line that is not of
  // the form.
  KnownFailures(const std::string& folder, const std::string& provider);

  // Whether a failure is expected; it counts as a use of its line.
  bool Expects(const std::string& kernel, const std::string& text);
  // The lines for `kernel` that nothing used.
  std::vector<std::string> Unused(const std::string& kernel) const;

 private:
  struct Line {
    std::string kernel;
    std::string text;
    std::string whole;
    bool used = false;
  };
  std::vector<Line> lines_;
};

}  // namespace wherry::conformance
