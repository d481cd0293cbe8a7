/* The state file behind the NVML stand-in: "key value" lines, read again when the file changes. */
#ifndef FAKE_NVML_STATE_H
#define FAKE_NVML_STATE_H

#define INTERNAL __attribute__((visibility("hidden")))

#define STATE_PATH "/run/fake-nvml/state"
#define CGROUP_ROOT "/sys/fs/cgroup"
#define VALUE_SIZE 256
#define SYSTEM_WIDE (-1)
#define PROCESS_LIMIT 256

struct process {
    unsigned pid;
    unsigned long long bytes;
    char type; /* C compute, G graphics */
};

/* 0 when the file is there and could be read. */
INTERNAL int state_present(void);

/* 1 and the last value of "gpu.INDEX.KEY", else of "gpu.*.KEY" (plain "KEY" for SYSTEM_WIDE); 0 when there is none. */
INTERNAL int state_text(int index, const char *key, char value[VALUE_SIZE]);
INTERNAL int state_number(int index, const char *key, long long *value);

/* The live processes of one GPU: "gpu.N.process PID BYTES [C|G]" and "gpu.N.cgroup PATH BYTES [C|G]". */
INTERNAL int state_processes(int index, struct process found[PROCESS_LIMIT]);

#endif
