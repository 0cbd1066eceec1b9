/* What a Cortex-M does before main: stack, floating point unit, variables. With newlib's semihosting (`--specs=rdimon.specs`) files and
 * printf go to the debugger, or to QEMU; a firmware of your own brings its own start. */
#include <stdint.h>

extern uint32_t ms_stack_top;
extern void _start(void); /* newlib's: clears .bss and calls main */
extern void initialise_monitor_handles(void);

void ms_reset(void) {
#if defined(__ARM_FP)
  *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20; /* CPACR: full access to the floating point unit */
  __asm__ volatile("dsb\nisb");
#endif
  _start();
  for (;;) {
  }
}

static void ms_halt(void) {
  for (;;) {
  }
}

__attribute__((section(".vectors"), used)) static const void *const ms_vectors[16] = {
    &ms_stack_top, (const void *)ms_reset, (const void *)ms_halt, (const void *)ms_halt,
    (const void *)ms_halt, (const void *)ms_halt, (const void *)ms_halt,
};
