/* A stand-in for NVIDIA's libnvidia-ml.so.1 that answers from STATE_PATH.
 *
 * Symbols, argument lists and struct layouts are those that pynvml (nvidia-ml-py 13) calls. A value that the state file
 * does not give is NVML_ERROR_NOT_SUPPORTED, as a real driver says for a fan of an H200.
 */
#include "state.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

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

#define DEVICE_LIMIT 64
static struct device devices[DEVICE_LIMIT];
static pthread_mutex_t init_guard = PTHREAD_MUTEX_INITIALIZER;
static int init_count;

struct pci_info {
    char bus_id_legacy[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};
struct memory {
    u64 total, free, used;
};
struct memory_v2 {
    unsigned version;
    u64 total, reserved, free, used;
};
struct utilization {
    unsigned gpu, memory;
};
struct process_info_v1 {
    unsigned pid;
    u64 used;
};
struct process_info {
    unsigned pid;
    u64 used;
    unsigned gpu_instance, compute_instance;
};
struct temperature_v1 {
    unsigned version, sensor;
    int celsius;
};
struct margin_v1 {
    unsigned version;
    int celsius;
};

/* "hang 1" or "hang FUNCTION": the call blocks, as in a stuck driver, until the file says otherwise. */
static void hang(int index, const char *function) {
    char value[VALUE_SIZE];
    while (state_text(index, "hang", value) && (strcmp(value, "1") == 0 || strcmp(value, function) == 0))
        usleep(20000);
}

static int injected(int index, const char *function) {
    char key[VALUE_SIZE];
    long long code = SUCCESS;
    snprintf(key, sizeof key, "error.%s", function);
    state_number(index, key, &code);
    return (int)code;
}

static int gate(int index, const char *function) {
    long long lost = 0;
    if (!init_count)
        return UNINITIALIZED;
    hang(SYSTEM_WIDE, function);
    if (index == SYSTEM_WIDE)
        return injected(index, function);
    hang(index, function);
    state_number(index, "lost", &lost);
    return lost ? GPU_IS_LOST : injected(index, function);
}

static int number(int index, const char *function, const char *key, long long *value) {
    int rc = gate(index, function);
    if (rc != SUCCESS)
        return rc;
    return state_number(index, key, value) ? SUCCESS : NOT_SUPPORTED;
}

static int uint_answer(device_t device, const char *function, const char *key, unsigned *value) {
    long long wide = 0;
    int rc = number(device->index, function, key, &wide);
    *value = (unsigned)wide;
    return rc;
}

static int u64_answer(device_t device, const char *function, const char *key, u64 *value) {
    long long wide = 0;
    int rc = number(device->index, function, key, &wide);
    *value = (u64)wide;
    return rc;
}

static int text_answer(int index, const char *function, const char *key, char *text, unsigned size) {
    char value[VALUE_SIZE];
    int rc = gate(index, function);
    if (rc != SUCCESS)
        return rc;
    if (!state_text(index, key, value))
        return NOT_SUPPORTED;
    if (strlen(value) >= size)
        return INSUFFICIENT_SIZE;
    strcpy(text, value);
    return SUCCESS;
}

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

/* ---- library and system ---- */

int nvmlInitWithFlags(unsigned flags) {
    (void)flags;
    long long code = SUCCESS;
    if (state_present() != 0)
        return DRIVER_NOT_LOADED;
    hang(SYSTEM_WIDE, "nvmlInitWithFlags");
    state_number(SYSTEM_WIDE, "init", &code);
    if (code != SUCCESS)
        return (int)code;
    pthread_mutex_lock(&init_guard);
    init_count++;
    pthread_mutex_unlock(&init_guard);
    return SUCCESS;
}
int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
int nvmlInit(void) { return nvmlInitWithFlags(0); }

int nvmlShutdown(void) {
    pthread_mutex_lock(&init_guard);
    int rc = init_count > 0 ? SUCCESS : UNINITIALIZED;
    init_count -= init_count > 0;
    pthread_mutex_unlock(&init_guard);
    return rc;
}

const char *nvmlErrorString(int code) {
    switch (code) {
    case SUCCESS: return "The operation was successful";
    case UNINITIALIZED: return "Uninitialized";
    case INVALID_ARGUMENT: return "Invalid Argument";
    case NOT_SUPPORTED: return "Not Supported";
    case 4: return "Insufficient Permissions";
    case NOT_FOUND: return "Not Found";
    case INSUFFICIENT_SIZE: return "Insufficient Size";
    case DRIVER_NOT_LOADED: return "Driver Not Loaded";
    case 10: return "Timeout";
    case 12: return "NVML Shared Library Not Found";
    case 13: return "Function Not Found";
    case GPU_IS_LOST: return "GPU is lost";
    case 16: return "GPU requires reset";
    case 18: return "Driver/library version mismatch";
    case ARGUMENT_VERSION_MISMATCH: return "Argument version mismatch";
    default: return "Unknown Error";
    }
}

int nvmlSystemGetDriverVersion(char *text, unsigned size) {
    return text_answer(SYSTEM_WIDE, __func__, "driver_version", text, size);
}
int nvmlSystemGetNVMLVersion(char *text, unsigned size) {
    return text_answer(SYSTEM_WIDE, __func__, "nvml_version", text, size);
}
int nvmlSystemGetCudaDriverVersion(int *version) {
    long long wide = 0;
    int rc = number(SYSTEM_WIDE, __func__, "cuda_version", &wide);
    *version = (int)wide;
    return rc;
}
int nvmlSystemGetCudaDriverVersion_v2(int *version) { return nvmlSystemGetCudaDriverVersion(version); }

int nvmlSystemGetProcessName(unsigned pid, char *text, unsigned size) {
    char path[64];
    int rc = gate(SYSTEM_WIDE, __func__);
    if (rc != SUCCESS)
        return rc;
    snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return NOT_FOUND;
    size_t length = fread(text, 1, size - 1, file);
    fclose(file);
    text[length] = '\0'; /* the arguments after argv[0] stay behind its NUL */
    return SUCCESS;
}

/* ---- devices ---- */

int nvmlDeviceGetCount_v2(unsigned *count) {
    long long wide = 0;
    int rc = number(SYSTEM_WIDE, __func__, "count", &wide);
    *count = (unsigned)wide;
    return rc;
}
int nvmlDeviceGetCount(unsigned *count) { return nvmlDeviceGetCount_v2(count); }

int nvmlDeviceGetHandleByIndex_v2(unsigned index, device_t *device) {
    unsigned count;
    int rc = nvmlDeviceGetCount_v2(&count);
    if (rc != SUCCESS)
        return rc;
    if (index >= count || index >= DEVICE_LIMIT)
        return INVALID_ARGUMENT;
    devices[index].index = (int)index;
    *device = &devices[index];
    return gate((int)index, __func__);
}
int nvmlDeviceGetHandleByIndex(unsigned index, device_t *device) { return nvmlDeviceGetHandleByIndex_v2(index, device); }

static int handle_where(const char *key, const char *wanted, device_t *device) {
    unsigned count = 0;
    char value[VALUE_SIZE];
    int rc = nvmlDeviceGetCount_v2(&count);
    for (unsigned i = 0; rc == SUCCESS && i < count; i++)
        if (state_text((int)i, key, value) && strcasecmp(value, wanted) == 0)
            return nvmlDeviceGetHandleByIndex_v2(i, device);
    return rc == SUCCESS ? NOT_FOUND : rc;
}
int nvmlDeviceGetHandleByUUID(const char *uuid, device_t *device) { return handle_where("uuid", uuid, device); }
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, device_t *device) { return handle_where("pci_bus_id", id, device); }

int nvmlDeviceGetIndex(device_t device, unsigned *index) {
    *index = (unsigned)device->index;
    return gate(device->index, __func__);
}
int nvmlDeviceGetMinorNumber(device_t device, unsigned *minor) { return nvmlDeviceGetIndex(device, minor); }

TEXT_CALL(nvmlDeviceGetName, "name")
TEXT_CALL(nvmlDeviceGetUUID, "uuid")
TEXT_CALL(nvmlDeviceGetSerial, "serial")
TEXT_CALL(nvmlDeviceGetVbiosVersion, "vbios_version")

int nvmlDeviceGetPciInfo_v3(device_t device, struct pci_info *info) {
    long long id = 0, subsystem = 0;
    memset(info, 0, sizeof *info);
    int rc = text_answer(device->index, __func__, "pci_bus_id", info->bus_id, sizeof info->bus_id);
    if (rc != SUCCESS)
        return rc;
    if (sscanf(info->bus_id, "%x:%x:%x", &info->domain, &info->bus, &info->device) != 3)
        return UNKNOWN;
    state_number(device->index, "pci_device_id", &id);
    state_number(device->index, "pci_subsystem_id", &subsystem);
    info->pci_device_id = (unsigned)id;
    info->pci_subsystem_id = (unsigned)subsystem;
    snprintf(info->bus_id_legacy, sizeof info->bus_id_legacy, "%04x:%02x:%02x.0", info->domain & 0xffff,
             info->bus & 0xff, info->device & 0xff);
    return SUCCESS;
}
int nvmlDeviceGetPciInfo_v2(device_t device, struct pci_info *info) { return nvmlDeviceGetPciInfo_v3(device, info); }

/* ---- memory and processes ---- */

static u64 used_memory(int index) {
    struct process found[PROCESS_LIMIT];
    long long fixed;
    u64 sum = 0;
    if (state_number(index, "memory_used_bytes", &fixed))
        return (u64)fixed;
    for (int i = state_processes(index, found) - 1; i >= 0; i--)
        sum += found[i].bytes;
    return sum;
}

static int memory(int index, const char *function, struct memory_v2 *info) {
    long long total = 0, reserved = 0;
    int rc = number(index, function, "memory_total_bytes", &total);
    if (rc != SUCCESS)
        return rc;
    state_number(index, "memory_reserved_bytes", &reserved);
    info->total = (u64)total;
    info->reserved = (u64)reserved;
    info->used = used_memory(index);
    info->free = info->total - info->reserved - info->used;
    return SUCCESS;
}

int nvmlDeviceGetMemoryInfo_v2(device_t device, struct memory_v2 *info) {
    if (info->version != (sizeof *info | 2u << 24))
        return ARGUMENT_VERSION_MISMATCH;
    return memory(device->index, __func__, info);
}

/* The first form has no field for what the driver reserves: it counts it as used. */
int nvmlDeviceGetMemoryInfo(device_t device, struct memory *info) {
    struct memory_v2 whole;
    int rc = memory(device->index, __func__, &whole);
    if (rc == SUCCESS)
        *info = (struct memory){whole.total, whole.free, whole.used + whole.reserved};
    return rc;
}

int nvmlDeviceGetBAR1MemoryInfo(device_t device, struct memory *info) {
    long long total = 0, used = 0;
    int rc = number(device->index, __func__, "bar1_total_bytes", &total);
    state_number(device->index, "bar1_used_bytes", &used);
    *info = (struct memory){(u64)total, (u64)(total - used), (u64)used};
    return rc;
}

static int processes(device_t device, const char *function, char type, struct process found[PROCESS_LIMIT], int *count) {
    int rc = gate(device->index, function);
    *count = 0;
    if (rc != SUCCESS)
        return rc;
    int all = state_processes(device->index, found);
    for (int i = 0; i < all; i++)
        if (found[i].type == type)
            found[(*count)++] = found[i];
    return SUCCESS;
}

static int process_list(device_t device, const char *function, char type, unsigned *count, struct process_info *infos) {
    struct process found[PROCESS_LIMIT];
    int needed, rc = processes(device, function, type, found, &needed);
    if (rc != SUCCESS)
        return rc;
    unsigned room = *count;
    *count = (unsigned)needed;
    if (room < (unsigned)needed || (needed && !infos))
        return INSUFFICIENT_SIZE;
    for (int i = 0; i < needed; i++)
        infos[i] = (struct process_info){found[i].pid, found[i].bytes, ~0u, ~0u};
    return SUCCESS;
}

static int process_list_v1(device_t device, const char *function, char type, unsigned *count, struct process_info_v1 *infos) {
    struct process_info wide[PROCESS_LIMIT];
    int rc = process_list(device, function, type, count, infos ? wide : NULL);
    for (unsigned i = 0; rc == SUCCESS && i < *count; i++)
        infos[i] = (struct process_info_v1){wide[i].pid, wide[i].used};
    return rc;
}

#define PROCESS_CALLS(function, type) \
    int function##_v3(device_t device, unsigned *count, struct process_info *infos) { \
        return process_list(device, #function, type, count, infos); \
    } \
    int function##_v2(device_t device, unsigned *count, struct process_info *infos) { \
        return process_list(device, #function, type, count, infos); \
    } \
    int function(device_t device, unsigned *count, struct process_info_v1 *infos) { \
        return process_list_v1(device, #function, type, count, infos); \
    }

PROCESS_CALLS(nvmlDeviceGetComputeRunningProcesses, 'C')
PROCESS_CALLS(nvmlDeviceGetGraphicsRunningProcesses, 'G')
PROCESS_CALLS(nvmlDeviceGetMPSComputeRunningProcesses, 'M')

int nvmlDeviceGetProcessUtilization(device_t device, void *samples, unsigned *count, u64 since) {
    (void)samples, (void)since;
    int rc = gate(device->index, __func__);
    *count = 0;
    return rc == SUCCESS ? NOT_FOUND : rc; /* what an H200 says when nothing ran in the span */
}

/* ---- load, power, heat, clocks ---- */

int nvmlDeviceGetUtilizationRates(device_t device, struct utilization *rates) {
    int rc = uint_answer(device, __func__, "utilization_gpu_percent", &rates->gpu);
    return rc ? rc : uint_answer(device, __func__, "utilization_memory_percent", &rates->memory);
}

UINT_CALL(nvmlDeviceGetPowerUsage, "power_usage_milliwatts")
UINT_CALL(nvmlDeviceGetEnforcedPowerLimit, "enforced_power_limit_milliwatts")
UINT_CALL(nvmlDeviceGetPowerManagementLimit, "power_limit_milliwatts")
UINT_CALL(nvmlDeviceGetPowerManagementDefaultLimit, "power_default_limit_milliwatts")
PAIR_CALL(nvmlDeviceGetPowerManagementLimitConstraints, "power_min_limit_milliwatts", "power_max_limit_milliwatts")
U64_CALL(nvmlDeviceGetTotalEnergyConsumption, "total_energy_millijoules")
UINT_CALL(nvmlDeviceGetPerformanceState, "performance_state")
UINT_CALL(nvmlDeviceGetFanSpeed, "fan_speed_percent")
U64_CALL(nvmlDeviceGetCurrentClocksEventReasons, "clocks_event_reasons")
U64_CALL(nvmlDeviceGetCurrentClocksThrottleReasons, "clocks_event_reasons")
U64_CALL(nvmlDeviceGetSupportedClocksEventReasons, "supported_clocks_event_reasons")
U64_CALL(nvmlDeviceGetSupportedClocksThrottleReasons, "supported_clocks_event_reasons")

int nvmlDeviceGetTemperature(device_t device, unsigned sensor, unsigned *celsius) {
    return sensor ? INVALID_ARGUMENT : uint_answer(device, __func__, "temperature_celsius", celsius);
}
int nvmlDeviceGetTemperatureV(device_t device, struct temperature_v1 *info) {
    if (info->version != (sizeof *info | 1u << 24))
        return ARGUMENT_VERSION_MISMATCH;
    return nvmlDeviceGetTemperature(device, info->sensor, (unsigned *)&info->celsius);
}
int nvmlDeviceGetMarginTemperature(device_t device, struct margin_v1 *info) {
    return uint_answer(device, __func__, "margin_temperature_celsius", (unsigned *)&info->celsius);
}

static const char *choice(const char *const names[], unsigned count, unsigned which) {
    return which < count ? names[which] : "none";
}

int nvmlDeviceGetTemperatureThreshold(device_t device, unsigned which, unsigned *celsius) {
    static const char *const keys[] = {"threshold_shutdown_celsius", "threshold_slowdown_celsius",
                                       "threshold_memory_max_celsius", "threshold_gpu_max_celsius"};
    return uint_answer(device, __func__, choice(keys, 4, which), celsius);
}

int nvmlDeviceGetClockInfo(device_t device, unsigned which, unsigned *mhz) {
    static const char *const keys[] = {"clock_graphics_mhz", "clock_sm_mhz", "clock_memory_mhz", "clock_video_mhz"};
    return uint_answer(device, __func__, choice(keys, 4, which), mhz);
}
int nvmlDeviceGetMaxClockInfo(device_t device, unsigned which, unsigned *mhz) {
    static const char *const keys[] = {"max_clock_graphics_mhz", "max_clock_sm_mhz", "max_clock_memory_mhz",
                                       "max_clock_video_mhz"};
    return uint_answer(device, __func__, choice(keys, 4, which), mhz);
}
int nvmlDeviceGetPcieThroughput(device_t device, unsigned counter, unsigned *kibibytes) {
    usleep(20000); /* a real one measures for 20 ms */
    return uint_answer(device, __func__, counter ? "pcie_rx_kibibytes" : "pcie_tx_kibibytes", kibibytes);
}
UINT_CALL(nvmlDeviceGetCurrPcieLinkGeneration, "pcie_link_generation")
UINT_CALL(nvmlDeviceGetMaxPcieLinkGeneration, "pcie_link_generation")
UINT_CALL(nvmlDeviceGetCurrPcieLinkWidth, "pcie_link_width")
UINT_CALL(nvmlDeviceGetMaxPcieLinkWidth, "pcie_link_width")

/* ---- modes and health ---- */

PAIR_CALL(nvmlDeviceGetMigMode, "mig_mode", "mig_mode_pending")
PAIR_CALL(nvmlDeviceGetEccMode, "ecc_mode", "ecc_mode")
UINT_CALL(nvmlDeviceGetPersistenceMode, "persistence_mode")
UINT_CALL(nvmlDeviceGetComputeMode, "compute_mode")
UINT_CALL(nvmlDeviceGetArchitecture, "architecture")
UINT_CALL(nvmlDeviceGetNumGpuCores, "gpu_cores")
UINT_CALL(nvmlDeviceGetMaxMigDeviceCount, "max_mig_devices")

int nvmlDeviceIsMigDeviceHandle(device_t device, unsigned *is_mig) {
    *is_mig = 0;
    return gate(device->index, __func__);
}

int nvmlDeviceGetCudaComputeCapability(device_t device, int *major, int *minor) {
    int rc = uint_answer(device, __func__, "compute_capability_major", (unsigned *)major);
    return rc ? rc : uint_answer(device, __func__, "compute_capability_minor", (unsigned *)minor);
}

int nvmlDeviceGetTotalEccErrors(device_t device, unsigned type, unsigned counter, u64 *count) {
    static const char *const keys[] = {"ecc_corrected_volatile", "ecc_uncorrected_volatile",
                                       "ecc_corrected_aggregate", "ecc_uncorrected_aggregate"};
    return u64_answer(device, __func__, choice(keys, 4, type + 2 * counter), count);
}

int nvmlDeviceGetRemappedRows(device_t device, unsigned *corrected, unsigned *uncorrected, unsigned *pending, unsigned *failed) {
    int rc = uint_answer(device, __func__, "remapped_rows_corrected", corrected);
    rc = rc ? rc : uint_answer(device, __func__, "remapped_rows_uncorrected", uncorrected);
    rc = rc ? rc : uint_answer(device, __func__, "remapped_rows_pending", pending);
    return rc ? rc : uint_answer(device, __func__, "remapped_rows_failed", failed);
}

int nvmlDeviceGetRetiredPages(device_t device, unsigned cause, unsigned *count, u64 *addresses) {
    (void)cause, (void)addresses;
    return uint_answer(device, __func__, "retired_pages", count);
}
UINT_CALL(nvmlDeviceGetRetiredPagesPendingStatus, "retired_pages_pending")

int nvmlDeviceGetNvLinkState(device_t device, unsigned link, unsigned *active) {
    (void)link;
    return uint_answer(device, __func__, "nvlink_active", active);
}
