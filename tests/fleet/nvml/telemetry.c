/* Load, power, heat, clocks, modes and health. */
#include "nvml.h"

#include <unistd.h>

struct utilization {
    unsigned gpu, memory;
};
struct temperature_v1 {
    unsigned version, sensor;
    int celsius;
};
struct margin_v1 {
    unsigned version;
    int celsius;
};

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
