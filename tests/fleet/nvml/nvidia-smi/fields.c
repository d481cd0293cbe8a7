#include "fields.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MIB (1024ull * 1024)

typedef int call_t(); /* NVML's functions take handles, unsigned numbers and pointers: each call states its own */
struct memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

static void *library;

static call_t *function(const char *name) {
    call_t *found = (call_t *)dlsym(library, name);
    if (found)
        return found;
    fprintf(stderr, "the NVML stand-in has no %s\n", name);
    exit(255);
}

int open_library(void) {
    library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    return library ? function("nvmlInitWithFlags")(0u) : LIBRARY_NOT_FOUND;
}

/* Fetched anew for each value, as nvidia-smi does: a GPU may be lost between two. */
static int handle(unsigned index, void **device) {
    return function("nvmlDeviceGetHandleByIndex_v2")(index, device);
}

unsigned gpu_count(void) {
    unsigned count = 0;
    function("nvmlDeviceGetCount_v2")(&count);
    return count;
}

int gpu_named(const char *name, unsigned *index) {
    void *device;
    char *end;
    *index = (unsigned)strtoul(name, &end, 10);
    if (*name && !*end)
        return *index < gpu_count() ? SUCCESS : NOT_FOUND;
    const char *by = strncmp(name, "GPU-", 4) == 0 ? "nvmlDeviceGetHandleByUUID" : "nvmlDeviceGetHandleByPciBusId_v2";
    int rc = function(by)(name, &device);
    return rc ? rc : function("nvmlDeviceGetIndex")(device, index);
}

int gpu_processes(unsigned index, struct process found[PROCESS_LIMIT]) {
    void *device;
    unsigned count = PROCESS_LIMIT;
    if (handle(index, &device) || function("nvmlDeviceGetComputeRunningProcesses_v3")(device, &count, found))
        return 0;
    return (int)count;
}

unsigned long long mebibytes(unsigned long long bytes) { return (bytes + MIB - 1) / MIB; }

/* ---- asking ---- */

static int ask_index(const struct field *field, unsigned index, struct answer *answer) {
    (void)field;
    answer->number[0] = index;
    return SUCCESS;
}

static int ask_count(const struct field *field, unsigned index, struct answer *answer) {
    (void)field, (void)index;
    answer->number[0] = gpu_count();
    return SUCCESS;
}

static int ask_time(const struct field *field, unsigned index, struct answer *answer) {
    (void)field, (void)index;
    time_t now = time(NULL);
    strftime(answer->text, sizeof answer->text, "%Y/%m/%d %H:%M:%S.000", localtime(&now));
    return SUCCESS;
}

static int ask_driver(const struct field *field, unsigned index, struct answer *answer) {
    (void)index;
    return function(field->call)(answer->text, 80u);
}

static int ask_text(const struct field *field, unsigned index, struct answer *answer) {
    void *device;
    int rc = handle(index, &device);
    return rc ? rc : function(field->call)(device, answer->text, 96u);
}

static int ask_bus(const struct field *field, unsigned index, struct answer *answer) {
    void *device;
    char info[128] = "";
    int rc = handle(index, &device);
    rc = rc ? rc : function(field->call)(device, info);
    snprintf(answer->text, sizeof answer->text, "%s", info + 36); /* after the legacy id (16) and five numbers */
    return rc;
}

static int ask(const struct field *field, unsigned index, struct answer *answer) {
    void *device;
    int rc = handle(index, &device);
    return rc ? rc : function(field->call)(device, &answer->number[0]);
}

static int ask_one(const struct field *field, unsigned index, struct answer *answer) {
    void *device;
    int rc = handle(index, &device);
    return rc ? rc : function(field->call)(device, field->argument[0], &answer->number[0]);
}

static int ask_two(const struct field *field, unsigned index, struct answer *answer) {
    void *device;
    int rc = handle(index, &device);
    return rc ? rc : function(field->call)(device, field->argument[0], field->argument[1], &answer->number[0]);
}

static int ask_pair(const struct field *field, unsigned index, struct answer *answer) {
    void *device;
    int rc = handle(index, &device);
    return rc ? rc : function(field->call)(device, &answer->number[0], &answer->number[1]);
}

static int ask_four(const struct field *field, unsigned index, struct answer *answer) {
    void *device;
    unsigned long long *number = answer->number;
    int rc = handle(index, &device);
    return rc ? rc : function(field->call)(device, &number[0], &number[1], &number[2], &number[3]);
}

static int ask_rates(const struct field *field, unsigned index, struct answer *answer) {
    void *device;
    unsigned rates[2] = {0, 0};
    int rc = handle(index, &device);
    rc = rc ? rc : function(field->call)(device, rates);
    answer->number[0] = rates[0], answer->number[1] = rates[1];
    return rc;
}

static int ask_memory(const struct field *field, unsigned index, struct answer *answer) {
    void *device;
    struct memory_v2 info = {.version = sizeof info | 2u << 24};
    int rc = handle(index, &device);
    rc = rc ? rc : function(field->call)(device, &info);
    memcpy(answer->number, &info.total, sizeof answer->number);
    return rc;
}

/* ---- showing ---- */

static void text(const struct field *field, const struct answer *answer, char cell[CELL_SIZE]) {
    (void)field;
    snprintf(cell, CELL_SIZE, "%s", answer->text);
}

static void whole(const struct field *field, const struct answer *answer, char cell[CELL_SIZE]) {
    snprintf(cell, CELL_SIZE, "%llu", answer->number[field->pick]);
}

static void watts(const struct field *field, const struct answer *answer, char cell[CELL_SIZE]) {
    snprintf(cell, CELL_SIZE, "%.2f", (double)answer->number[field->pick] / 1000);
}

static void mib(const struct field *field, const struct answer *answer, char cell[CELL_SIZE]) {
    snprintf(cell, CELL_SIZE, "%llu", mebibytes(answer->number[field->pick]));
}

static void mode(const struct field *field, const struct answer *answer, char cell[CELL_SIZE]) {
    snprintf(cell, CELL_SIZE, "%s", answer->number[field->pick] ? "Enabled" : "Disabled");
}

static void yes(const struct field *field, const struct answer *answer, char cell[CELL_SIZE]) {
    snprintf(cell, CELL_SIZE, "%s", answer->number[field->pick] ? "Yes" : "No");
}

static void level(const struct field *field, const struct answer *answer, char cell[CELL_SIZE]) {
    snprintf(cell, CELL_SIZE, "P%llu", answer->number[field->pick]);
}

static void dotted(const struct field *field, const struct answer *answer, char cell[CELL_SIZE]) {
    (void)field;
    snprintf(cell, CELL_SIZE, "%llu.%llu", answer->number[0], answer->number[1]);
}

static void bits(const struct field *field, const struct answer *answer, char cell[CELL_SIZE]) {
    snprintf(cell, CELL_SIZE, "0x%016llx", answer->number[field->pick]);
}

void gpu_cell(const struct field *field, unsigned index, int with_unit, char cell[CELL_SIZE]) {
    struct answer answer = {{0}, ""};
    int rc = field->ask(field, index, &answer);
    if (rc == NOT_SUPPORTED)
        strcpy(cell, "[N/A]");
    else if (rc == GPU_IS_LOST)
        strcpy(cell, "[GPU is lost]");
    else if (rc != SUCCESS)
        strcpy(cell, "[Unknown Error]");
    else
        field->show(field, &answer, cell);
    if (rc == SUCCESS && with_unit && *field->unit)
        strcat(strcat(cell, " "), field->unit);
}

/* ---- the table; names and aliases as in `nvidia-smi --help-query-gpu` of driver 580 ---- */

#define REMAPPED ask_four, .call = "nvmlDeviceGetRemappedRows"
#define MEMORY ask_memory, mib, "nvmlDeviceGetMemoryInfo_v2", {0, 0}
#define CLOCK ask_one, whole, "nvmlDeviceGetClockInfo"
#define MAX_CLOCK ask_one, whole, "nvmlDeviceGetMaxClockInfo"

static const struct field FIELDS[] = {
    {"index", "", "", ask_index, whole, "", {0, 0}, 0},
    {"count", "", "", ask_count, whole, "", {0, 0}, 0},
    {"timestamp", "", "", ask_time, text, "", {0, 0}, 0},
    {"driver_version", "", "", ask_driver, text, "nvmlSystemGetDriverVersion", {0, 0}, 0},
    {"name", "gpu_name", "", ask_text, text, "nvmlDeviceGetName", {0, 0}, 0},
    {"uuid", "gpu_uuid", "", ask_text, text, "nvmlDeviceGetUUID", {0, 0}, 0},
    {"serial", "gpu_serial", "", ask_text, text, "nvmlDeviceGetSerial", {0, 0}, 0},
    {"vbios_version", "", "", ask_text, text, "nvmlDeviceGetVbiosVersion", {0, 0}, 0},
    {"pci.bus_id", "gpu_bus_id", "", ask_bus, text, "nvmlDeviceGetPciInfo_v3", {0, 0}, 0},
    {"utilization.gpu", "", "%", ask_rates, whole, "nvmlDeviceGetUtilizationRates", {0, 0}, 0},
    {"utilization.memory", "", "%", ask_rates, whole, "nvmlDeviceGetUtilizationRates", {0, 0}, 1},
    {"memory.total", "", "MiB", MEMORY, 0},
    {"memory.reserved", "", "MiB", MEMORY, 1},
    {"memory.free", "", "MiB", MEMORY, 2},
    {"memory.used", "", "MiB", MEMORY, 3},
    {"power.draw", "", "W", ask, watts, "nvmlDeviceGetPowerUsage", {0, 0}, 0},
    {"power.draw.instant", "gpu.power.draw.instant", "W", ask, watts, "nvmlDeviceGetPowerUsage", {0, 0}, 0},
    {"power.limit", "gpu.power.requested_limit", "W", ask, watts, "nvmlDeviceGetPowerManagementLimit", {0, 0}, 0},
    {"enforced.power.limit", "gpu.power.current_limit", "W", ask, watts, "nvmlDeviceGetEnforcedPowerLimit", {0, 0}, 0},
    {"temperature.gpu", "", "", ask_one, whole, "nvmlDeviceGetTemperature", {0, 0}, 0},
    {"fan.speed", "", "%", ask, whole, "nvmlDeviceGetFanSpeed", {0, 0}, 0},
    {"clocks.gr", "clocks.current.graphics", "MHz", CLOCK, {0, 0}, 0},
    {"clocks.sm", "clocks.current.sm", "MHz", CLOCK, {1, 0}, 0},
    {"clocks.mem", "clocks.current.memory", "MHz", CLOCK, {2, 0}, 0},
    {"clocks.max.gr", "clocks.max.graphics", "MHz", MAX_CLOCK, {0, 0}, 0},
    {"clocks.max.sm", "", "MHz", MAX_CLOCK, {1, 0}, 0},
    {"clocks.max.mem", "clocks.max.memory", "MHz", MAX_CLOCK, {2, 0}, 0},
    {"pstate", "", "", ask, level, "nvmlDeviceGetPerformanceState", {0, 0}, 0},
    {"compute_cap", "", "", ask_pair, dotted, "nvmlDeviceGetCudaComputeCapability", {0, 0}, 0},
    {"persistence_mode", "", "", ask, mode, "nvmlDeviceGetPersistenceMode", {0, 0}, 0},
    {"mig.mode.current", "", "", ask_pair, mode, "nvmlDeviceGetMigMode", {0, 0}, 0},
    {"mig.mode.pending", "", "", ask_pair, mode, "nvmlDeviceGetMigMode", {0, 0}, 1},
    {"ecc.mode.current", "", "", ask_pair, mode, "nvmlDeviceGetEccMode", {0, 0}, 0},
    {"ecc.errors.corrected.volatile.total", "", "", ask_two, whole, "nvmlDeviceGetTotalEccErrors", {0, 0}, 0},
    {"ecc.errors.uncorrected.volatile.total", "", "", ask_two, whole, "nvmlDeviceGetTotalEccErrors", {1, 0}, 0},
    {"remapped_rows.correctable", "remapped_rows.sbe", "", REMAPPED, .show = whole, .pick = 0},
    {"remapped_rows.uncorrectable", "remapped_rows.dbe", "", REMAPPED, .show = whole, .pick = 1},
    {"remapped_rows.pending", "", "", REMAPPED, .show = yes, .pick = 2},
    {"remapped_rows.failure", "", "", REMAPPED, .show = yes, .pick = 3},
    {"clocks_event_reasons.active", "clocks_throttle_reasons.active", "", ask, bits,
     "nvmlDeviceGetCurrentClocksEventReasons", {0, 0}, 0},
};

const struct field *find_field(const char *name) {
    for (size_t i = 0; i < sizeof FIELDS / sizeof FIELDS[0]; i++)
        if (*name && (strcmp(name, FIELDS[i].name) == 0 || strcmp(name, FIELDS[i].other_name) == 0))
            return &FIELDS[i];
    return NULL;
}
