#include "kernels/cpu/vector/broadcast_tiles.h"

#include <algorithm>

namespace wherry::cpu {
namespace {

constexpr int kOut = -1;  // among the tensors of loops
constexpr size_t kMaxSize = 8;

// Rows are tiles of their own if there are operands that change from row to row only, can be given as one element then,
// and repeating them would write so many elements a row: as long as a call of the body takes.
constexpr int64_t kManyRepeated = 80;

int64_t StrideOf(const BroadcastLoops& loops, int tensor, int dim) {
  return tensor == kOut ? loops.out_stride(dim) : loops.stride(tensor, dim);
}

}  // namespace

// Of a tile: its part of the dimension that is cut, and where its elements begin in each tensor.
class BroadcastTiles::Position {
 public:
  Position(const BroadcastTiles& tiles, int64_t tile) : tiles_(tiles), part_(tile % tiles.parts_) {
    const int count = static_cast<int>(tiles.inputs_.size());
    for (int k = kOut; k < count; ++k) At(k) = part_ * tiles.steps_ * StrideOf(tiles.loops_, k, tiles.cut_);
    int64_t rest = tile / tiles.parts_;
    for (int d = tiles.cut_ - 1; d >= 0; --d) {
      const int64_t dim = tiles.loops_.dim(d);
      const int64_t at = rest % dim;
      index_[static_cast<size_t>(d)] = at;
      rest /= dim;
      for (int k = kOut; k < count; ++k) At(k) += at * StrideOf(tiles.loops_, k, d);
    }
  }

  void Next() {
    if (++part_ < tiles_.parts_) return Move(tiles_.cut_, tiles_.steps_);
    Move(tiles_.cut_, -(part_ - 1) * tiles_.steps_);
    part_ = 0;
    for (int d = tiles_.cut_ - 1; d >= 0; --d) {
      int64_t& at = index_[static_cast<size_t>(d)];
      if (++at < tiles_.loops_.dim(d)) return Move(d, 1);
      Move(d, 1 - at);
      at = 0;
    }
  }

  int64_t steps() const { return std::min(tiles_.steps_, tiles_.loops_.dim(tiles_.cut_) - part_ * tiles_.steps_); }
  int64_t offset(int tensor) const { return offsets_[static_cast<size_t>(tensor + 1)]; }

 private:
  int64_t& At(int tensor) { return offsets_[static_cast<size_t>(tensor + 1)]; }
  void Move(int dim, int64_t by) {
    const int count = static_cast<int>(tiles_.inputs_.size());
    for (int k = kOut; k < count; ++k) At(k) += by * StrideOf(tiles_.loops_, k, dim);
  }

  const BroadcastTiles& tiles_;
  int64_t part_;
  std::array<int64_t, BroadcastLoops::kMaxRank> index_;
  std::array<int64_t, kMaxInputs + 1> offsets_;
};

BroadcastTiles::BroadcastTiles(const BroadcastLoops& loops, std::span<const TileInput> inputs, void* out,
                               size_t out_size, UniformInputs uniform)
    : loops_(loops), inputs_(inputs), out_(static_cast<char*>(out)), out_size_(out_size) {
  if (loops.numel() == 0) return;
  Cut(uniform == UniformInputs::kAsOneElement && loops.cols() * ChangingByRow() >= kManyRepeated);
  for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
    const size_t at = static_cast<size_t>(i);
    kinds_[at] = KindOf(i, uniform);
    if (kinds_[at] == Kind::kCopied) boxes_[at] = BoxOf(i);
  }
  scatters_ = KindOf(kOut, UniformInputs::kRepeated) == Kind::kCopied;
  if (scatters_) out_box_ = BoxOf(kOut);
}

// The dimension, from the innermost out, that does not fit a tile, into even parts; or the outermost.
void BroadcastTiles::Cut(bool rows_alone) {
  cut_ = loops_.rank() - 1;
  inner_ = 1;
  while (cut_ > 0 && loops_.dim(cut_) * inner_ <= kTile) {
    if (rows_alone && inner_ > 1) break;
    inner_ *= loops_.dim(cut_--);
  }
  const int64_t dim = loops_.dim(cut_);
  const int64_t most = rows_alone && inner_ > 1 ? 1 : std::max<int64_t>(1, kTile / inner_);
  parts_ = (dim + most - 1) / most;
  steps_ = (dim + parts_ - 1) / parts_;
  // Parts of a row: whole cache lines.
  if (parts_ > 1 && inner_ == 1) steps_ = (steps_ + 15) / 16 * 16;
  parts_ = (dim + steps_ - 1) / steps_;
  tiles_ = parts_;
  for (int d = 0; d < cut_; ++d) tiles_ *= loops_.dim(d);
}

// The inputs that are the same along the rows, but not everywhere.
int64_t BroadcastTiles::ChangingByRow() const {
  const int inner = loops_.rank() - 1;
  int64_t count = 0;
  for (int i = 0; i < static_cast<int>(inputs_.size()); ++i) {
    if (loops_.stride(i, inner) != 0) continue;
    bool changes = false;
    for (int d = 0; d < inner; ++d) changes = changes || loops_.stride(i, d) != 0;
    if (changes) ++count;
  }
  return count;
}

BroadcastTiles::Kind BroadcastTiles::KindOf(int tensor, UniformInputs uniform) const {
  bool in_place = true;
  bool same = true;
  int64_t next = 1;
  for (int d = loops_.rank() - 1; d >= cut_; --d) {
    const int64_t count = d == cut_ ? steps_ : loops_.dim(d);
    const int64_t stride = StrideOf(loops_, tensor, d);
    in_place = in_place && (stride == next || count == 1);
    same = same && (stride == 0 || count == 1);
    next *= count;
  }
  if (same && uniform == UniformInputs::kAsOneElement) return Kind::kUniform;
  return in_place ? Kind::kInPlace : Kind::kCopied;
}

BroadcastTiles::Box BroadcastTiles::BoxOf(int tensor) const {
  Box box;
  int64_t next = inner_ * steps_;
  for (int d = cut_; d < loops_.rank(); ++d) {
    const int64_t count = d == cut_ ? steps_ : loops_.dim(d);
    const int64_t stride = StrideOf(loops_, tensor, d);
    next /= count;
    BoxDim dim{count, stride, next};
    if (tensor == kOut) std::swap(dim.from, dim.to);
    BoxDim* const last = box.rank == 0 ? nullptr : &box.dims[static_cast<size_t>(box.rank - 1)];
    if (last != nullptr && last->from == dim.from * count && last->to == dim.to * count) {
      *last = {last->count * count, dim.from, dim.to};
      if (box.rank == 1) box.per_step *= count;
    } else {
      box.dims[static_cast<size_t>(box.rank++)] = dim;
    }
  }
  return box;
}

void BroadcastTiles::Run(ThreadPool* pool, Body body) const {
  if (loops_.numel() == 0) return;
  // About 5 us a chunk at least, at the speed of a cheap operator.
  constexpr int64_t kMinElements = 32768;
  ParallelFor(pool, tiles_, std::max<int64_t>(1, kMinElements / (steps_ * inner_)),
              [&](int64_t begin, int64_t end) { RunTiles(begin, end, body); });
}

void BroadcastTiles::RunTiles(int64_t begin, int64_t end, Body body) const {
  alignas(64) char buffers[kMaxInputs][kTile * kMaxSize];
  alignas(64) char results[kTile * kMaxSize];
  // What a buffer holds: the tile that begins there, and its steps.
  struct Held {
    int64_t offset = 0;
    int64_t steps = 0;
  };
  std::array<Held, kMaxInputs> held{};
  const auto copy = [](const Box& box, int64_t steps, const char* from, char* to, size_t size) {
    std::array<BoxDim, BroadcastLoops::kMaxRank> dims;
    std::copy_n(box.dims.begin(), box.rank, dims.begin());
    dims[0].count = steps * box.per_step;
    CopyBox({dims.data(), static_cast<size_t>(box.rank)}, from, to, size, BlockCopyOf(size));
  };
  Position position(*this, begin);
  Inputs tile;
  for (int64_t i = begin; i < end; ++i, position.Next()) {
    const int64_t steps = position.steps();
    for (size_t k = 0; k < inputs_.size(); ++k) {
      const int64_t offset = position.offset(static_cast<int>(k));
      const size_t size = inputs_[k].size;
      const char* const data = static_cast<const char*>(inputs_[k].data) + offset * static_cast<int64_t>(size);
      tile[k] = kinds_[k] == Kind::kCopied ? buffers[k] : data;
      if (kinds_[k] != Kind::kCopied || (held[k].offset == offset && held[k].steps >= steps)) continue;
      copy(boxes_[k], steps, data, buffers[k], size);
      held[k] = {offset, steps};
    }
    char* const out = out_ + position.offset(kOut) * static_cast<int64_t>(out_size_);
    body(tile, scatters_ ? results : out, steps * inner_);
    if (scatters_) copy(out_box_, steps, results, out, out_size_);
  }
}

}  // namespace wherry::cpu
