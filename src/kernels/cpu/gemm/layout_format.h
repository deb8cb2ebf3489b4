// The layout of panels in the names of packed forms: "gemm16:t" is the form "gemm" in PanelLayout::kGroups.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernels/cpu/gemm/gemm.h"

namespace wherry::cpu {

inline std::string LayoutFormat(std::string_view form, PanelLayout layout) {
  return std::string(form) + LayoutName(layout);
}

// What follows in the format of a matrix: as it lies, or transposed.
inline constexpr std::string_view kPlainMatrix = "";
inline constexpr std::string_view kTransposedMatrix = ":t";

// Reads LayoutFormat(form, ...) off the front of `format`; nullopt, and nothing read, if it is not there.
inline std::optional<PanelLayout> TakeLayout(std::string_view form, std::string_view* format) {
  for (const PanelLayout layout : {PanelLayout::kRows, PanelLayout::kGroups}) {
    const std::string name = LayoutFormat(form, layout);
    if (!format->starts_with(name)) continue;
    format->remove_prefix(name.size());
    return layout;
  }
  return std::nullopt;
}

}  // namespace wherry::cpu
