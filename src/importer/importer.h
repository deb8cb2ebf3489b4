// Importers: foreign model files to Programs.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/file_bytes.h"
#include "ir/program.h"
#include "op/pending.h"

namespace wherry {

// Where a model comes from. Paths are used by the importer only inside the model's folder.
struct ModelSource {
  // The main file, already opened.
  FileBytes model;
  // Opens another file of the model by its name relative to the model's folder (external data, separate parameters).
  // Names that leave the folder (dots, absolute, links) are Error(kInvalidArgument); absent is Error(kNotFound).
  std::function<FileBytes(const std::string& name)> open;
  // The parameter file when the user named it, or it was found beside the model, or given as memory; empty data
  // otherwise.
  FileBytes params;
  bool params_given = false;  // by the user; `params` may still be an empty file
  // Else, the names that were looked for in vain, for messages.
  std::vector<std::string> looked_for;
  // Nothing of those was found, and the model's name is one that goes with one file per parameter.
  bool separate_params = false;
  // Inputs that are to be such although the file has a value for them; other names mean nothing.
  std::vector<std::string> overridden_inputs;
  // Where to list operators that are not supported instead of throwing: their results are then inputs of the program,
  // which is good for looking at only. Null: Error.
  std::vector<std::string>* unsupported = nullptr;
};

class Importer {
 public:
  virtual ~Importer() = default;
  virtual const char* name() const = 0;  // "onnx"
  // How sure the bytes make it: 0 not this format, 100 certainly. Should look at the beginning only; `file_name` may be
  // a path.
  virtual int Sniff(std::span<const std::byte> data, const std::string& file_name) const = 0;
  // Program with weights, not inferred. All unsupported operators are reported in one Error(kUnsupported), unless the
  // source says otherwise. Bytes are hostile.
  virtual Program Import(const ModelSource& source) const = 0;
};

struct ImporterDescriptor {
  const char* name;
  Importer* (*create)();
};
// A converter for one foreign operator; what it gets depends on the importer (see importers/<format>/converter.h).
// `type` of an operator in a domain of its own: com_microsoft_FusedMatMul.
struct ConverterDescriptor {
  const char* importer;
  const char* type;
  void (*convert)(void* context);
};
std::span<const ImporterDescriptor* const> BuiltinImporters();
std::span<const ConverterDescriptor* const> BuiltinConverters();

// Opens a model by path: an .onnx file, a .pdmodel or .json (parameters beside it or `params_path`), or a folder with
// one of the known Paddle file name pairs or one file per parameter. Picks the importer by the bytes. Error(kNotFound)
// / (kCorrupt) say what was looked for and what was found. The program keeps the files mapped as long as it uses their
// weights. `overridden_inputs` and `unsupported` as in ModelSource.
Program ImportModel(const std::string& path, const std::string& params_path = "",
                    std::vector<std::string> overridden_inputs = {}, std::vector<std::string>* unsupported = nullptr);
// From memory, or through a reader of named files: the main file by `name`, parameters by the usual names beside it,
// others as the model names them. The reader throws Error(kNotFound) for a file that is not there. Bytes without an
// owner must outlive the program.
Program ImportModel(FileBytes model, FileBytes params = {}, std::vector<std::string> overridden_inputs = {},
                    std::vector<std::string>* unsupported = nullptr);
using FileReader = std::function<FileBytes(const std::string& name)>;
Program ImportModel(const std::string& name, const FileReader& reader, std::vector<std::string> overridden_inputs = {},
                    std::vector<std::string>* unsupported = nullptr);

}  // namespace wherry

#define REGISTER_IMPORTER(name, ... /* class */)                                                  \
  WHERRY_DESCRIPTOR_(ImporterDescriptor, wherry_importer_##name) = ::wherry::ImporterDescriptor { \
#name, []() -> ::wherry::Importer* { return new __VA_ARGS__(); }                              \
  }
#define REGISTER_CONVERTER(importer, type, ... /* function */)                                                    \
  WHERRY_DESCRIPTOR_(ConverterDescriptor, wherry_converter_##importer##_##type) = ::wherry::ConverterDescriptor { \
#importer, #type, __VA_ARGS__                                                                                 \
  }
