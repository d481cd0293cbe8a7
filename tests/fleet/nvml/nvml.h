/* What the parts of the NVML stand-in share.
 *
 * Symbols, argument lists and struct layouts are those that pynvml (nvidia-ml-py 13) calls. A value that the state file
 * does not give is NVML_ERROR_NOT_SUPPORTED, as a real driver says for a fan of an H200.
 */
#ifndef FAKE_NVML_H
#define FAKE_NVML_H

#include "state.h"

enum {
    SUCCESS = 0,
    UNINITIALIZED = 1,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7,
    DRIVER_NOT_LOADED = 9,
    GPU_IS_LOST = 15,
    ARGUMENT_VERSION_MISMATCH = 25,
    UNKNOWN = 999,
};

typedef unsigned long long u64;
typedef struct device {
    int index;
} *device_t;

/* What stands before an answer: initialised, not hanging, not lost, no error injected; SUCCESS or an error code. */
INTERNAL int gate(int index, const char *function);

/* gate(), then the value of a key: NOT_SUPPORTED where the state has none, INSUFFICIENT_SIZE where the text is longer. */
INTERNAL int number(int index, const char *function, const char *key, long long *value);
INTERNAL int uint_answer(device_t device, const char *function, const char *key, unsigned *value);
INTERNAL int u64_answer(device_t device, const char *function, const char *key, u64 *value);
INTERNAL int text_answer(int index, const char *function, const char *key, char *text, unsigned size);

#define UINT_CALL(function, key) \
    int function(device_t device, unsigned *value) { return uint_answer(device, #function, key, value); }
#define U64_CALL(function, key) \
    int function(device_t device, u64 *value) { return u64_answer(device, #function, key, value); }
#define PAIR_CALL(function, first_key, second_key) \
    int function(device_t device, unsigned *first, unsigned *second) { \
        int rc = uint_answer(device, #function, first_key, first); \
        return rc ? rc : uint_answer(device, #function, second_key, second); \
    }
#define TEXT_CALL(function, key) \
    int function(device_t device, char *text, unsigned size) { \
        return text_answer(device->index, #function, key, text, size); \
    }

#endif
