/* What nvidia-smi can be asked for: a field's names, how the library is asked, how the answer is shown. */
#ifndef FAKE_SMI_FIELDS_H
#define FAKE_SMI_FIELDS_H

#include <stddef.h>

enum {
    SUCCESS = 0,
    NOT_SUPPORTED = 3,
    NOT_FOUND = 6,
    LIBRARY_NOT_FOUND = 12,
    GPU_IS_LOST = 15,
    VERSION_MISMATCH = 18,
};

#define CELL_SIZE 256
#define PROCESS_LIMIT 256

struct answer {
    unsigned long long number[4];
    char text[128];
};

struct field {
    const char *name, *other_name;
    const char *unit; /* left out by "nounits" */
    int (*ask)(const struct field *field, unsigned index, struct answer *answer);
    void (*show)(const struct field *field, const struct answer *answer, char cell[CELL_SIZE]);
    const char *call;
    unsigned argument[2];
    int pick; /* which of the answer's numbers */
};

struct process {
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance, compute_instance;
};

/* Open and initialise the library: SUCCESS or an NVML error code. */
int open_library(void);

/* NULL where nvidia-smi does not know the name. */
const struct field *find_field(const char *name);

/* The value of a field of one GPU, or the word that nvidia-smi puts in its place. */
void gpu_cell(const struct field *field, unsigned index, int with_unit, char cell[CELL_SIZE]);

/* Rounded up, as nvidia-smi does: 150109880320 bytes are 143156 MiB. */
unsigned long long mebibytes(unsigned long long bytes);

unsigned gpu_count(void);

/* The index of a GPU named by index, UUID or bus id: SUCCESS or an NVML error code. */
int gpu_named(const char *name, unsigned *index);

/* How many processes compute on a GPU; none where it does not answer. */
int gpu_processes(unsigned index, struct process found[PROCESS_LIMIT]);

#endif
