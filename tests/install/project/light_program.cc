// Runs an optimised model with an operator of its own: light_program OPTIMIZED. Linked without importers and passes.
#include <cstdio>

#include "wherry/config.h"
#include "wherry/predictor.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  wherry::MobileConfig config;
  config.set_model_from_file(argv[1]);
  const auto predictor = wherry::CreatePaddlePredictor(config);
  const auto input = predictor->GetInput(0);
  input->Resize({2, 2});
  for (int i = 0; i < 4; ++i) input->mutable_data<float>()[i] = static_cast<float>(i) - 1;
  predictor->Run();
  const auto output = predictor->GetOutput(0);
  const float* y = output->data<float>();
  const bool ok = y[0] == 0 && y[1] == 0 && y[2] == 6 && y[3] == 12;
  std::printf("%s: %s\n", ok ? "ok" : "FAILED", predictor->ProgramText().c_str());
  return ok ? 0 : 1;
}
