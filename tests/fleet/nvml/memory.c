/* Memory and the processes that hold it. */
#include "nvml.h"

#include <stddef.h>

struct memory {
    u64 total, free, used;
};
struct memory_v2 {
    unsigned version;
    u64 total, reserved, free, used;
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
