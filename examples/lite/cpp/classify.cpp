// classify INPUT: a file of float32 numbers through a generated model; prints the class with the highest score, then all scores.
//
//   converter_lite --fmk=ONNX --modelFile=net.onnx --outputFile=net --configFile=micro.cfg     ([micro_param] enable_micro = true)
//   cc -O2 -c -Inet/include -Inet/src net/src/*.c
//   g++ -O2 -Inet/include examples/lite/cpp/classify.cpp *.o -o classify
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "model.hpp"

int main(int argc, char **argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: classify INPUT\n"), 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<float> numbers(bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(float));
  try {
    mslite::Model model;
    const auto scores = model.predict({numbers}).at(0);
    std::printf("class %td\n", std::max_element(scores.begin(), scores.end()) - scores.begin());
    for (const float score : scores) std::printf("%.9g\n", score);
  } catch (const std::exception &error) {
    return std::fprintf(stderr, "classify: %s\n", error.what()), 1;
  }
}
