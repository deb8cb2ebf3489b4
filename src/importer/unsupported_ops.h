// UnsupportedOps: what a model has that Wherry cannot run, collected so that a user sees all of it at once.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "importer/foreign_op.h"

namespace wherry {

class UnsupportedOps {
 public:
  // `reason` empty: the operator is not known at all; else what about it, e.g. "attribute data_format is 'NDHWC'".
  void Add(const ForeignOp& op, const std::string& reason = "");
  bool empty() const { return found_.empty(); }
  // All of them, the first place and the number of places of each, appended to `list`, or if that is null in one
  // Error(kUnsupported). No effect when there is none. `model` is how messages call the file and its format.
  void Report(const std::string& model, std::vector<std::string>* list) const;

 private:
  struct Places {
    std::string first;
    int count = 0;
  };
  std::map<std::pair<std::string, std::string>, Places> found_;  // by type and reason
};

}  // namespace wherry
