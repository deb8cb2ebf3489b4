// Runs an optimised model on ones and prints its results: run_optimised MODEL.wry. Linked with a slim library by
// scripts/slim_check.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "wherry/config.h"
#include "wherry/error.h"
#include "wherry/predictor.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    wherry::MobileConfig config;
    config.set_model_from_file(argv[1]);
    config.set_threads(2);
    const auto predictor = wherry::CreatePaddlePredictor(config);
    const std::vector<wherry::ValueInfo>& inputs = predictor->Inputs();
    for (size_t i = 0; i < inputs.size(); ++i) {
      std::vector<int64_t> dims;
      // A batch of one, and images large enough for any network.
      for (size_t d = 0; d < inputs[i].dims.size(); ++d) {
        const int64_t dim = inputs[i].dims[d].value;
        dims.push_back(dim >= 0 ? dim : d == 0 ? 1 : 192);
      }
      const auto input = predictor->GetInput(static_cast<int>(i));
      input->Resize(wherry::Shape(dims));
      std::fill_n(input->mutable_data<float>(), input->numel(), 1.0F);
    }
    predictor->Run();
    for (size_t i = 0; i < predictor->Outputs().size(); ++i) {
      const auto output = predictor->GetOutput(static_cast<int>(i));
      for (int64_t k = 0; k < output->numel(); ++k) std::printf("%a\n", static_cast<double>(output->data<float>()[k]));
    }
  } catch (const wherry::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
