// What unknown bytes look like, for messages about a file that is not what it should be.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace wherry {

// A Paddle parameter record begins there: version 0, a small LoD level, version 0, a small descriptor.
bool LooksLikePaddleParams(std::span<const std::byte> data);
// A Paddle ProgramDesc may begin there: a first block whose length fits.
bool LooksLikePaddleProgram(std::span<const std::byte> data);
// Paddle 3's JSON begins there.
bool LooksLikePir(std::span<const std::byte> data);
// An optimised model of Paddle-Lite (.nb) begins there.
bool LooksLikeNaiveBuffer(std::span<const std::byte> data);

// "a Paddle parameter file", "a zip archive", "text", "binary data (it begins with 8f 00 17)", ...
std::string DescribeBytes(std::span<const std::byte> data);

}  // namespace wherry
