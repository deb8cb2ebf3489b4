#include "kernel/apart_device_test_util.h"

#include <cstring>
#include <string>

#include "base/check.h"
#include "kernel/provider.h"

namespace wherry {

namespace {

// What a Buffer's handle points to; not the bytes, so that taking it for a host pointer cannot work by accident.
struct ApartMemory {
  std::vector<std::byte> bytes;
};

class ApartAllocator : public Allocator {
 public:
  Target target() const override { return Target::kCustom; }
  std::shared_ptr<Buffer> Allocate(size_t bytes) override {
    auto* memory = new ApartMemory{std::vector<std::byte>(bytes)};
    return std::make_shared<Buffer>(memory, bytes, Target::kCustom,
                                    [](void* data) { delete static_cast<ApartMemory*>(data); });
  }
};

std::unique_ptr<DeviceContext> MakeApartContext() { return std::make_unique<ApartContext>(); }

REGISTER_PROVIDER(apart, "a device for tests", kCustom, nullptr, &MakeApartContext);

}  // namespace

ApartContext::ApartContext() : allocator_(std::make_unique<ApartAllocator>()) {}
ApartContext::~ApartContext() = default;

void ApartContext::Copy(const DenseTensor& from, DenseTensor* to) {
  ++copies_;
  WHERRY_ENFORCE(from.meta() == to->meta(), kInvalidArgument, "the apart device does not convert while it copies");
  const void* source = IsHostMemory(from.target()) ? from.raw_data() : Bytes(from);
  void* target = IsHostMemory(to->target()) ? to->mutable_raw_data() : Bytes(*to);
  std::memcpy(target, source, from.nbytes());
}

std::byte* ApartContext::Bytes(const DenseTensor& tensor) {
  WHERRY_CHECK(tensor.target() == Target::kCustom, "the apart device is given a tensor on ", ToString(tensor.target()));
  return static_cast<ApartMemory*>(tensor.buffer()->data())->bytes.data() + tensor.offset();
}

}  // namespace wherry
