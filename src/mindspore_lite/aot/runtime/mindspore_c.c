#include "mindspore_c.h"

#include <string.h>

#include "net.h"

#ifndef MS_MAX_MODELS
#define MS_MAX_MODELS 1
#endif
#ifndef MS_MAX_TENSORS
#define MS_MAX_TENSORS 16
#endif
#ifndef MS_MAX_CONTEXTS
#define MS_MAX_CONTEXTS 4
#endif
#define MS_AT_LEAST_ONE(n) ((n) > 0 ? (n) : 1)

typedef struct {
  const char *name;
  MSDataType type;
  MSFormat format;
  size_t rank;
  int64_t shape[MS_MAX_SHAPE_NUM];
  void *data, *own;
  bool used;
} ms_tensor;

typedef struct {
  ms_tensor in[MS_AT_LEAST_ONE(MS_NET_INPUTS)], out[MS_AT_LEAST_ONE(MS_NET_OUTPUTS)], weights[MS_AT_LEAST_ONE(MS_NET_WEIGHTS)];
  MSTensorHandle in_list[MS_AT_LEAST_ONE(MS_NET_INPUTS)], out_list[MS_AT_LEAST_ONE(MS_NET_OUTPUTS)],
      weight_list[MS_AT_LEAST_ONE(MS_NET_WEIGHTS)];
  unsigned char *memory;
  float rate;
  int virtual_batch, gathered;
  int32_t threads;
  bool used, built, trains;
} ms_model;

typedef struct {
  int32_t threads;
  int affinity;
  bool parallel, used;
} ms_context;

typedef struct {
  MSDeviceType type;
  bool used;
} ms_device;

#define MS_ALIGNED __attribute__((aligned(64)))
static MS_ALIGNED unsigned char memories[MS_MAX_MODELS][MS_AT_LEAST_ONE(MS_NET_MEMORY)];
static MS_ALIGNED unsigned char input_bytes[MS_MAX_MODELS][MS_AT_LEAST_ONE(MS_NET_INPUT_BYTES)];
static MS_ALIGNED unsigned char output_bytes[MS_MAX_MODELS][MS_AT_LEAST_ONE(MS_NET_OUTPUT_BYTES)];
static MS_ALIGNED unsigned char states[MS_MAX_MODELS][MS_AT_LEAST_ONE(MS_NET_STATE_BYTES)];
static ms_model models[MS_MAX_MODELS];
static ms_tensor tensors[MS_MAX_TENSORS];
static ms_context contexts[MS_MAX_CONTEXTS];
static ms_device devices[MS_MAX_CONTEXTS];

#ifdef _OPENMP
_Thread_local int32_t ms_threads = 1;
#define MS_USE_THREADS_OF(model) (ms_threads = (model)->threads)
#else
#define MS_USE_THREADS_OF(model) ((void)(model))
#endif

/* -- models -- */
MSModelHandle MSModelCreate(void) {
  for (int i = 0; i < MS_MAX_MODELS; i++)
    if (!models[i].used) {
      memset(&models[i], 0, sizeof models[i]);
      models[i].used = true;
      models[i].memory = memories[i];
      models[i].rate = MS_NET_RATE;
      models[i].virtual_batch = MS_NET_VIRTUAL_BATCH;
      return &models[i];
    }
  return NULL;
}

void MSModelDestroy(MSModelHandle *model) {
  if (model == NULL || *model == NULL) return;
  ((ms_model *)*model)->used = ((ms_model *)*model)->built = false;
  *model = NULL;
}

size_t MSModelCalcWorkspaceSize(MSModelHandle model) { return model == NULL ? 0 : MS_NET_MEMORY; }

void MSModelSetWorkspace(MSModelHandle model, void *workspace, size_t workspace_size) {
  if (model != NULL && workspace != NULL && workspace_size >= MS_NET_MEMORY) ((ms_model *)model)->memory = workspace;
}

static void describe(ms_tensor *tensor, const ms_tensor_info *info, unsigned char *bytes) {
  tensor->name = info->name;
  tensor->type = (MSDataType)info->type;
  tensor->format = (MSFormat)info->format;
  tensor->rank = (size_t)info->rank;
  memcpy(tensor->shape, info->shape, sizeof info->shape);
  tensor->data = tensor->own = bytes + info->at;
  tensor->used = true;
}

MSStatus MSModelBuild(MSModelHandle model, const void *model_data, size_t data_size, MSModelType model_type,
                      const MSContextHandle model_context) {
  (void)model_data, (void)data_size;
  ms_model *m = model;
  if (m == NULL) return kMSStatusLiteNullptr;
  if (model_type != kMSModelTypeMindIR) return kMSStatusLiteParamInvalid;
  const long place = m - models;
  for (int i = 0; i < MS_NET_INPUTS; i++) describe(&m->in[i], &ms_net_inputs[i], input_bytes[place]), m->in_list[i] = &m->in[i];
  for (int i = 0; i < MS_NET_OUTPUTS; i++)
    describe(&m->out[i], &ms_net_outputs[i], output_bytes[place]), m->out_list[i] = &m->out[i];
#if MS_NET_WEIGHTS > 0
  for (int i = 0; i < MS_NET_WEIGHTS; i++)
    describe(&m->weights[i], &ms_net_weights[i], states[place]), m->weight_list[i] = &m->weights[i];
  memcpy(states[place], ms_net_state, MS_NET_STATE_BYTES);
#endif
  const ms_context *context = model_context;
  m->threads = context != NULL && context->threads > 0 ? context->threads : 1;
  m->built = true;
  return kMSStatusSuccess;
}

static bool has_shape(const ms_tensor_info *info, const int64_t *shape, size_t rank) {
  return rank == (size_t)info->rank && memcmp(info->shape, shape, rank * sizeof *shape) == 0;
}

MSStatus MSModelResize(MSModelHandle model, const MSTensorHandleArray inputs, MSShapeInfo *shape_infos, size_t shape_info_num) {
  ms_model *m = model;
  if (m == NULL || shape_infos == NULL) return kMSStatusLiteNullptr;
  if (!m->built) return kMSStatusLiteUninitializedObj;
  if (inputs.handle_num != MS_NET_INPUTS || shape_info_num != MS_NET_INPUTS) return kMSStatusLiteParamInvalid;
  for (int i = 0; i < MS_NET_INPUTS; i++)
    if (!has_shape(&ms_net_inputs[i], shape_infos[i].shape, shape_infos[i].shape_num)) return kMSStatusLiteNotSupport;
  return kMSStatusSuccess;
}

static MSStatus check_inputs(const MSTensorHandleArray inputs, const void **data) {
  if (inputs.handle_num != MS_NET_INPUTS || (MS_NET_INPUTS && inputs.handle_list == NULL)) return kMSStatusLiteInputTensorError;
  for (int i = 0; i < MS_NET_INPUTS; i++) {
    const ms_tensor *t = inputs.handle_list[i];
    if (t == NULL || t->data == NULL) return kMSStatusLiteNullptr;
    if (t->type != (MSDataType)ms_net_inputs[i].type || !has_shape(&ms_net_inputs[i], t->shape, t->rank))
      return kMSStatusLiteInputTensorError;
    data[i] = t->data;
  }
  return kMSStatusSuccess;
}

#if MS_NET_TRAINS && MS_NET_VIRTUAL_BATCH > 1
static int learn(ms_model *m, const void *const *in, void *const *out) {
  if (ms_net_gather(m->memory, states[m - models], in, out) != 0) return 1;
  if (++m->gathered < m->virtual_batch) return 0;
  const float part = 1.0f / (float)m->gathered;
  m->gathered = 0;
  return ms_net_apply(m->memory, states[m - models], m->rate, part);
}
#elif MS_NET_TRAINS
static int learn(ms_model *m, const void *const *in, void *const *out) {
  return ms_net_train(m->memory, states[m - models], m->rate, in, out);
}
#endif

static MSStatus run(ms_model *m, const MSTensorHandleArray inputs, bool train, const MSKernelCallBackC before,
                    const MSKernelCallBackC after) {
  const void *in[MS_AT_LEAST_ONE(MS_NET_INPUTS)] = {0};
  void *out[MS_AT_LEAST_ONE(MS_NET_OUTPUTS)] = {0};
  MSStatus status = check_inputs(inputs, in);
  if (status != kMSStatusSuccess) return status;
  for (int i = 0; i < MS_NET_OUTPUTS; i++) out[i] = m->out[i].data;
  const MSTensorHandleArray outputs = {MS_NET_OUTPUTS, m->out_list};
  const MSCallBackParam whole = {(char *)MS_NET_NAME, (char *)"Model"};
  if (before != NULL && !before(inputs, outputs, whole)) return kMSStatusLiteError;
  MS_USE_THREADS_OF(m);
#if MS_NET_TRAINS
  if (train) {
    if (learn(m, in, out) != 0) return kMSStatusLiteParamInvalid;
  } else
#endif
    ms_net_run(m->memory, states[m - models], in, out);
  (void)train;
  if (after != NULL && !after(inputs, outputs, whole)) return kMSStatusLiteError;
  return kMSStatusSuccess;
}

MSStatus MSModelPredict(MSModelHandle model, const MSTensorHandleArray inputs, MSTensorHandleArray *outputs,
                        const MSKernelCallBackC before, const MSKernelCallBackC after) {
  ms_model *m = model;
  if (m == NULL || outputs == NULL) return kMSStatusLiteNullptr;
  if (!m->built) return kMSStatusLiteUninitializedObj;
  *outputs = (MSTensorHandleArray){MS_NET_OUTPUTS, m->out_list};
  return run(m, inputs, false, before, after);
}

MSTensorHandleArray MSModelGetInputs(const MSModelHandle model) {
  ms_model *m = model;
  return m == NULL || !m->built ? (MSTensorHandleArray){0, NULL} : (MSTensorHandleArray){MS_NET_INPUTS, m->in_list};
}

MSTensorHandleArray MSModelGetOutputs(const MSModelHandle model) {
  ms_model *m = model;
  return m == NULL || !m->built ? (MSTensorHandleArray){0, NULL} : (MSTensorHandleArray){MS_NET_OUTPUTS, m->out_list};
}

static MSTensorHandle named(const MSTensorHandleArray list, const char *name) {
  for (size_t i = 0; name != NULL && i < list.handle_num; i++)
    if (strcmp(((ms_tensor *)list.handle_list[i])->name, name) == 0) return list.handle_list[i];
  return NULL;
}

MSTensorHandle MSModelGetInputByTensorName(const MSModelHandle model, const char *tensor_name) {
  return named(MSModelGetInputs(model), tensor_name);
}
MSTensorHandle MSModelGetOutputByTensorName(const MSModelHandle model, const char *tensor_name) {
  return named(MSModelGetOutputs(model), tensor_name);
}

/* -- training -- */
MSStatus MSModelSetTrainMode(MSModelHandle model, bool train) {
  if (model == NULL) return kMSStatusLiteNullptr;
  if (train && !MS_NET_TRAINS) return kMSStatusLiteNotSupport;
  ((ms_model *)model)->trains = train;
  return kMSStatusSuccess;
}
bool MSModelGetTrainMode(MSModelHandle model) { return model != NULL && ((ms_model *)model)->trains; }

MSStatus MSModelRunStep(MSModelHandle model, const MSKernelCallBackC before, const MSKernelCallBackC after) {
  ms_model *m = model;
  if (m == NULL) return kMSStatusLiteNullptr;
  if (!m->built) return kMSStatusLiteUninitializedObj;
  return run(m, (MSTensorHandleArray){MS_NET_INPUTS, m->in_list}, m->trains, before, after);
}

MSStatus MSModelSetupVirtualBatch(MSModelHandle model, int virtual_batch_multiplier, float lr, float momentum) {
  ms_model *m = model;
  if (m == NULL) return kMSStatusLiteNullptr;
  if (!m->built) return kMSStatusLiteUninitializedObj;
  if (!MS_NET_TRAINS || (momentum >= 0 && momentum != MS_NET_MOMENTUM)) return kMSStatusLiteNotSupport;
  if (virtual_batch_multiplier < 1 || lr != lr) return kMSStatusLiteParamInvalid;
  if (virtual_batch_multiplier > 1 && MS_NET_VIRTUAL_BATCH == 1) return kMSStatusLiteNotSupport;
  m->virtual_batch = virtual_batch_multiplier;
  m->gathered = 0;
#if MS_NET_TRAINS && MS_NET_VIRTUAL_BATCH > 1
  memset(states[m - models] + MS_NET_SUMS_AT, 0, MS_NET_STATE_BYTES - MS_NET_SUMS_AT);
#endif
  if (lr >= 0) m->rate = lr;
  return kMSStatusSuccess;
}

MSStatus MSModelSetLearningRate(MSModelHandle model, float learning_rate) {
  if (model == NULL) return kMSStatusLiteNullptr;
  if (!MS_NET_TRAINS) return kMSStatusLiteNotSupport;
  if (!(learning_rate >= 0)) return kMSStatusLiteParamInvalid;
  ((ms_model *)model)->rate = learning_rate;
  return kMSStatusSuccess;
}
float MSModelGetLearningRate(MSModelHandle model) { return model == NULL ? 0.0f : ((ms_model *)model)->rate; }

MSTensorHandleArray MSModelGetWeights(MSModelHandle model) {
  ms_model *m = model;
  return m == NULL || !m->built ? (MSTensorHandleArray){0, NULL} : (MSTensorHandleArray){MS_NET_WEIGHTS, m->weight_list};
}

MSStatus MSModelUpdateWeights(MSModelHandle model, const MSTensorHandleArray new_weights) {
  const MSTensorHandleArray own = MSModelGetWeights(model);
  for (size_t i = 0; i < new_weights.handle_num; i++) { /* all of them fit, or none is taken */
    const ms_tensor *given = new_weights.handle_list[i];
    if (given == NULL || given->name == NULL || given->data == NULL) return kMSStatusLiteNullptr;
    ms_tensor *found = named(own, given->name);
    if (found == NULL || MSTensorGetDataSize(found) != MSTensorGetDataSize(new_weights.handle_list[i]))
      return kMSStatusLiteParamInvalid;
  }
  for (size_t i = 0; i < new_weights.handle_num; i++) {
    const ms_tensor *given = new_weights.handle_list[i];
    ms_tensor *found = named(own, given->name);
    memmove(found->data, given->data, MSTensorGetDataSize(found));
  }
  return kMSStatusSuccess;
}

/* -- tensors -- */
static size_t width_of(MSDataType type) {
  switch (type) {
    case kMSDataTypeNumberTypeBool:
    case kMSDataTypeNumberTypeInt8:
    case kMSDataTypeNumberTypeUInt8:
      return 1;
    case kMSDataTypeNumberTypeInt16:
    case kMSDataTypeNumberTypeUInt16:
    case kMSDataTypeNumberTypeFloat16:
      return 2;
    case kMSDataTypeNumberTypeInt32:
    case kMSDataTypeNumberTypeUInt32:
    case kMSDataTypeNumberTypeFloat32:
      return 4;
    case kMSDataTypeNumberTypeInt64:
    case kMSDataTypeNumberTypeUInt64:
    case kMSDataTypeNumberTypeFloat64:
      return 8;
    default:
      return 0;
  }
}

MSTensorHandle MSTensorCreate(const char *name, MSDataType type, const int64_t *shape, size_t shape_num, const void *data,
                              size_t data_len) {
  if (name == NULL || shape_num > MS_MAX_SHAPE_NUM || (shape == NULL && shape_num > 0)) return NULL;
  for (int i = 0; i < MS_MAX_TENSORS; i++)
    if (!tensors[i].used) {
      ms_tensor *t = &tensors[i];
      memset(t, 0, sizeof *t);
      t->used = true, t->name = name, t->type = type, t->rank = shape_num, t->data = (void *)data;
      if (shape_num) memcpy(t->shape, shape, shape_num * sizeof *shape);
      if (data != NULL && data_len != MSTensorGetDataSize(t)) {
        t->used = false;
        return NULL;
      }
      return t;
    }
  return NULL;
}

void MSTensorDestroy(MSTensorHandle *tensor) {
  if (tensor == NULL || *tensor == NULL) return;
  ms_tensor *t = *tensor;
  if (t >= tensors && t < tensors + MS_MAX_TENSORS) t->used = false; /* a model's own stay */
  *tensor = NULL;
}

/* A second description of the same data. */
MSTensorHandle MSTensorClone(MSTensorHandle tensor) {
  ms_tensor *t = tensor;
  if (t == NULL) return NULL;
  ms_tensor *copy = MSTensorCreate(t->name, t->type, t->shape, t->rank, NULL, 0);
  if (copy != NULL) copy->data = t->data, copy->format = t->format;
  return copy;
}

void MSTensorSetName(MSTensorHandle tensor, const char *name) {
  if (tensor != NULL) ((ms_tensor *)tensor)->name = name;
}
const char *MSTensorGetName(const MSTensorHandle tensor) { return tensor == NULL ? NULL : ((ms_tensor *)tensor)->name; }
void MSTensorSetDataType(MSTensorHandle tensor, MSDataType type) {
  if (tensor != NULL) ((ms_tensor *)tensor)->type = type;
}
MSDataType MSTensorGetDataType(const MSTensorHandle tensor) {
  return tensor == NULL ? kMSDataTypeUnknown : ((ms_tensor *)tensor)->type;
}
void MSTensorSetShape(MSTensorHandle tensor, const int64_t *shape, size_t shape_num) {
  ms_tensor *t = tensor;
  if (t == NULL || shape == NULL || shape_num > MS_MAX_SHAPE_NUM) return;
  memcpy(t->shape, shape, shape_num * sizeof *shape);
  t->rank = shape_num;
}
const int64_t *MSTensorGetShape(const MSTensorHandle tensor, size_t *shape_num) {
  if (tensor == NULL || shape_num == NULL) return NULL;
  *shape_num = ((ms_tensor *)tensor)->rank;
  return ((ms_tensor *)tensor)->shape;
}
void MSTensorSetFormat(MSTensorHandle tensor, MSFormat format) {
  if (tensor != NULL) ((ms_tensor *)tensor)->format = format;
}
MSFormat MSTensorGetFormat(const MSTensorHandle tensor) {
  return tensor == NULL ? kMSFormatNCHW : ((ms_tensor *)tensor)->format;
}
void MSTensorSetData(MSTensorHandle tensor, void *data) {
  ms_tensor *t = tensor;
  if (t != NULL) t->data = data != NULL ? data : t->own;
}
const void *MSTensorGetData(const MSTensorHandle tensor) { return tensor == NULL ? NULL : ((ms_tensor *)tensor)->data; }
void *MSTensorGetMutableData(const MSTensorHandle tensor) { return tensor == NULL ? NULL : ((ms_tensor *)tensor)->data; }
int64_t MSTensorGetElementNum(const MSTensorHandle tensor) {
  const ms_tensor *t = tensor;
  if (t == NULL) return 0;
  int64_t count = 1;
  for (size_t i = 0; i < t->rank; i++) count *= t->shape[i];
  return count;
}
size_t MSTensorGetDataSize(const MSTensorHandle tensor) {
  return tensor == NULL ? 0 : (size_t)MSTensorGetElementNum(tensor) * width_of(((ms_tensor *)tensor)->type);
}

/* -- contexts -- */
MSContextHandle MSContextCreate(void) {
  for (int i = 0; i < MS_MAX_CONTEXTS; i++)
    if (!contexts[i].used) {
      contexts[i] = (ms_context){.threads = 1, .used = true};
      return &contexts[i];
    }
  return NULL;
}
void MSContextDestroy(MSContextHandle *context) {
  if (context == NULL || *context == NULL) return;
  ((ms_context *)*context)->used = false;
  *context = NULL;
}
void MSContextSetThreadNum(MSContextHandle context, int32_t thread_num) {
  if (context != NULL) ((ms_context *)context)->threads = thread_num;
}
int32_t MSContextGetThreadNum(const MSContextHandle context) { return context == NULL ? 0 : ((ms_context *)context)->threads; }
void MSContextSetThreadAffinityMode(MSContextHandle context, int mode) {
  if (context != NULL) ((ms_context *)context)->affinity = mode;
}
int MSContextGetThreadAffinityMode(const MSContextHandle context) {
  return context == NULL ? 0 : ((ms_context *)context)->affinity;
}
void MSContextSetEnableParallel(MSContextHandle context, bool is_parallel) {
  if (context != NULL) ((ms_context *)context)->parallel = is_parallel;
}
bool MSContextGetEnableParallel(const MSContextHandle context) { return context != NULL && ((ms_context *)context)->parallel; }
void MSContextAddDeviceInfo(MSContextHandle context, MSDeviceInfoHandle device_info) { (void)context, (void)device_info; }

MSDeviceInfoHandle MSDeviceInfoCreate(MSDeviceType device_type) {
  if (device_type != kMSDeviceTypeCPU) return NULL;
  for (int i = 0; i < MS_MAX_CONTEXTS; i++)
    if (!devices[i].used) {
      devices[i] = (ms_device){device_type, true};
      return &devices[i];
    }
  return NULL;
}
void MSDeviceInfoDestroy(MSDeviceInfoHandle *device_info) {
  if (device_info == NULL || *device_info == NULL) return;
  ((ms_device *)*device_info)->used = false;
  *device_info = NULL;
}
MSDeviceType MSDeviceInfoGetDeviceType(const MSDeviceInfoHandle device_info) {
  return device_info == NULL ? kMSDeviceTypeInvalid : ((ms_device *)device_info)->type;
}
