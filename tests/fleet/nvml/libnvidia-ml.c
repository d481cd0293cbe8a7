/* A stand-in for NVIDIA's libnvidia-ml.so.1 that answers from STATE_PATH: the library, the system, the devices. */
#include "nvml.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define DEVICE_LIMIT 64
static struct device devices[DEVICE_LIMIT];
static pthread_mutex_t init_guard = PTHREAD_MUTEX_INITIALIZER;
static int init_count;

struct pci_info {
    char bus_id_legacy[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
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

int gate(int index, const char *function) {
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

int number(int index, const char *function, const char *key, long long *value) {
    int rc = gate(index, function);
    if (rc != SUCCESS)
        return rc;
    return state_number(index, key, value) ? SUCCESS : NOT_SUPPORTED;
}

int uint_answer(device_t device, const char *function, const char *key, unsigned *value) {
    long long wide = 0;
    int rc = number(device->index, function, key, &wide);
    *value = (unsigned)wide;
    return rc;
}

int u64_answer(device_t device, const char *function, const char *key, u64 *value) {
    long long wide = 0;
    int rc = number(device->index, function, key, &wide);
    *value = (u64)wide;
    return rc;
}

int text_answer(int index, const char *function, const char *key, char *text, unsigned size) {
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
