/* The native half of Model.java. */
#include <jni.h>
#include <stdint.h>

#include "mindspore_c.h"

static void fail(JNIEnv *env, const char *kind, const char *what) {
  jclass found = (*env)->FindClass(env, kind);
  if (found != NULL) (*env)->ThrowNew(env, found, what);
}

JNIEXPORT jlong JNICALL Java_Model_create(JNIEnv *env, jclass own) {
  (void)own;
  MSModelHandle model = MSModelCreate();
  if (model == NULL || MSModelBuild(model, NULL, 0, kMSModelTypeMindIR, NULL) != kMSStatusSuccess) {
    fail(env, "java/lang/IllegalStateException", "all models of the library are in use");
    return 0;
  }
  return (jlong)(intptr_t)model;
}

JNIEXPORT void JNICALL Java_Model_destroy(JNIEnv *env, jclass own, jlong handle) {
  (void)env, (void)own;
  MSModelHandle model = (MSModelHandle)(intptr_t)handle;
  MSModelDestroy(&model);
}

JNIEXPORT jfloatArray JNICALL Java_Model_predict(JNIEnv *env, jclass own, jlong handle, jobjectArray given) {
  (void)own;
  MSModelHandle model = (MSModelHandle)(intptr_t)handle;
  const MSTensorHandleArray inputs = MSModelGetInputs(model);
  if ((size_t)(*env)->GetArrayLength(env, given) != inputs.handle_num) {
    fail(env, "java/lang/IllegalArgumentException", "the model takes another number of inputs");
    return NULL;
  }
  for (size_t i = 0; i < inputs.handle_num; i++) {
    jfloatArray array = (*env)->GetObjectArrayElement(env, given, (jsize)i);
    const jsize count = array == NULL ? -1 : (*env)->GetArrayLength(env, array);
    if (count < 0 || (size_t)count * sizeof(float) != MSTensorGetDataSize(inputs.handle_list[i])) {
      fail(env, "java/lang/IllegalArgumentException", "an input does not have the size that the model takes");
      return NULL;
    }
    (*env)->GetFloatArrayRegion(env, array, 0, count, MSTensorGetMutableData(inputs.handle_list[i]));
  }
  MSTensorHandleArray outputs;
  if (MSModelPredict(model, inputs, &outputs, NULL, NULL) != kMSStatusSuccess || outputs.handle_num == 0) {
    fail(env, "java/lang/IllegalStateException", "the model cannot be run");
    return NULL;
  }
  const jsize count = (jsize)MSTensorGetElementNum(outputs.handle_list[0]);
  jfloatArray found = (*env)->NewFloatArray(env, count);
  if (found != NULL) (*env)->SetFloatArrayRegion(env, found, 0, count, MSTensorGetData(outputs.handle_list[0]));
  return found;
}
