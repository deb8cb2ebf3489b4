#include "recognizer.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "batches.h"

namespace ocr {

namespace {

constexpr int kHeight = 48;
constexpr int kLeastWidth = 160;
constexpr int kMostWidth = 4096;  // a line that is still longer is squeezed
constexpr size_t kBatch = 6;

std::string DictionaryText(const Network& network, const std::string& path) {
  if (path.empty()) {
    const auto& metadata = network.predictor().Metadata();
    const auto property = metadata.find("model.character");
    if (property == metadata.end())
      throw std::runtime_error("'" + network.path() + "' has no dictionary in it: name its file (--dictionary)");
    return property->second;
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    throw std::runtime_error("'" + path + "': cannot read the dictionary: " + std::strerror(errno));
  return text.str();
}

}  // namespace

Recognizer::Recognizer(const std::string& model, const std::string& dictionary, int threads)
    : network_(model, threads), dictionary_(Dictionary::Parse(DictionaryText(network_, dictionary))) {}

std::vector<Reading> Recognizer::Read(const std::vector<Image>& lines, const std::function<void(size_t)>& done) {
  std::vector<Reading> readings(lines.size());
  size_t count = 0;
  for (const Batch& batch : MakeBatches(lines, kHeight, kLeastWidth, kMostWidth, kBatch)) {
    const wherry::Tensor output = network_.Run(batch.Pointers(), kHeight, batch.width);
    const wherry::Shape shape = output.shape();
    if (shape.rank() != 3 || shape[0] != static_cast<int64_t>(batch.lines.size()))
      network_.RefuseOutput("network that reads text", output);
    dictionary_.FitTo(static_cast<size_t>(shape[2]));
    const auto steps = static_cast<size_t>(shape[1]);
    for (size_t i = 0; i < batch.lines.size(); ++i) {
      const float* probabilities = output.data<float>() + i * steps * dictionary_.classes();
      readings[batch.lines[i]] = DecodeCtc(probabilities, steps, dictionary_);
    }
    done(count += batch.lines.size());
  }
  return readings;
}

}  // namespace ocr
