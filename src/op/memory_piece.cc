#include "op/memory_piece.h"

#include <algorithm>
#include <string_view>

#include "op/attribute_cast.h"
#include "op/infer/slice_range.h"

namespace wherry {

namespace {

bool ChannelsLast(const MetaTensor& type) { return type.layout == DataLayout::kNHWC && type.rank() >= 3; }

bool Regular(const MetaTensor& type) {
  return type.rank_known && type.pixel_stride == 0 && SizeOf(type.dtype) > 0 &&
         (type.layout == DataLayout::kNCHW || type.layout == DataLayout::kNHWC);
}

// `part` is what lies at [start, start + its extent) of `whole` along each axis. It is one piece if only one axis is
// cut and everything outside that axis is one element; and besides channels, the innermost axis, which leave gaps.
MemoryPiece PieceAt(const MetaTensor& whole, const MetaTensor& part, const std::vector<Dim>& starts) {
  MemoryPiece piece;
  if (!Regular(whole) || !Regular(part) || whole.layout != part.layout || whole.dtype != part.dtype ||
      whole.rank() != part.rank()) {
    return piece;
  }
  bool known = true;
  bool cut = false;
  bool channels_cut = false;
  bool pixels = false;  // more than one
  Dim stride = 1;
  Dim offset = 0;
  const std::vector<size_t> order = MemoryOrder(whole);
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    const Dim& extent = part.dims[*axis];
    known = known && extent.known() && whole.dims[*axis].known() && starts[*axis].known();
    if (cut && extent.known() && extent != Dim(1)) return piece;
    if (ChannelsLast(whole) && axis == order.rbegin()) {
      channels_cut = extent != whole.dims[*axis];
    } else {
      cut = cut || extent != whole.dims[*axis];
      pixels = pixels || extent != Dim(1);
    }
    offset = offset + starts[*axis] * stride;
    stride = stride * whole.dims[*axis];
  }
  piece.possible = true;
  piece.strided = channels_cut && pixels;
  if (known) piece.offset = offset.value();
  return piece;
}

std::optional<std::vector<Dim>> Numbers(const BoundArg& arg) {
  if (!arg.tensors.empty()) return arg.tensors[0]->values;
  if (arg.attribute == nullptr) return std::nullopt;
  return SymIntArray(AttributeCast<IntArray>(*arg.attribute)).values;
}

size_t Axis(int64_t axis, int rank) { return static_cast<size_t>(axis < 0 ? axis + rank : axis); }

// One of the parts that lie behind each other along an axis.
MemoryPiece PieceAlong(const MetaTensor& whole, const std::vector<const MetaTensor*>& parts, int64_t axis,
                       size_t index) {
  const size_t along = Axis(axis, whole.rank());
  std::vector<Dim> starts(whole.dims.size(), Dim(0));
  for (size_t i = 0; i < index; ++i) {
    if (!parts[i]->rank_known || parts[i]->rank() != whole.rank()) return {};
    starts[along] = starts[along] + parts[i]->dims[along];
  }
  return PieceAt(whole, *parts[index], starts);
}

MemoryPiece PieceOfSlice(const OpSchema& schema, const std::vector<BoundArg>& args, const MetaTensor& x,
                         const MetaTensor& result) {
  const auto arg = [&](const char* name) -> const BoundArg& { return args[static_cast<size_t>(schema.FindArg(name))]; };
  const auto& axes = AttributeCast<std::vector<int64_t>>(*arg("axes").attribute);
  const auto& steps = AttributeCast<std::vector<int64_t>>(*arg("steps").attribute);
  const auto from = Numbers(arg("starts"));
  const auto to = Numbers(arg("ends"));
  if (!from || !to || from->size() != axes.size() || to->size() != axes.size()) return {};
  if (std::any_of(steps.begin(), steps.end(), [](int64_t step) { return step != 1; })) return {};
  std::vector<Dim> starts(x.dims.size(), Dim(0));
  bool known = true;
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = Axis(axes[i], x.rank());
    if ((*from)[i].known() && (*to)[i].known() && x.dims[axis].known()) {
      starts[axis] = ResolveSlice(x.dims[axis].value(), (*from)[i].value(), (*to)[i].value(), 1).start;
    } else {
      known = false;
    }
  }
  MemoryPiece piece = PieceAt(x, result, starts);
  if (!known) piece.offset.reset();
  return piece;
}

// Neighbouring positions in rising order are a slice, whose axis then is replaced by those of the index.
MemoryPiece PieceOfGather(const OpSchema& schema, const std::vector<BoundArg>& args, const MetaTensor& x,
                          const MetaTensor& result) {
  const auto arg = [&](const char* name) -> const BoundArg& { return args[static_cast<size_t>(schema.FindArg(name))]; };
  const auto positions = Numbers(arg("index"));
  if (!positions || positions->empty() || x.layout != DataLayout::kNCHW || result.layout != DataLayout::kNCHW)
    return {};
  const size_t axis = Axis(AttributeCast<int64_t>(*arg("axis").attribute), x.rank());
  for (size_t i = 1; i < positions->size(); ++i) {
    if ((*positions)[i] != (*positions)[0] + Dim(static_cast<int64_t>(i))) return {};
  }
  MetaTensor rows = x;
  rows.dims[axis] = static_cast<int64_t>(positions->size());
  std::vector<Dim> starts(x.dims.size(), Dim(0));
  starts[axis] = (*positions)[0];
  if (starts[axis].known() && starts[axis].value() < 0) starts[axis] = starts[axis] + x.dims[axis];
  // What is outside is the kernel's to refuse.
  const bool known = starts[axis].known() && x.dims[axis].known();
  if (known && (starts[axis].value() < 0 || starts[axis].value() + rows.dims[axis].value() > x.dims[axis].value()))
    return {};
  return PieceAt(x, rows, starts);
}

// Axis i of the result is axis perm[i] of x.
MemoryPiece PieceOfOrder(const MetaTensor& x, const MetaTensor& result, const std::vector<size_t>& perm) {
  if (!Regular(x) || !Regular(result)) return {};
  std::vector<int64_t> place(perm.size());  // of an axis of x, from the outermost in memory on
  const std::vector<size_t> order = MemoryOrder(x);
  for (size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int64_t>(i);
  // Dimensions of one may go anywhere, the others keep their order.
  MemoryPiece piece;
  int64_t last = -1;
  bool in_order = true;
  for (const size_t i : MemoryOrder(result)) {
    const size_t axis = perm[i];
    const Dim& extent = x.dims[axis];
    if (extent == Dim(1)) continue;
    // A symbol may turn out to be 1; numbers that change places never do.
    if (place[axis] < last && extent.known() && x.dims[order[static_cast<size_t>(last)]].known()) return {};
    in_order = in_order && place[axis] > last;
    last = std::max(last, place[axis]);
  }
  piece.possible = true;
  if (x.known() && in_order) piece.offset = 0;
  return piece;
}

// Of a transpose or layout: by its attribute, none of which is negative in what is given.
std::vector<size_t> PermOf(const OpSchema& schema, const std::vector<BoundArg>& args, int rank) {
  const auto& perm = AttributeCast<std::vector<int64_t>>(*args[static_cast<size_t>(schema.FindArg("perm"))].attribute);
  const bool reverses = std::string_view(schema.name) == "transpose";
  std::vector<size_t> axes;
  for (int64_t i = 0; i < rank; ++i) {
    axes.push_back(Axis(perm.empty() ? (reverses ? rank - 1 - i : i) : perm[static_cast<size_t>(i)], rank));
  }
  return axes;
}

}  // namespace

std::vector<size_t> MemoryOrder(const MetaTensor& type) {
  std::vector<size_t> order;
  const bool channels_last = ChannelsLast(type);
  for (size_t axis = 0; axis < type.dims.size(); ++axis) {
    if (!channels_last || axis != 1) order.push_back(axis);
  }
  if (channels_last) order.push_back(1);
  return order;
}

bool GivesPieces(const OpSchema& schema) {
  const std::string_view name = schema.name;
  return name == "slice" || name == "split" || name == "gather" || name == "transpose" || name == "layout";
}

bool TakesPieces(const OpSchema& schema) { return std::string_view(schema.name) == "concat"; }

MemoryPiece PieceOfArgument(const OpSchema& schema, const std::vector<BoundArg>& args,
                            const std::vector<const MetaTensor*>& results, size_t index) {
  if (!GivesPieces(schema) || args[0].tensors.size() != 1) return {};
  const std::string_view name = schema.name;
  const MetaTensor& x = *args[0].tensors[0];
  const MetaTensor& result = *results[index];
  if (!x.rank_known || !result.rank_known || x.rank() == 0) return {};
  if (name == "slice") return PieceOfSlice(schema, args, x, result);
  if (name == "gather") return PieceOfGather(schema, args, x, result);
  if (name == "transpose" || name == "layout") return PieceOfOrder(x, result, PermOf(schema, args, x.rank()));
  const auto axis = AttributeCast<int64_t>(*args[static_cast<size_t>(schema.FindArg("axis"))].attribute);
  return PieceAlong(x, results, axis, index);
}

MemoryPiece PieceOfResult(const std::vector<BoundArg>& args, const MetaTensor& result, int64_t axis, size_t index) {
  if (!result.rank_known || result.rank() == 0) return {};
  return PieceAlong(result, args[0].tensors, axis, index);
}

}  // namespace wherry
