#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"

namespace wherry::ref {
namespace {

enum Column { kFeature, kComparison, kWhenTrue, kWhenFalse, kNanIsTrue, kMembersBegin, kMembersEnd, kColumns };

// One of the trees' lists, with its bounds.
struct Numbers {
  Numbers(const DenseTensor& tensor, const char* list)
      : data(tensor.data<int64_t>()), size(tensor.numel()), name(list) {}

  const int64_t* data;
  int64_t size;
  const char* name;

  int64_t at(int64_t i) const {
    WHERRY_ENFORCE(i >= 0 && i < size, kInvalidArgument, "a tree needs element ", i, " of ", name, ", which has ",
                   size);
    return data[i];
  }
};

template <typename T>
struct Trees {
  const DenseTensor& splits;
  Numbers nodes;
  const DenseTensor* members;
  int64_t features;

  bool IsMember(const int64_t* node, double value) const {
    const int64_t count = members == nullptr ? 0 : members->numel();
    WHERRY_ENFORCE(0 <= node[kMembersBegin] && node[kMembersBegin] <= node[kMembersEnd] && node[kMembersEnd] <= count,
                   kInvalidArgument, "a node's members are ", node[kMembersBegin], " to ", node[kMembersEnd], " of ",
                   count);
    for (int64_t i = node[kMembersBegin]; i < node[kMembersEnd]; ++i) {
      if (Load(members->data<T>()[i]) == value) return true;
    }
    return false;
  }

  bool Holds(int64_t number, const int64_t* node, double value) const {
    if (std::isnan(value) && node[kNanIsTrue] != 0) return true;
    const double split = Load(splits.data<T>()[number]);
    switch (node[kComparison]) {
      case 0: return value <= split;
      case 1: return value < split;
      case 2: return value >= split;
      case 3: return value > split;
      case 4: return value == split;
      case 5: return value != split;
      case 6: return IsMember(node, value);
      default: Throw(ErrorCode::kInvalidArgument, "a node's comparison is ", node[kComparison], ", expected 0 to 6");
    }
  }

  // The number of the leaf that a row comes to from this place.
  int64_t LeafOf(int64_t place, const T* row) const {
    const int64_t count = splits.numel();
    for (int64_t steps = 0; place >= 0; ++steps) {
      WHERRY_ENFORCE(place < count && steps < count, kInvalidArgument, "node ", place, " of a tree of ", count,
                     " nodes is ", place < count ? "below itself" : "not there");
      const int64_t* node = nodes.data + place * kColumns;
      const int64_t feature = node[kFeature];
      WHERRY_ENFORCE(feature >= 0 && feature < features, kInvalidArgument, "a node looks at column ", feature, " of ",
                     features);
      place = node[Holds(place, node, Load(row[feature])) ? kWhenTrue : kWhenFalse];
    }
    return -(place + 1);
  }
};

template <typename T>
void TreeEnsemble(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& splits,
                  const DenseTensor& nodes, const DenseTensor& roots, const DenseTensor& leaves,
                  const DenseTensor& targets, const DenseTensor& weights, const DenseTensor* members,
                  int64_t target_count, const std::string& aggregate, DenseTensor* out) {
  const int64_t features = x.shape()[1];
  const Trees<T> trees = {splits, Numbers(nodes, "nodes"), members, features};
  const Numbers starts(leaves, "leaves");
  const Numbers columns(targets, "targets");
  const bool least = aggregate == "MIN";
  const bool greatest = aggregate == "MAX";
  T* to = out->mutable_data<T>();
  for (int64_t row = 0; row < x.shape()[0]; ++row, to += target_count) {
    std::vector<std::optional<double>> found(static_cast<size_t>(target_count));
    for (int64_t tree = 0; tree < roots.numel(); ++tree) {
      const int64_t leaf = trees.LeafOf(roots.data<int64_t>()[tree], x.data<T>() + row * features);
      for (int64_t i = starts.at(leaf), end = starts.at(leaf + 1); i < end; ++i) {
        const int64_t column = columns.at(i);
        WHERRY_ENFORCE(column >= 0 && column < target_count, kInvalidArgument, "a leaf has a weight for target ",
                       column, " of ", target_count);
        std::optional<double>& value = found[static_cast<size_t>(column)];
        const double weight = Load(weights.data<T>()[i]);
        if (!value) {
          value = weight;
        } else {
          value = least ? std::min(*value, weight) : greatest ? std::max(*value, weight) : *value + weight;
        }
      }
    }
    const double divisor = aggregate == "AVERAGE" ? static_cast<double>(roots.numel()) : 1.0;
    for (int64_t i = 0; i < target_count; ++i) {
      to[i] = Store<T>(found[static_cast<size_t>(i)].value_or(0.0) / divisor);
    }
  }
}

}  // namespace

REGISTER_KERNEL(tree_ensemble, ref, kHost, kNCHW, TreeEnsemble, float, double, Float16);

}  // namespace wherry::ref
