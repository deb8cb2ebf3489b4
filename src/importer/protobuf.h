// Reading protobuf wire format with protozero so that nothing in the bytes can trip it: protozero asserts that a field
// is read as the wire type it has, so each is asked for first. Damaged bytes throw protozero::exception.
#pragma once

#include <cstddef>
#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <span>
#include <vector>

namespace wherry::protobuf {

using Reader = protozero::pbf_reader;
using View = protozero::data_view;

constexpr auto kVarint = protozero::pbf_wire_type::varint;
constexpr auto kFixed32 = protozero::pbf_wire_type::fixed32;
constexpr auto kFixed64 = protozero::pbf_wire_type::fixed64;
constexpr auto kBytes = protozero::pbf_wire_type::length_delimited;

inline View Bytes(std::span<const std::byte> data) { return {reinterpret_cast<const char*>(data.data()), data.size()}; }
inline std::span<const std::byte> AsBytes(View view) {
  return {reinterpret_cast<const std::byte*>(view.data()), view.size()};
}
inline bool Is(const Reader& field, uint32_t tag, protozero::pbf_wire_type type) {
  return field.tag() == tag && field.wire_type() == type;
}

// What is wrong with damaged bytes, in words of the file.
inline const char* WhyDamaged(const protozero::exception& error) {
  const bool ends = dynamic_cast<const protozero::end_of_buffer_exception*>(&error) != nullptr;
  return ends ? "they end too early, as of a file that was cut off" : error.what();
}

// Calls fn(Reader&) for every field of the message; it reads the field and returns true, or returns false to skip it. A
// field with another wire type than expected counts as unknown, as in protobuf itself.
template <typename Fn>
void ForEachField(View message, Fn fn) {
  Reader reader(message);
  while (reader.next()) {
    if (!fn(reader)) reader.skip();
  }
}

// A repeated number, packed or not. False if the field is another one.
template <typename T, typename Single, typename Packed>
bool TakeRepeated(Reader& field, uint32_t tag, protozero::pbf_wire_type type, std::vector<T>* out, Single single,
                  Packed packed) {
  if (Is(field, tag, type)) {
    out->push_back(single());
    return true;
  }
  if (!Is(field, tag, kBytes)) return false;
  for (const auto value : packed()) out->push_back(static_cast<T>(value));
  return true;
}
// int32 too: a negative one has ten bytes, as an int64 has.
inline bool TakeInts(Reader& field, uint32_t tag, std::vector<int64_t>* out) {
  return TakeRepeated(
      field, tag, kVarint, out, [&] { return field.get_int64(); }, [&] { return field.get_packed_int64(); });
}
inline bool TakeBools(Reader& field, uint32_t tag, std::vector<bool>* out) {
  return TakeRepeated(
      field, tag, kVarint, out, [&] { return field.get_uint64() != 0; }, [&] { return field.get_packed_uint64(); });
}
inline bool TakeFloats(Reader& field, uint32_t tag, std::vector<double>* out) {
  return TakeRepeated(
      field, tag, kFixed32, out, [&] { return static_cast<double>(field.get_float()); },
      [&] { return field.get_packed_float(); });
}
inline bool TakeDoubles(Reader& field, uint32_t tag, std::vector<double>* out) {
  return TakeRepeated(
      field, tag, kFixed64, out, [&] { return field.get_double(); }, [&] { return field.get_packed_double(); });
}

}  // namespace wherry::protobuf
