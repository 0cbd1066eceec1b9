/* What a generated model tells the interface about itself. */
#ifndef MS_NET_H
#define MS_NET_H

#include <stddef.h>
#include <stdint.h>

#include "net_sizes.h"

#define MS_MAX_RANK 8

typedef struct {
  const char *name;
  int32_t type, format, rank;
  int64_t shape[MS_MAX_RANK];
  size_t size, at; /* bytes, and where they are among the tensors of their kind */
} ms_tensor_info;

extern const ms_tensor_info ms_net_inputs[], ms_net_outputs[], ms_net_weights[];

/* Weights that training changes, as they are before it. */
extern const unsigned char *const ms_net_state;

void ms_net_run(unsigned char *memory, const unsigned char *state, const void *const *in, void *const *out);
#if MS_NET_TRAINS && MS_NET_VIRTUAL_BATCH > 1
/* The gradients of one step, added to sums; not 0 if it has met a value that is not allowed, and then nothing of the state has changed. */
int ms_net_gather(unsigned char *memory, unsigned char *state, const void *const *in, void *const *out);
/* New weights by `part` of the sums, which are 0 afterwards. */
int ms_net_apply(unsigned char *memory, unsigned char *state, float rate, float part);
#elif MS_NET_TRAINS
/* One step; not 0 if it has met a value that is not allowed, and then nothing of the state has changed. */
int ms_net_train(unsigned char *memory, unsigned char *state, float rate, const void *const *in, void *const *out);
#endif
#endif
