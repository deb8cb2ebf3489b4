// PackCache: the packed weights of an executable.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/thread_pool.h"
#include "kernel/kernel.h"

namespace wherry {

// A weight that a kernel wants packed.
struct PackDemand {
  const Kernel* kernel;
  const DenseTensor* weight;  // its buffer lives as long as the cache
  std::string format;
};

// Packed weights by (weight, format), made on first demand and kept. Thread-safe.
class PackCache {
 public:
  // A packed form that was stored with the weight: taken instead of packing if it is as large as the kernel says.
  // Before any Get.
  void AddStored(const DenseTensor& weight, PackedWeight packed);
  // All forms of a weight that are ready.
  std::vector<PackedWeight> FormsOf(const DenseTensor& weight) const;
  // One for each demand. What is not there yet is packed by the pool's threads into one piece of memory: large pages
  // hold it, and the system is asked once.
  std::vector<std::shared_ptr<const PackedWeight>> Get(std::span<const PackDemand> demands, ThreadPool* pool);
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    std::shared_ptr<const PackedWeight> packed;  // its memory may not be filled yet
    std::once_flag once;
    std::atomic<bool> ready = false;  // it is filled
  };
  // The weight's buffer and offset; its meta and the format.
  using Key = std::tuple<const Buffer*, size_t, std::string>;
  static Key KeyOf(const DenseTensor& weight, const std::string& format);

  // The entries of the demands, new ones with memory that is not filled yet.
  std::vector<Entry*> Find(std::span<const PackDemand> demands);

  mutable std::mutex mutex_;
  std::map<Key, Entry> entries_;
  std::map<Key, PackedWeight> stored_;
  std::atomic<size_t> bytes_{0};
};

}  // namespace wherry
