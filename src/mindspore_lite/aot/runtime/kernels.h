/* Kernels of generated models: images have their channels last, packed filters stand in blocks of 16 output channels.
 *
 * A convolution walks over tiles of MS_ROWS pixels by 16 channels that stay in registers; a window that leaves the image reads from a
 * row of zeros instead, so the inner loop has no conditions. A matrix product with fixed weights is a convolution of 1x1. */
#ifndef MS_KERNELS_H
#define MS_KERNELS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define MS_LANES 16
#if defined(__AVX512F__)
#define MS_ROWS 12
#elif defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#define MS_ROWS 1 /* 16 sums are what the registers hold */
#else
#define MS_ROWS 6
#endif
#define MS_INLINE static inline __attribute__((always_inline, unused))
#if defined(__clang__) /* one copy of each kernel, whatever the sizes */
#define MS_KERNEL static __attribute__((unused, noinline))
#define MS_UNROLL _Pragma("unroll")
#else
#define MS_KERNEL static __attribute__((unused, noinline, noclone))
#define MS_UNROLL _Pragma("GCC unroll 16")
#endif

/* A loop whose turns threads share, where the sources are compiled with OpenMP; every result is computed by one thread, in the same
 * order, so its bits do not depend on their number. */
#ifdef _OPENMP
extern _Thread_local int32_t ms_threads; /* of the model that runs */
#define MS_SHARED _Pragma("omp parallel for schedule(static) num_threads(ms_threads) if (ms_threads > 1)")
#define MS_SHARED_2 _Pragma("omp parallel for collapse(2) schedule(static) num_threads(ms_threads) if (ms_threads > 1)")
#else
#define MS_SHARED
#define MS_SHARED_2
#endif

typedef float ms_vec __attribute__((vector_size(4 * MS_LANES), aligned(4), may_alias));
typedef int32_t ms_mask __attribute__((vector_size(4 * MS_LANES)));
typedef float ms_lanes __attribute__((vector_size(4 * MS_LANES)));

typedef struct {
  int32_t n, h, w, c;       /* images */
  int32_t oh, ow, oc;       /* results */
  int32_t kh, kw, sh, sw;   /* windows and their strides */
  int32_t dh, dw, ph, pw;   /* dilations, padding before */
  int32_t groups;
  float low, high;          /* bounds of the results */
} ms_window;

/* bfloat16 is the upper half of a float; rounded to the nearest, half-way ones to even, NaN stays NaN */
MS_INLINE float ms_from_bfloat16(uint16_t half) {
  const uint32_t bits = (uint32_t)half << 16;
  float v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

MS_INLINE uint16_t ms_to_bfloat16(float v) {
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  if (v != v) return (uint16_t)(bits >> 16 | 64);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

MS_INLINE float ms_bounded(float v, const ms_window *g) { return v < g->low ? g->low : v > g->high ? g->high : v; }

MS_INLINE ms_lanes ms_bounded_lanes(ms_lanes v, const ms_window *g) {
  const ms_lanes low = (ms_lanes){0} + g->low, high = (ms_lanes){0} + g->high;
  const ms_mask below = v < low, above = v > high;
  return (ms_lanes)((below & (ms_mask)low) | (above & (ms_mask)high) | (~(below | above) & (ms_mask)v));
}

MS_INLINE ms_lanes ms_load_bias(const float *bias, int32_t first, int32_t count) {
  ms_lanes v = {0};
  if (bias) memcpy(&v, bias + first, sizeof(float) * (size_t)(count < MS_LANES ? count : MS_LANES));
  return v;
}

MS_INLINE void ms_store_tile(ms_lanes v, const float *add, float *y, int32_t count, const ms_window *g) {
  if (count >= MS_LANES) {
    if (add) v += *(const ms_vec *)add;
    *(ms_vec *)y = ms_bounded_lanes(v, g);
    return;
  }
  for (int i = 0; i < count; i++) y[i] = ms_bounded(v[i] + (add ? add[i] : 0.0f), g);
}

/* `rows` pixels from number `pixel` on, `cols` blocks of channels from number `block` on; both are constants where it is called. */
MS_INLINE void ms_conv_tile(const int rows, const int cols, const float *x, const float *w, const float *bias, const float *add,
                            float *y, const float *zeros, const ms_window *g, int32_t pixel, int32_t block) {
  ms_lanes acc[MS_ROWS];
  const float *p[MS_ROWS];
  int32_t top[MS_ROWS], left[MS_ROWS];
  const size_t stride = (size_t)g->kh * g->kw * g->c * MS_LANES;
  MS_UNROLL for (int j = 0; j < cols; j++) {
    ms_lanes b = ms_load_bias(bias, (block + j) * MS_LANES, g->oc - (block + j) * MS_LANES);
    MS_UNROLL for (int r = 0; r < rows; r++) acc[r * cols + j] = b;
  }
  MS_UNROLL for (int r = 0; r < rows; r++) {
    top[r] = (pixel + r) / g->ow * g->sh - g->ph;
    left[r] = (pixel + r) % g->ow * g->sw - g->pw;
  }
  const float *f = w + (size_t)block * stride;
  const int32_t left_over = g->oc - block * MS_LANES, step = left_over < MS_LANES ? left_over : MS_LANES;
  for (int32_t ky = 0; ky < g->kh; ky++)
    for (int32_t kx = 0; kx < g->kw; kx++) {
      MS_UNROLL for (int r = 0; r < rows; r++) {
        int32_t iy = top[r] + ky * g->dh, ix = left[r] + kx * g->dw;
        int inside = (uint32_t)iy < (uint32_t)g->h && (uint32_t)ix < (uint32_t)g->w;
        p[r] = inside ? x + ((size_t)iy * g->w + ix) * g->c : zeros;
      }
      for (int32_t c = 0; c < g->c; c++, f += step) {
        ms_lanes v[4];
        MS_UNROLL for (int j = 0; j < cols; j++) v[j] = *(const ms_vec *)(f + j * stride);
        MS_UNROLL for (int r = 0; r < rows; r++)
          MS_UNROLL for (int j = 0; j < cols; j++) acc[r * cols + j] += p[r][c] * v[j];
      }
    }
  MS_UNROLL for (int r = 0; r < rows; r++)
    MS_UNROLL for (int j = 0; j < cols; j++) {
      size_t at = (size_t)(pixel + r) * g->oc + (block + j) * MS_LANES;
      ms_store_tile(acc[r * cols + j], add ? add + at : 0, y + at, g->oc - (block + j) * MS_LANES, g);
    }
}

/* Filters packed as [block][ky][kx][c][16]; the last block is as narrow as it can be, so loads reach into what follows, and what they
 * find there is never stored. */
MS_KERNEL void ms_conv2d(const float *x, const float *w, const float *bias, const float *add, float *y, const float *zeros,
                         const ms_window *g) {
  const int32_t blocks = (g->oc + MS_LANES - 1) / MS_LANES, pixels = g->oh * g->ow;
  const int32_t whole = pixels / MS_ROWS * MS_ROWS, fours = g->oc / MS_LANES / 4 * 4;
  for (int32_t n = 0; n < g->n; n++) {
    MS_SHARED
    for (int32_t pixel = 0; pixel < whole; pixel += MS_ROWS)
      for (int32_t b = 0; b < blocks; b++) ms_conv_tile(MS_ROWS, 1, x, w, bias, add, y, zeros, g, pixel, b);
    for (int32_t pixel = whole; pixel < pixels; pixel++) {
      MS_SHARED
      for (int32_t b = 0; b < fours; b += 4) ms_conv_tile(1, 4, x, w, bias, add, y, zeros, g, pixel, b);
      for (int32_t b = fours; b < blocks; b++) ms_conv_tile(1, 1, x, w, bias, add, y, zeros, g, pixel, b);
    }
    x += (size_t)g->h * g->w * g->c;
    y += (size_t)pixels * g->oc;
    if (add) add += (size_t)pixels * g->oc;
  }
}

/* The steps from pixel to pixel of a window, as far as they lie within the image. */
#define MS_EACH_OF_WINDOW(g, oy, ox)                                                              \
  for (int32_t ky = 0, iy = (oy) * (g)->sh - (g)->ph; ky < (g)->kh; ky++, iy += (g)->dh)         \
    if ((uint32_t)iy < (uint32_t)(g)->h)                                                         \
      for (int32_t kx = 0, ix = (ox) * (g)->sw - (g)->pw; kx < (g)->kw; kx++, ix += (g)->dw)     \
        if ((uint32_t)ix < (uint32_t)(g)->w)

#define MS_EACH_RESULT(g)                       \
  for (int32_t n = 0; n < (g)->n; n++)          \
    for (int32_t oy = 0; oy < (g)->oh; oy++)    \
      for (int32_t ox = 0; ox < (g)->ow; ox++)

MS_INLINE size_t ms_at(const ms_window *g, int32_t n, int32_t iy, int32_t ix) {
  return (((size_t)n * g->h + iy) * g->w + ix) * g->c;
}
MS_INLINE size_t ms_result_at(const ms_window *g, int32_t n, int32_t oy, int32_t ox) {
  return (((size_t)n * g->oh + oy) * g->ow + ox) * g->oc;
}

/* One filter per channel, as [ky][kx][c]. */
MS_KERNEL void ms_depthwise(const float *x, const float *w, const float *bias, const float *add, float *y, const ms_window *g) {
  MS_SHARED_2
  MS_EACH_RESULT(g) {
    float *to = y + ms_result_at(g, n, oy, ox);
    const float *more = add ? add + ms_result_at(g, n, oy, ox) : 0;
    int32_t c = 0;
    for (; c + MS_LANES <= g->c; c += MS_LANES) {
      ms_lanes acc = ms_load_bias(bias, c, MS_LANES);
      MS_EACH_OF_WINDOW(g, oy, ox)
      acc += *(const ms_vec *)(x + ms_at(g, n, iy, ix) + c) * *(const ms_vec *)(w + (ky * g->kw + kx) * g->c + c);
      ms_store_tile(acc, more ? more + c : 0, to + c, MS_LANES, g);
    }
    for (; c < g->c; c++) {
      float acc = bias ? bias[c] : 0.0f;
      MS_EACH_OF_WINDOW(g, oy, ox) acc += x[ms_at(g, n, iy, ix) + c] * w[(ky * g->kw + kx) * g->c + c];
      to[c] = ms_bounded(acc + (more ? more[c] : 0.0f), g);
    }
  }
}

/* Filters of any number of groups that may change from run to run: [ky][kx][c / groups][oc]. */
MS_KERNEL void ms_conv2d_plain(const float *x, const float *w, const float *bias, const float *add, float *y,
                               const ms_window *g) {
  const int32_t c_in = g->c / g->groups, c_out = g->oc / g->groups;
  MS_SHARED_2
  MS_EACH_RESULT(g) {
    float *restrict to = y + ms_result_at(g, n, oy, ox);
    for (int32_t o = 0; o < g->oc; o++) to[o] = bias ? bias[o] : 0.0f;
    MS_EACH_OF_WINDOW(g, oy, ox)
    for (int32_t group = 0; group < g->groups; group++)
      for (int32_t i = 0; i < c_in; i++) {
        const float v = x[ms_at(g, n, iy, ix) + group * c_in + i];
        const float *f = w + ((size_t)(ky * g->kw + kx) * c_in + i) * g->oc + group * c_out;
        for (int32_t o = 0; o < c_out; o++) to[group * c_out + o] += v * f[o];
      }
    const float *more = add ? add + ms_result_at(g, n, oy, ox) : 0;
    for (int32_t o = 0; o < g->oc; o++) to[o] = ms_bounded(to[o] + (more ? more[o] : 0.0f), g);
  }
}

/* The gradient of the images, and transposed convolutions; filters as [ky][kx][oc][c / groups]. */
MS_KERNEL void ms_conv2d_to_input(const float *dy, const float *w, float *dx, const ms_window *g) {
  const int32_t c_in = g->c / g->groups, c_out = g->oc / g->groups;
  memset(dx, 0, sizeof(float) * (size_t)g->n * g->h * g->w * g->c);
  MS_SHARED
  MS_EACH_RESULT(g) {
    const float *from = dy + ms_result_at(g, n, oy, ox);
    MS_EACH_OF_WINDOW(g, oy, ox)
    for (int32_t o = 0; o < g->oc; o++) {
      const float v = from[o];
      const float *f = w + ((size_t)(ky * g->kw + kx) * g->oc + o) * c_in;
      float *restrict to = dx + ms_at(g, n, iy, ix) + o / c_out * c_in;
      for (int32_t i = 0; i < c_in; i++) to[i] += v * f[i];
    }
  }
}

/* The gradient of the filters, as [ky][kx][c / groups][oc]. */
MS_KERNEL void ms_conv2d_to_filter(const float *dy, const float *x, float *dw, const ms_window *g) {
  const int32_t c_in = g->c / g->groups, c_out = g->oc / g->groups;
  memset(dw, 0, sizeof(float) * (size_t)g->kh * g->kw * c_in * g->oc);
  MS_EACH_RESULT(g) {
    const float *from = dy + ms_result_at(g, n, oy, ox);
    MS_EACH_OF_WINDOW(g, oy, ox)
    for (int32_t group = 0; group < g->groups; group++)
      for (int32_t i = 0; i < c_in; i++) {
        const float v = x[ms_at(g, n, iy, ix) + group * c_in + i];
        float *restrict to = dw + ((size_t)(ky * g->kw + kx) * c_in + i) * g->oc + group * c_out;
        for (int32_t o = 0; o < c_out; o++) to[o] += v * from[group * c_out + o];
      }
  }
}

MS_KERNEL void ms_max_pool(const float *x, float *y, const ms_window *g) {
  MS_SHARED_2
  MS_EACH_RESULT(g) {
    float *restrict to = y + ms_result_at(g, n, oy, ox);
    for (int32_t c = 0; c < g->c; c++) to[c] = -INFINITY;
    MS_EACH_OF_WINDOW(g, oy, ox) {
      const float *from = x + ms_at(g, n, iy, ix);
      for (int32_t c = 0; c < g->c; c++) to[c] = from[c] > to[c] || from[c] != from[c] ? from[c] : to[c];
    }
  }
}

/* The gradient goes to the first of the largest numbers. */
MS_KERNEL void ms_max_pool_grad(const float *x, const float *y, const float *dy, float *dx, const ms_window *g) {
  memset(dx, 0, sizeof(float) * (size_t)g->n * g->h * g->w * g->c);
  MS_SHARED
  MS_EACH_RESULT(g) {
    const size_t at = ms_result_at(g, n, oy, ox);
    for (int32_t c = 0; c < g->c; c++) {
      int open = 1;
      MS_EACH_OF_WINDOW(g, oy, ox) {
        const size_t from = ms_at(g, n, iy, ix) + c;
        if (open && (x[from] == y[at + c] || x[from] != x[from])) {
          dx[from] += dy[at + c];
          open = 0;
        }
      }
    }
  }
}

/* `share`: what the sum at each position is multiplied by. */
MS_KERNEL void ms_average_pool(const float *x, const float *share, float *y, const ms_window *g) {
  MS_SHARED_2
  MS_EACH_RESULT(g) {
    float *restrict to = y + ms_result_at(g, n, oy, ox);
    for (int32_t c = 0; c < g->c; c++) to[c] = 0.0f;
    MS_EACH_OF_WINDOW(g, oy, ox) {
      const float *from = x + ms_at(g, n, iy, ix);
      for (int32_t c = 0; c < g->c; c++) to[c] += from[c];
    }
    for (int32_t c = 0; c < g->c; c++) to[c] *= share[oy * g->ow + ox];
  }
}

MS_KERNEL void ms_average_pool_grad(const float *dy, const float *share, float *dx, const ms_window *g) {
  memset(dx, 0, sizeof(float) * (size_t)g->n * g->h * g->w * g->c);
  MS_SHARED
  MS_EACH_RESULT(g) {
    const float *from = dy + ms_result_at(g, n, oy, ox);
    MS_EACH_OF_WINDOW(g, oy, ox) {
      float *restrict to = dx + ms_at(g, n, iy, ix);
      for (int32_t c = 0; c < g->c; c++) to[c] += share[oy * g->ow + ox] * from[c];
    }
  }
}

/* y (m, n) = a (m, k) b (k, n), rows of b and y without gaps between elements. */
MS_INLINE void ms_product_rows(const int rows, const float *a, const float *b, float *y, int32_t n, int32_t k, int32_t a_row,
                               int32_t a_col, int32_t b_row) {
  int32_t j = 0;
  for (; j + MS_LANES <= n; j += MS_LANES) {
    ms_lanes acc[4] = {{0}};
    for (int32_t i = 0; i < k; i++) {
      const ms_lanes v = *(const ms_vec *)(b + (size_t)i * b_row + j);
      MS_UNROLL for (int r = 0; r < rows; r++) acc[r] += a[(size_t)r * a_row + (size_t)i * a_col] * v;
    }
    MS_UNROLL for (int r = 0; r < rows; r++) *(ms_vec *)(y + (size_t)r * n + j) = acc[r];
  }
  for (; j < n; j++)
    for (int r = 0; r < rows; r++) {
      float acc = 0.0f;
      for (int32_t i = 0; i < k; i++) acc += a[(size_t)r * a_row + (size_t)i * a_col] * b[(size_t)i * b_row + j];
      y[(size_t)r * n + j] = acc;
    }
}

MS_KERNEL void ms_product(const float *a, const float *b, float *y, int32_t m, int32_t n, int32_t k, int32_t a_row, int32_t a_col,
                          int32_t b_row) {
  const int32_t fours = m / 4 * 4;
  MS_SHARED
  for (int32_t i = 0; i < fours; i += 4) ms_product_rows(4, a + (size_t)i * a_row, b, y + (size_t)i * n, n, k, a_row, a_col, b_row);
  for (int32_t i = fours; i < m; i++) ms_product_rows(1, a + (size_t)i * a_row, b, y + (size_t)i * n, n, k, a_row, a_col, b_row);
}

/* y = x, then updates at (or added to) one position along the middle dimension for each index; positions out of range are left out
   (the step reports them). */
#define MS_SCATTER(T, name)                                                                                                      \
  MS_KERNEL void ms_scatter_##name(const float *x, const T *at, const float *update, float *y, size_t outer, int32_t size,         \
                                   int32_t count, size_t inner, int add) {                                                       \
    memcpy(y, x, outer * (size_t)size * inner * sizeof *y);                                                                      \
    for (size_t o = 0; o < outer; o++)                                                                                           \
      for (int32_t j = 0; j < count; j++)                                                                                        \
        for (size_t i = 0; i < inner; i++) {                                                                                     \
          const size_t from = (o * (size_t)count + (size_t)j) * inner + i;                                                       \
          T k = at[from];                                                                                                        \
          k = k < 0 ? (T)(k + size) : k;                                                                                         \
          if (k < 0 || k >= size) continue;                                                                                      \
          float *place = y + (o * (size_t)size + (size_t)k) * inner + i;                                                         \
          *place = add ? *place + update[from] : update[from];                                                                   \
        }                                                                                                                        \
  }
MS_SCATTER(int32_t, int32)
MS_SCATTER(int64_t, int64)

/* Whole numbers divided as NumPy does: 0 for a divisor of 0. */
#define MS_DIVISION(T, name, negative)                                                                      \
  MS_INLINE T ms_div_##name(T a, T b) { return b == 0 ? 0 : negative && b == (T)-1 ? (T)(0 - a) : a / b; }   \
  MS_INLINE T ms_mod_##name(T a, T b) { return b == 0 || (negative && b == (T)-1) ? 0 : a % b; }             \
  MS_INLINE T ms_floordiv_##name(T a, T b) {                                                                \
    T r = ms_mod_##name(a, b);                                                                              \
    return (T)(ms_div_##name(a, b) - (negative && r != 0 && ((r < 0) != (b < 0))));                         \
  }                                                                                                         \
  MS_INLINE T ms_floormod_##name(T a, T b) {                                                                \
    T r = ms_mod_##name(a, b);                                                                              \
    return (T)(negative && r != 0 && ((r < 0) != (b < 0)) ? r + b : r);                                     \
  }
MS_DIVISION(int8_t, int8, 1)
MS_DIVISION(int16_t, int16, 1)
MS_DIVISION(int32_t, int32, 1)
MS_DIVISION(int64_t, int64, 1)
MS_DIVISION(uint8_t, uint8, 0)
MS_DIVISION(uint16_t, uint16, 0)
MS_DIVISION(uint32_t, uint32, 0)
MS_DIVISION(uint64_t, uint64, 0)

MS_INLINE float ms_floormodf(float a, float b) {
  float r = fmodf(a, b);
  return r == 0 ? copysignf(0.0f, b) : (r < 0) != (b < 0) ? r + b : r;
}
MS_INLINE double ms_floormod(double a, double b) {
  double r = fmod(a, b);
  return r == 0 ? copysign(0.0, b) : (r < 0) != (b < 0) ? r + b : r;
}
#endif
