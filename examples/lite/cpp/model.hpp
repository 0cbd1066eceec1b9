// A generated model from C++: the C interface with owners and spans. `model.hpp` is all there is; link the generated sources or library.
#pragma once

#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" {
#include "mindspore_c.h"
}

namespace mslite {

inline void check(MSStatus status, const char *what) {
  if (status != kMSStatusSuccess) throw std::runtime_error(std::string(what) + " failed with status " + std::to_string(status));
}

// A model; it lives as long as this object.
class Model {
 public:
  Model() : handle_(MSModelCreate()) {
    if (handle_ == nullptr) throw std::runtime_error("all models of the library are in use");
    check(MSModelBuild(handle_, nullptr, 0, kMSModelTypeMindIR, nullptr), "MSModelBuild");
  }
  ~Model() { MSModelDestroy(&handle_); }
  Model(const Model &) = delete;
  Model &operator=(const Model &) = delete;

  // Runs the model: one vector for each input, one for each output.
  std::vector<std::vector<float>> predict(const std::vector<std::vector<float>> &given) {
    const MSTensorHandleArray inputs = MSModelGetInputs(handle_);
    if (given.size() != inputs.handle_num) throw std::invalid_argument("the model takes " + std::to_string(inputs.handle_num) + " inputs");
    for (std::size_t i = 0; i < inputs.handle_num; i++) {
      const std::size_t size = MSTensorGetDataSize(inputs.handle_list[i]);
      if (given[i].size() * sizeof(float) != size)
        throw std::invalid_argument(std::string(MSTensorGetName(inputs.handle_list[i])) + " takes " + std::to_string(size / sizeof(float)) + " numbers");
      std::memcpy(MSTensorGetMutableData(inputs.handle_list[i]), given[i].data(), size);
    }
    MSTensorHandleArray outputs{};
    check(MSModelPredict(handle_, inputs, &outputs, nullptr, nullptr), "MSModelPredict");
    std::vector<std::vector<float>> found;
    for (std::size_t i = 0; i < outputs.handle_num; i++) {
      const auto *data = static_cast<const float *>(MSTensorGetData(outputs.handle_list[i]));
      found.emplace_back(data, data + MSTensorGetElementNum(outputs.handle_list[i]));
    }
    return found;
  }

 private:
  MSModelHandle handle_;
};

}  // namespace mslite
