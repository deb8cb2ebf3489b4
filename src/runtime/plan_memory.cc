#include "runtime/plan_memory.h"

#include <algorithm>
#include <set>

#include "base/checked_math.h"
#include "op/memory_piece.h"

namespace wherry {

namespace {

size_t Index(int slot) { return static_cast<size_t>(slot); }

}  // namespace

PlanMemory::PlanMemory(const CompiledBlock& block, PlanInference* inference, ShapePlan* plan)
    : block_(block),
      inference_(*inference),
      plan_(*plan),
      seen_(plan->tensors.size()),
      takes_strides_(plan->tensors.size(), true),
      apart_(plan->tensors.size()),
      uses_(plan->tensors.size()),
      homes_(plan->tensors.size()) {}

void PlanMemory::Run() {
  // What the user sees keeps memory of its own; one such value per shared piece of memory, further ones are copied at
  // the end.
  std::vector<int> seen = plan_.output_slots;
  for (const int slot : block_.watched) seen.push_back((*plan_.maps[0])[Index(slot)]);
  for (const int slot : seen) seen_[Index(slot)] = true;
  FindUses();
  FindHomes();
  for (const int slot : seen) {
    Residence& residence = plan_.residence[Index(homes_[Index(slot)].slot)];
    if (residence == Residence::kArena) residence = Residence::kOwn;
  }
  Weigh();
  ShareMemory();
  std::set<Target> spaces;
  for (const Target target : plan_.targets) spaces.insert(MemorySpace(target));
  for (const Target space : spaces) PlaceInArena(space);
  FindGivenAway();
}

// When each slot is used itself, and by whom.
void PlanMemory::FindUses() {
  for (int step = 0; step < static_cast<int>(plan_.calls.size()); ++step) {
    const PlannedCall& call = plan_.calls[Index(step)];
    const bool takes_strides = !call.at_run_time && call.kernel != nullptr && call.kernel->pixel_strides;
    const auto touch = [&](int at) {
      const size_t slot = call.Slot(at);
      SharingValue& use = uses_[slot];
      if (use.first < 0) use.first = step;
      use.last = step;
      if (!takes_strides) takes_strides_[slot] = false;
    };
    for (const InstructionArg& arg : call.instruction->args) std::for_each(arg.slots.begin(), arg.slots.end(), touch);
    for (const std::vector<int>& results : call.instruction->outputs)
      std::for_each(results.begin(), results.end(), touch);
  }
}

// Whether a slot may lie in the memory of the one that it is to share.
bool PlanMemory::SharesMemory(int slot) const {
  const int source = inference_.alias(slot);
  if (source < 0 || apart_[Index(slot)]) return false;
  const auto placed = [this](int value) {
    const Residence residence = plan_.residence[Index(value)];
    return residence == Residence::kArena || residence == Residence::kOwn;
  };
  if (!placed(slot) || (!placed(source) && plan_.residence[Index(source)] != Residence::kInput)) return false;
  if (MemorySpace(plan_.targets[Index(source)]) != MemorySpace(plan_.targets[Index(slot)])) return false;
  // Who watches a value wants it as it was.
  if (inference_.overwrites(slot) && !block_.watched.empty()) return false;
  const size_t offset = inference_.alias_offset(slot);
  const size_t bytes = plan_.tensors[Index(slot)].nbytes();
  const size_t whole = plan_.tensors[Index(source)].nbytes();
  if (offset == 0 && bytes == whole) return true;
  return bytes > 0 && offset <= whole && bytes <= whole - offset;
}

// Whether a slot may not lie where it would.
bool PlanMemory::StandsApart(int slot, const Home& home) const {
  // `Seen` values have memory to themselves: who holds one holds no more.
  const bool whole = plan_.tensors[Index(home.slot)].nbytes() == plan_.tensors[Index(slot)].nbytes();
  const bool input = plan_.residence[Index(home.slot)] == Residence::kInput;
  if (seen_[Index(slot)] && (!whole || input)) return true;
  if (input && inference_.overwrites(slot)) return true;
  const bool images = plan_.tensors[Index(slot)].meta().layout == DataLayout::kNHWC;
  return home.pixel_stride != 0 && (!images || !takes_strides_[Index(slot)]);
}

// Where a slot lies if it shares, in terms of the home of the one that it shares with.
PlanMemory::Home PlanMemory::HomeWithin(int slot) const {
  const int source = inference_.alias(slot);
  const Home& outer = homes_[Index(source)];
  Home home{outer.slot, outer.offset, outer.pixel_stride, true};
  const TensorMeta& whole = plan_.tensors[Index(source)].meta();
  size_t offset = inference_.alias_offset(slot);
  if (outer.pixel_stride != 0) {
    const size_t size = SizeOf(whole.dtype);
    const auto pixel = static_cast<size_t>(whole.shape[1]) * size;
    offset = offset / pixel * static_cast<size_t>(outer.pixel_stride) * size + offset % pixel;
  } else if (inference_.alias_strided(slot)) {
    home.pixel_stride = whole.shape[1];
  }
  home.offset += offset;
  return home;
}

// The slot whose memory a slot lies in, and where. A slot that shares comes after the ones it shares with.
void PlanMemory::FindHomes() {
  homes_.assign(homes_.size(), {});
  std::vector<int> path;
  for (int first = 0; first < static_cast<int>(homes_.size()); ++first) {
    int slot = first;
    for (; homes_[Index(slot)].slot < 0; slot = inference_.alias(slot)) {
      path.push_back(slot);
      if (!SharesMemory(slot)) {
        homes_[Index(slot)].slot = slot;
        path.pop_back();
        break;
      }
    }
    for (; !path.empty(); path.pop_back()) {
      Home home = HomeWithin(path.back());
      if (StandsApart(path.back(), home)) home = {path.back(), 0, 0, false};
      homes_[Index(path.back())] = home;
    }
  }
}

// Takes apart what costs more memory than it saves.
void PlanMemory::Weigh() {
  for (size_t slot = 0; slot < uses_.size(); ++slot) {
    uses_[slot].bytes = plan_.tensors[slot].nbytes();
    uses_[slot].within = homes_[slot].shares ? inference_.alias(static_cast<int>(slot)) : -1;
    uses_[slot].in_arena = plan_.residence[slot] == Residence::kArena;
  }
  const std::vector<bool> shares = WeighSharing(uses_);
  bool changed = false;
  for (size_t slot = 0; slot < shares.size(); ++slot) {
    changed = changed || (homes_[slot].shares && !shares[slot]);
    apart_[slot] = !shares[slot];  // nor does anything share that did not in what was weighed
  }
  if (changed) FindHomes();
}

void PlanMemory::ShareMemory() {
  for (size_t slot = 0; slot < homes_.size(); ++slot) {
    const Home& home = homes_[slot];
    if (plan_.residence[slot] == Residence::kOwn && !home.shares)
      plan_.own_bytes = CheckedAdd(plan_.own_bytes, uses_[slot].bytes, "memory for results");
    if (!home.shares) continue;
    plan_.residence[slot] = Residence::kAlias;
    plan_.alias_root[slot] = home.slot;
    plan_.offset[slot] = home.offset;
    if (home.pixel_stride != 0) inference_.SetPixelStride(static_cast<int>(slot), home.pixel_stride);
    if (plan_.residence[Index(home.slot)] == Residence::kInput) plan_.input_views.push_back(static_cast<int>(slot));
  }
}

void PlanMemory::PlaceInArena(Target space) {
  std::vector<int> roots;
  for (size_t slot = 0; slot < homes_.size(); ++slot) {
    roots.push_back(homes_[slot].slot);
    uses_[slot].in_arena = plan_.residence[slot] == Residence::kArena && MemorySpace(plan_.targets[slot]) == space;
  }
  const std::vector<Lifetime> lifetimes = SharingLifetimes(uses_, roots);
  std::vector<Lifetime> in_arena;
  std::vector<int> owners;
  for (size_t slot = 0; slot < lifetimes.size(); ++slot) {
    if (lifetimes[slot].first < 0) continue;
    in_arena.push_back(lifetimes[slot]);
    owners.push_back(static_cast<int>(slot));
  }
  if (owners.empty()) return;
  const ArenaPlan arena = PlanArena(in_arena);
  plan_.arena_bytes[space] = arena.size;
  for (size_t i = 0; i < owners.size(); ++i) {
    plan_.offset[Index(owners[i])] = arena.offsets[i];
    plan_.last_use[Index(owners[i])] = in_arena[i].last;
  }
}

void PlanMemory::FindGivenAway() {
  std::vector<bool> given(plan_.tensors.size());
  for (const int slot : plan_.output_slots) {
    const size_t root = RootOf(plan_, slot);
    const Residence residence = plan_.residence[root];
    if ((residence != Residence::kOwn && residence != Residence::kRunTime) || given[root]) continue;
    given[root] = true;
    plan_.given_away.push_back(static_cast<int>(root));
  }
  for (int slot = 0; slot < static_cast<int>(given.size()); ++slot) {
    const size_t root = RootOf(plan_, slot);
    if (root != Index(slot) && given[root]) plan_.given_away.push_back(slot);
  }
}

bool PlanMemory::InPlace(const PlannedCall& call) const {
  const OpSchema& schema = *call.instruction->schema;
  const std::vector<int>& results = call.instruction->outputs.at(0);
  const auto lies_in = [&](int slot, int whole) {
    const auto at = static_cast<int>(call.Slot(slot));
    return homes_[Index(at)].shares && inference_.alias(at) == static_cast<int>(call.Slot(whole));
  };
  if (TakesPieces(schema)) {
    const std::vector<int>& parts = call.instruction->args[0].slots;
    const std::set<int> distinct(parts.begin(), parts.end());
    return distinct.size() == parts.size() &&
           std::all_of(parts.begin(), parts.end(), [&](int part) { return lies_in(part, results[0]); });
  }
  if (!Views(schema)) return false;
  const int x = call.instruction->args[0].slots.at(0);
  return std::all_of(results.begin(), results.end(), [&](int result) { return lies_in(result, x); });
}

}  // namespace wherry
