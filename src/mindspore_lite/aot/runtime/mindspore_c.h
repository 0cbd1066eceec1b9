/* MindSpore's C interface over one generated model. No memory is allocated: models, tensors and contexts come from small static pools,
 * and the model's own memory is static. Calls for one model must not overlap. */
#ifndef MINDSPORE_C_H
#define MINDSPORE_C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MS_MAX_SHAPE_NUM 32
#if defined(_WIN32)
#define MS_API __declspec(dllexport)
#else
#define MS_API __attribute__((visibility("default")))
#endif

typedef enum MSModelType { kMSModelTypeMindIR = 0, kMSModelTypeInvalid = 0x7FFFFFFF } MSModelType;
typedef enum MSDeviceType { kMSDeviceTypeCPU = 0, kMSDeviceTypeGPU, kMSDeviceTypeKirinNPU, kMSDeviceTypeInvalid = 100 } MSDeviceType;
typedef enum MSFormat { kMSFormatNCHW = 0, kMSFormatNHWC = 1 } MSFormat;

typedef enum MSDataType {
  kMSDataTypeUnknown = 0,
  kMSDataTypeNumberTypeBool = 30,
  kMSDataTypeNumberTypeInt8 = 32,
  kMSDataTypeNumberTypeInt16 = 33,
  kMSDataTypeNumberTypeInt32 = 34,
  kMSDataTypeNumberTypeInt64 = 35,
  kMSDataTypeNumberTypeUInt8 = 37,
  kMSDataTypeNumberTypeUInt16 = 38,
  kMSDataTypeNumberTypeUInt32 = 39,
  kMSDataTypeNumberTypeUInt64 = 40,
  kMSDataTypeNumberTypeFloat16 = 42,
  kMSDataTypeNumberTypeFloat32 = 43,
  kMSDataTypeNumberTypeFloat64 = 44,
  kMSDataTypeInvalid = 0x7FFFFFFF
} MSDataType;

/* 0 is success; errors of the runtime have the component's number in their upper bits. */
typedef enum MSStatus {
  kMSStatusSuccess = 0,
  kMSStatusLiteError = (int)0xFFFFFFFF,
  kMSStatusLiteNullptr = (int)0xFFFFFFFE,
  kMSStatusLiteParamInvalid = (int)0xFFFFFFFD,
  kMSStatusLiteNotSupport = (int)0xFFFFFFF6,
  kMSStatusLiteInputTensorError = (int)0xFFFFFF9B,
  kMSStatusLiteUninitializedObj = (int)0xFFFFFFF1
} MSStatus;

typedef void *MSModelHandle;
typedef void *MSTensorHandle;
typedef void *MSContextHandle;
typedef void *MSDeviceInfoHandle;

typedef struct MSTensorHandleArray {
  size_t handle_num;
  MSTensorHandle *handle_list;
} MSTensorHandleArray;

typedef struct MSShapeInfo {
  size_t shape_num;
  int64_t shape[MS_MAX_SHAPE_NUM];
} MSShapeInfo;

typedef struct MSCallBackParam {
  char *node_name;
  char *node_type;
} MSCallBackParam;

typedef bool (*MSKernelCallBackC)(const MSTensorHandleArray inputs, const MSTensorHandleArray outputs,
                                  const MSCallBackParam kernel_info);

/* -- models -- */
/* NULL when all (MS_MAX_MODELS, 1 unless defined otherwise) are in use. */
MS_API MSModelHandle MSModelCreate(void);
MS_API void MSModelDestroy(MSModelHandle *model);
/* Bytes of memory that a run needs, and memory of the caller's to use instead of the library's own. */
MS_API size_t MSModelCalcWorkspaceSize(MSModelHandle model);
MS_API void MSModelSetWorkspace(MSModelHandle model, void *workspace, size_t workspace_size);
/* The model is part of the library: the data may be NULL and is not looked at. */
MS_API MSStatus MSModelBuild(MSModelHandle model, const void *model_data, size_t data_size, MSModelType model_type,
                             const MSContextHandle model_context);
/* Shapes are fixed when the model is generated: others are refused. */
MS_API MSStatus MSModelResize(MSModelHandle model, const MSTensorHandleArray inputs, MSShapeInfo *shape_infos,
                              size_t shape_info_num);
/* Callbacks are called once, before and after the whole run. */
MS_API MSStatus MSModelPredict(MSModelHandle model, const MSTensorHandleArray inputs, MSTensorHandleArray *outputs,
                               const MSKernelCallBackC before, const MSKernelCallBackC after);
MS_API MSTensorHandleArray MSModelGetInputs(const MSModelHandle model);
MS_API MSTensorHandleArray MSModelGetOutputs(const MSModelHandle model);
MS_API MSTensorHandle MSModelGetInputByTensorName(const MSModelHandle model, const char *tensor_name);
MS_API MSTensorHandle MSModelGetOutputByTensorName(const MSModelHandle model, const char *tensor_name);

/* -- training: of models that were generated with their gradients; others refuse -- */
MS_API MSStatus MSModelSetTrainMode(MSModelHandle model, bool train);
MS_API bool MSModelGetTrainMode(MSModelHandle model);
MS_API MSStatus MSModelRunStep(MSModelHandle model, const MSKernelCallBackC before, const MSKernelCallBackC after);
/* Weights change after so many steps, by the mean of their gradients. Of models that were converted with virtual_batch > 1; a step that was
   begun is forgotten. lr < 0: as it is; momentum is fixed at conversion, < 0: as it is. */
MS_API MSStatus MSModelSetupVirtualBatch(MSModelHandle model, int virtual_batch_multiplier, float lr, float momentum);
MS_API MSStatus MSModelSetLearningRate(MSModelHandle model, float learning_rate);
MS_API float MSModelGetLearningRate(MSModelHandle model);
MS_API MSTensorHandleArray MSModelGetWeights(MSModelHandle model);
MS_API MSStatus MSModelUpdateWeights(MSModelHandle model, const MSTensorHandleArray new_weights);

/* -- tensors -- */
MS_API MSTensorHandle MSTensorCreate(const char *name, MSDataType type, const int64_t *shape, size_t shape_num, const void *data,
                                     size_t data_len);
MS_API void MSTensorDestroy(MSTensorHandle *tensor);
MS_API MSTensorHandle MSTensorClone(MSTensorHandle tensor);
MS_API void MSTensorSetName(MSTensorHandle tensor, const char *name);
MS_API const char *MSTensorGetName(const MSTensorHandle tensor);
MS_API void MSTensorSetDataType(MSTensorHandle tensor, MSDataType type);
MS_API MSDataType MSTensorGetDataType(const MSTensorHandle tensor);
MS_API void MSTensorSetShape(MSTensorHandle tensor, const int64_t *shape, size_t shape_num);
MS_API const int64_t *MSTensorGetShape(const MSTensorHandle tensor, size_t *shape_num);
MS_API void MSTensorSetFormat(MSTensorHandle tensor, MSFormat format);
MS_API MSFormat MSTensorGetFormat(const MSTensorHandle tensor);
/* The tensor refers to the caller's memory from now on; NULL brings its own back. */
MS_API void MSTensorSetData(MSTensorHandle tensor, void *data);
MS_API const void *MSTensorGetData(const MSTensorHandle tensor);
MS_API void *MSTensorGetMutableData(const MSTensorHandle tensor);
MS_API int64_t MSTensorGetElementNum(const MSTensorHandle tensor);
MS_API size_t MSTensorGetDataSize(const MSTensorHandle tensor);

/* -- contexts: MSModelBuild takes over the number of threads where sources are compiled with OpenMP; else models run on the calling one -- */
MS_API MSContextHandle MSContextCreate(void);
MS_API void MSContextDestroy(MSContextHandle *context);
MS_API void MSContextSetThreadNum(MSContextHandle context, int32_t thread_num);
MS_API int32_t MSContextGetThreadNum(const MSContextHandle context);
MS_API void MSContextSetThreadAffinityMode(MSContextHandle context, int mode);
MS_API int MSContextGetThreadAffinityMode(const MSContextHandle context);
MS_API void MSContextSetEnableParallel(MSContextHandle context, bool is_parallel);
MS_API bool MSContextGetEnableParallel(const MSContextHandle context);
MS_API void MSContextAddDeviceInfo(MSContextHandle context, MSDeviceInfoHandle device_info);
MS_API MSDeviceInfoHandle MSDeviceInfoCreate(MSDeviceType device_type);
MS_API void MSDeviceInfoDestroy(MSDeviceInfoHandle *device_info);
MS_API MSDeviceType MSDeviceInfoGetDeviceType(const MSDeviceInfoHandle device_info);

#ifdef __cplusplus
}
#endif
#endif
