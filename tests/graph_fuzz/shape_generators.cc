// Moving data: reshapes and transposes and their chains, cutting and joining, views of views, and arithmetic on shapes.
#include <algorithm>
#include <numeric>

#include "graph_fuzz/generators.h"

namespace wherry::graph_fuzz {

namespace {

int64_t Product(const Dims& dims) { return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()); }

DataType MovedType(Random* random) {
  static constexpr DataType kTypes[] = {DataType::kFloat, DataType::kFloat, DataType::kFloat,
                                        DataType::kInt64, DataType::kFP64,  DataType::kBool};
  return random->Pick(kTypes);
}

// The same elements in another shape: two dimensions joined, one cut in two or a 1 put in.
Dims AnotherShape(Dims dims, Random* random) {
  const size_t at = dims.empty() ? 0 : random->Below(dims.size());
  switch (random->Below(4)) {
    case 0:
      if (dims.size() < 2) break;
      if (at + 1 < dims.size()) {
        dims[at] *= dims[at + 1];
        dims.erase(dims.begin() + static_cast<int64_t>(at) + 1);
      }
      return dims;
    case 1:
      if (!dims.empty() && dims[at] > 0 && dims[at] % 2 == 0) {
        dims[at] /= 2;
        dims.insert(dims.begin() + static_cast<int64_t>(at), 2);
        return dims;
      }
      break;
    case 2: return {Product(dims)};
    default: break;
  }
  if (dims.size() < 5) dims.insert(dims.begin() + static_cast<int64_t>(at), 1);
  return dims;
}

std::string Reshape(ProgramWriter* writer, const std::string& x) {
  Random& random = writer->random();
  Dims dims = writer->DimsOf(x);
  switch (random.Below(4)) {
    case 0: return writer->Add("squeeze", {{"x", {x}}});
    case 1:
      return writer->Add("unsqueeze", {{"x", {x}}},
                         {{"axis", IntArray{static_cast<int64_t>(random.Below(dims.size() + 1))}}});
    case 2: return writer->Add("flatten", {{"x", {x}}}, {{"start_axis", static_cast<int64_t>(random.Below(2))}});
    default: break;
  }
  dims = AnotherShape(dims, &random);
  if (!dims.empty() && random.OneIn(3)) random.PickFrom(dims) = -1;
  if (random.OneIn(4)) return writer->Add("reshape", {{"x", {x}}, {"shape", {writer->Numbers(dims)}}});
  return writer->Add("reshape", {{"x", {x}}}, {{"shape", IntArray(dims)}});
}

std::string Transpose(ProgramWriter* writer, const std::string& x) {
  std::vector<int64_t> perm(static_cast<size_t>(writer->RankOf(x)));
  std::iota(perm.begin(), perm.end(), 0);
  for (size_t i = perm.size(); i > 1; --i) {
    if (!writer->random().OneIn(3)) std::swap(perm[i - 1], perm[writer->random().Below(i)]);
  }
  return writer->Add("transpose", {{"x", {x}}}, {{"perm", perm}});
}

std::string Slice(ProgramWriter* writer, const std::string& x) {
  Random& random = writer->random();
  const Dims dims = writer->DimsOf(x);
  if (dims.empty()) return "";
  const size_t axis = random.OneIn(2) ? 0 : random.Below(dims.size());
  const auto start = static_cast<int64_t>(random.Below(static_cast<size_t>(dims[axis]) + 1));
  const auto end = start + static_cast<int64_t>(random.Below(static_cast<size_t>(dims[axis] - start) + 2));
  Attributes attributes = {{"axes", std::vector<int64_t>{static_cast<int64_t>(axis)}},
                           {"starts", IntArray{start}},
                           {"ends", IntArray{random.OneIn(4) ? int64_t{1} << 40 : end}}};
  if (random.OneIn(6)) attributes.emplace_back("steps", std::vector<int64_t>{2});
  return writer->Add("slice", {{"x", {x}}}, attributes);
}

std::vector<std::string> Split(ProgramWriter* writer, const std::string& x) {
  Random& random = writer->random();
  const Dims dims = writer->DimsOf(x);
  if (dims.empty()) return {};
  const size_t axis = random.OneIn(2) ? 0 : random.Below(dims.size());
  std::vector<int64_t> sections;
  int64_t left = dims[axis];
  while (left > 0 && sections.size() < 3) {
    sections.push_back(1 + static_cast<int64_t>(random.Below(static_cast<size_t>(left))));
    left -= sections.back();
  }
  if (left > 0 || sections.empty()) sections.push_back(left);
  OpDesc op("split");
  op.SetInput("x", {x});
  op.SetAttribute("sections", IntArray(sections));
  op.SetAttribute("axis", static_cast<int64_t>(axis));
  return writer->Add(std::move(op));
}

std::string Concat(ProgramWriter* writer, const std::string& x) {
  Random& random = writer->random();
  const MetaTensor type = writer->TypeOf(x);
  if (type.rank() == 0) return "";
  const size_t axis = random.OneIn(2) ? 0 : random.Below(type.dims.size());
  std::vector<std::string> parts = {x};
  for (size_t i = random.Below(4); i > 0; --i) {
    const std::string other = writer->Existing([&](const MetaTensor& candidate) {
      if (candidate.dtype != type.dtype || candidate.rank() != type.rank()) return false;
      for (size_t d = 0; d < type.dims.size(); ++d) {
        if (d != axis && candidate.dims[d] != type.dims[d]) return false;
      }
      return true;
    });
    parts.insert(parts.begin() + static_cast<int64_t>(random.Below(parts.size() + 1)), other.empty() ? x : other);
  }
  return writer->Add("concat", {{"x", parts}}, {{"axis", static_cast<int64_t>(axis)}});
}

void AddMoves(ProgramWriter* writer) {
  Random& random = writer->random();
  std::string x = writer->Any(MovedType(&random), 1);
  for (size_t i = 1 + random.Below(3); i > 0 && !x.empty(); --i) {
    x = random.OneIn(2) ? Reshape(writer, x) : Transpose(writer, x);
  }
}

void AddSlice(ProgramWriter* writer) { Slice(writer, writer->Any(MovedType(&writer->random()), 1)); }

void AddConcat(ProgramWriter* writer) { Concat(writer, writer->Any(MovedType(&writer->random()), 1)); }

// Pieces that something happens to and that come together again, as in grouped and shuffled channels.
void AddSplitAndJoin(ProgramWriter* writer) {
  static constexpr const char* kOps[] = {"relu", "tanh", "neg", "assign", "sigmoid"};
  Random& random = writer->random();
  const std::string x = writer->Any(random.OneIn(3) ? MovedType(&random) : DataType::kFloat, 1);
  std::vector<std::string> pieces = Split(writer, x);
  for (std::string& piece : pieces) {
    if (random.OneIn(3)) continue;
    const std::string changed =
        random.OneIn(4) ? Reshape(writer, piece) : writer->Add(random.Pick(kOps), {{"x", {piece}}});
    if (!changed.empty()) piece = changed;
  }
  if (pieces.empty() || random.OneIn(3)) return;
  if (random.OneIn(3)) std::reverse(pieces.begin(), pieces.end());
  const int rank = writer->RankOf(pieces[0]);
  if (rank == 0) return;
  writer->Add("concat", {{"x", pieces}},
              {{"axis", static_cast<int64_t>(random.OneIn(2) ? 0 : random.Below(static_cast<size_t>(rank)))}});
}

void AddGather(ProgramWriter* writer) {
  Random& random = writer->random();
  const std::string x = writer->Any(MovedType(&random), 1);
  const Dims dims = writer->DimsOf(x);
  const size_t axis = random.Below(dims.size());
  if (dims[axis] == 0) return;
  const int last = static_cast<int>(dims[axis]) - 1;
  const Dims shape = random.OneIn(2) ? Dims{} : Dims{writer->AnyDim()};
  const std::string index = random.OneIn(2) ? writer->NewWeight(DataType::kInt64, shape, -last, last)
                                            : writer->NewInput(DataType::kInt64, shape, 0, last);
  writer->Add("gather", {{"x", {x}}, {"index", {index}}}, {{"axis", static_cast<int64_t>(axis)}});
}

void AddExpand(ProgramWriter* writer) {
  Random& random = writer->random();
  const std::string x = writer->Any(MovedType(&random), 1);
  Dims dims = writer->DimsOf(x);
  switch (random.Below(4)) {
    case 0: {
      for (int64_t& dim : dims) dim = 1 + static_cast<int64_t>(random.Below(2));
      writer->Add("tile", {{"x", {x}}}, {{"repeats", IntArray(dims)}});
      break;
    }
    case 1: {
      Dims paddings(dims.size() * 2);
      for (int64_t& padding : paddings) padding = static_cast<int64_t>(random.Below(2));
      writer->Add("pad", {{"x", {x}}}, {{"paddings", IntArray(paddings)}});
      break;
    }
    case 2:
      writer->Add("stack", {{"x", {x, writer->Like(writer->TypeOf(x).dtype, dims)}}},
                  {{"axis", static_cast<int64_t>(random.Below(dims.size() + 1))}});
      break;
    default: {
      for (int64_t& dim : dims) dim = dim == 1 ? 1 + static_cast<int64_t>(random.Below(4)) : dim;
      if (random.OneIn(3)) dims.insert(dims.begin(), 2);
      writer->Add("expand", {{"x", {x}}}, {{"shape", IntArray(dims)}});
    }
  }
}

// shape -> slice or gather -> arithmetic -> concat -> reshape, as exporters write it.
void AddShapeArithmetic(ProgramWriter* writer) {
  Random& random = writer->random();
  const std::string x = writer->Any(MovedType(&random), 1);
  const Dims dims = writer->DimsOf(x);
  const std::string shape = writer->Add("shape", {{"x", {x}}});
  std::vector<std::string> parts;
  int64_t known = 1;
  const size_t keep = random.Below(dims.size());
  for (size_t i = 0; i <= keep; ++i) {
    const auto at = static_cast<int64_t>(i);
    std::string dim =
        random.OneIn(2)
            ? writer->Add("slice", {{"x", {shape}}},
                          {{"axes", std::vector<int64_t>{0}}, {"starts", IntArray{at}}, {"ends", IntArray{at + 1}}})
            : writer->Add("gather", {{"x", {shape}}, {"index", {writer->Numbers({at})}}});
    if (random.OneIn(4)) {
      const std::string two = writer->Numbers({2});
      dim = writer->Add("floor_divide", {{"x", {writer->Add("multiply", {{"x", {dim}}, {"y", {two}}})}}, {"y", {two}}});
    }
    if (random.OneIn(6))
      dim = writer->Add("cast", {{"x", {writer->Add("cast", {{"x", {dim}}}, {{"dtype", DataType::kInt32}})}}},
                        {{"dtype", DataType::kInt64}});
    parts.push_back(dim);
    known *= dims[i];
  }
  if (known == 0) return;
  parts.push_back(writer->Numbers({-1}));
  const std::string target = writer->Add("concat", {{"x", parts}}, {{"axis", int64_t{0}}});
  writer->Add("reshape", {{"x", {x}}, {"shape", {target}}});
}

constexpr Generator kGenerators[] = {
    {"moves", 14, AddMoves},  {"slice", 6, AddSlice},   {"concat", 7, AddConcat},        {"split", 7, AddSplitAndJoin},
    {"gather", 4, AddGather}, {"expand", 5, AddExpand}, {"shape", 4, AddShapeArithmetic}};

}  // namespace

std::span<const Generator> ShapeGenerators() { return kGenerators; }

}  // namespace wherry::graph_fuzz
