/* benchmark LOOPS OUTPUT INPUT...: runs the model on files of raw numbers, writes its results one after the other, prints ms per run. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "mindspore_c.h"

static int fail(const char *what) {
  fprintf(stderr, "benchmark: %s\n", what);
  return 1;
}

static int fill(MSTensorHandle tensor, const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return fail("an input file cannot be opened");
  const size_t size = MSTensorGetDataSize(tensor), found = fread(MSTensorGetMutableData(tensor), 1, size, file);
  const int more = fgetc(file) != EOF;
  fclose(file);
  return found != size || more ? fail("an input file does not have the input's size") : 0;
}

int main(int argc, char **argv) {
  if (argc < 3) return fail("usage: benchmark LOOPS OUTPUT INPUT...");
  MSModelHandle model = MSModelCreate();
  if (model == NULL || MSModelBuild(model, NULL, 0, kMSModelTypeMindIR, NULL) != kMSStatusSuccess) return fail("the model cannot be built");
  const MSTensorHandleArray inputs = MSModelGetInputs(model);
  if ((size_t)argc != 3 + inputs.handle_num) return fail("one file for each input is needed");
  for (size_t i = 0; i < inputs.handle_num; i++)
    if (fill(inputs.handle_list[i], argv[3 + i])) return 1;
  MSTensorHandleArray outputs;
  const int loops = atoi(argv[1]) > 0 ? atoi(argv[1]) : 1;
  const clock_t start = clock();
  for (int i = 0; i < loops; i++)
    if (MSModelPredict(model, inputs, &outputs, NULL, NULL) != kMSStatusSuccess) return fail("the model cannot be run");
  printf("%.3f ms per run\n", 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC / loops);
  FILE *file = fopen(argv[2], "wb");
  if (file == NULL) return fail("the output file cannot be opened");
  for (size_t i = 0; i < outputs.handle_num; i++)
    fwrite(MSTensorGetData(outputs.handle_list[i]), 1, MSTensorGetDataSize(outputs.handle_list[i]), file);
  MSModelDestroy(&model);
  return fclose(file) ? fail("the output file cannot be written") : 0;
}
