#include "runtime/pack_cache.h"

#include <algorithm>
#include <set>

#include "base/aligned_buffer.h"
#include "base/check.h"
#include "base/checked_math.h"

namespace wherry {

namespace {

// Memory for deferred weights while they are packed: as many pieces as threads pack at the same time, each as large as
// the largest weight. Fresh memory for each weight would cost more than packing it.
class Workspace {
 public:
  explicit Workspace(size_t piece_bytes) : piece_bytes_(piece_bytes) {}

  // `weight` with its bytes in memory: a deferred one's in `*piece`, to be given back.
  DenseTensor Ready(const DenseTensor& weight, std::shared_ptr<Buffer>* piece) {
    const Buffer& buffer = *weight.buffer();
    if (!buffer.is_deferred() || buffer.size() > piece_bytes_) return weight;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!idle_.empty()) {
        *piece = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (*piece == nullptr) *piece = HostAllocator().Allocate(piece_bytes_);
    buffer.CopyTo((*piece)->data());
    return DenseTensor(weight.meta(), *piece, weight.offset());
  }
  void GiveBack(std::shared_ptr<Buffer> piece) {
    if (piece == nullptr) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(std::move(piece));
  }

 private:
  const size_t piece_bytes_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Buffer>> idle_;
};

}  // namespace

PackCache::Key PackCache::KeyOf(const DenseTensor& weight, const std::string& format) {
  return {weight.buffer().get(), weight.offset(), weight.meta().DebugString() + ' ' + format};
}

void PackCache::AddStored(const DenseTensor& weight, PackedWeight packed) {
  const Key key = KeyOf(weight, packed.format);
  stored_.insert_or_assign(key, std::move(packed));
}

std::vector<PackedWeight> PackCache::FormsOf(const DenseTensor& weight) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<PackedWeight> forms;
  for (auto it = entries_.lower_bound({weight.buffer().get(), weight.offset(), ""});
       it != entries_.end() && std::get<0>(it->first) == weight.buffer().get() &&
       std::get<1>(it->first) == weight.offset();
       ++it) {
    if (it->second.ready.load(std::memory_order_acquire)) forms.push_back(*it->second.packed);
  }
  return forms;
}

std::vector<PackCache::Entry*> PackCache::Find(std::span<const PackDemand> demands) {
  struct Piece {
    Entry* entry;
    const PackDemand* demand;
    size_t offset;
    size_t bytes;
  };
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Entry*> found;
  std::vector<Piece> missing;
  std::set<const Entry*> asked;  // what is missing, each once
  size_t total = 0;
  for (const PackDemand& demand : demands) {
    const DenseTensor& weight = *demand.weight;
    const Key key = KeyOf(weight, demand.format);
    Entry& entry = entries_[key];
    found.push_back(&entry);
    if (entry.packed != nullptr || !asked.insert(&entry).second) continue;
    const size_t bytes = demand.kernel->PackedBytes(weight.meta(), demand.format);
    if (const auto stored = stored_.find(key); stored != stored_.end() && stored->second.buffer->size() == bytes) {
      entry.packed = std::make_shared<const PackedWeight>(stored->second);
      entry.ready.store(true, std::memory_order_release);
      bytes_.fetch_add(bytes, std::memory_order_relaxed);
      continue;
    }
    missing.push_back({&entry, &demand, total, bytes});
    constexpr size_t kAlignment = AlignedBuffer::kAlignment;
    total = CheckedAdd(total, CheckedAdd(bytes, kAlignment - 1, "packed weights") / kAlignment * kAlignment,
                       "packed weights");
  }
  if (missing.empty()) return found;
  const std::shared_ptr<Buffer> memory = HostAllocator().Allocate(total);
  for (const Piece& piece : missing) {
    auto part = std::make_shared<Buffer>(static_cast<std::byte*>(memory->data()) + piece.offset, piece.bytes,
                                         Target::kHost, [memory](void*) {});
    piece.entry->packed = std::make_shared<const PackedWeight>(PackedWeight{piece.demand->format, std::move(part)});
    bytes_.fetch_add(piece.bytes, std::memory_order_relaxed);
  }
  return found;
}

std::vector<std::shared_ptr<const PackedWeight>> PackCache::Get(std::span<const PackDemand> demands, ThreadPool* pool) {
  const std::vector<Entry*> entries = Find(demands);
  size_t largest = 0;
  for (const PackDemand& demand : demands) {
    const Buffer& buffer = *demand.weight->buffer();
    if (buffer.is_deferred()) largest = std::max(largest, buffer.size());
  }
  Workspace workspace(largest);
  ParallelFor(pool, static_cast<int64_t>(demands.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const PackDemand& demand = demands[static_cast<size_t>(i)];
      Entry& entry = *entries[static_cast<size_t>(i)];
      if (entry.ready.load(std::memory_order_acquire)) continue;
      std::call_once(entry.once, [&] {
        std::shared_ptr<Buffer> piece;
        const DenseTensor weight = workspace.Ready(*demand.weight, &piece);
        demand.kernel->pack(weight, demand.format, entry.packed->buffer->data());
        workspace.GiveBack(std::move(piece));
        demand.weight->buffer()->Discard();  // from now on kernels read the packed form
        entry.ready.store(true, std::memory_order_release);
      });
    }
  });
  std::vector<std::shared_ptr<const PackedWeight>> packed;
  for (const Entry* entry : entries) packed.push_back(entry->packed);
  return packed;
}

}  // namespace wherry
