/* A stand-in for nvidia-smi: -L and the CSV queries, once or in a loop, answered by the same library as pynvml's calls.
 * Words, names and exit statuses are those of driver 580 on an H200. */
#include "fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIELD_LIMIT 64
#define GPU_LIMIT 64

static struct {
    const char *gpu_fields, *process_fields, *format, *ids;
    long interval_ms;
} options = {.format = "csv"};

struct column {
    char name[CELL_SIZE];
    const struct field *field; /* NULL: of the process, not of the GPU */
};

static void fail(const char *words, int status) {
    fputs(words, stdout);
    exit(status);
}

static void start(void) {
    int rc = open_library();
    if (rc == LIBRARY_NOT_FOUND)
        fail("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the NVIDIA Display "
             "Driver is properly installed and present in your system.\nPlease also try adding directory that contains "
             "libnvidia-ml.so to your system PATH.\n", rc);
    if (rc == VERSION_MISMATCH)
        fail("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.159\n", rc);
    if (rc != SUCCESS)
        fail("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest "
             "NVIDIA driver is installed and running.\n\n", rc);
}

/* ---- columns ---- */

static int is_process_field(const char *name) {
    static const char *const names[] = {"pid", "process_name", "name", "used_gpu_memory", "used_memory"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return 1;
    return 0;
}

static struct column column(const char *name, int of_processes) {
    struct column one = {.field = NULL};
    snprintf(one.name, sizeof one.name, "%s", strcmp(name, "used_memory") == 0 ? "used_gpu_memory" : name);
    if (of_processes && is_process_field(name))
        return one;
    one.field = find_field(name);
    if (!one.field) {
        printf("Field \"%s\" is not a valid field to query.\n\n", name);
        exit(2);
    }
    return one;
}

static int columns(const char *list, int of_processes, struct column found[FIELD_LIMIT]) {
    char text[8192];
    int count = 0;
    snprintf(text, sizeof text, "%s", list);
    for (char *name = strtok(text, ", "); name && count < FIELD_LIMIT; name = strtok(NULL, ", "))
        found[count++] = column(name, of_processes);
    return count;
}

static int form_has(const char *word) { return strstr(options.format, word) != NULL; }

static void print_header(const struct column *found, int count) {
    for (int i = 0; i < count; i++) {
        const char *unit = found[i].field ? found[i].field->unit : strstr(found[i].name, "memory") ? "MiB" : "";
        int shown = *unit && !form_has("nounits");
        printf("%s%s%s%s%s", i ? ", " : "", found[i].name, shown ? " [" : "", shown ? unit : "", shown ? "]" : "");
    }
    putchar('\n');
}

/* ---- rows ---- */

static void print_row(const struct column *found, int count, unsigned index, void (*print)(const char *, const void *), const void *of) {
    char cell[CELL_SIZE];
    for (int i = 0; i < count; i++) {
        fputs(i ? ", " : "", stdout);
        if (!found[i].field) {
            print(found[i].name, of);
            continue;
        }
        gpu_cell(found[i].field, index, !form_has("nounits"), cell);
        fputs(cell, stdout);
    }
    putchar('\n');
}

static void print_process_name(unsigned pid) {
    char path[64], name[4096] = "";
    snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
    FILE *file = fopen(path, "re");
    if (file) {
        name[fread(name, 1, sizeof name - 1, file)] = '\0'; /* the arguments stay behind its NUL */
        fclose(file);
    }
    fputs(*name ? name : "[Not Found]", stdout);
}

static void print_process_cell(const char *name, const void *of) {
    const struct process *process = of;
    if (strcmp(name, "pid") == 0)
        printf("%u", process->pid);
    else if (strcmp(name, "used_gpu_memory") == 0)
        printf("%llu%s", mebibytes(process->used_bytes), form_has("nounits") ? "" : " MiB");
    else
        print_process_name(process->pid);
}

static void print_processes(const struct column *found, int count, unsigned index) {
    struct process processes[PROCESS_LIMIT];
    int running = gpu_processes(index, processes);
    for (int i = 0; i < running; i++)
        print_row(found, count, index, print_process_cell, &processes[i]);
}

static unsigned wanted_gpus(unsigned indexes[GPU_LIMIT]) {
    char text[4096];
    unsigned count = 0;
    if (!options.ids) {
        for (unsigned all = gpu_count(); count < all && count < GPU_LIMIT; count++)
            indexes[count] = count;
        return count;
    }
    snprintf(text, sizeof text, "%s", options.ids);
    for (char *name = strtok(text, ","); name && count < GPU_LIMIT; name = strtok(NULL, ","))
        if (gpu_named(name, &indexes[count++]) != SUCCESS)
            fail("No devices were found\n", 6);
    return count;
}

static void query(void) {
    struct column found[FIELD_LIMIT];
    unsigned indexes[GPU_LIMIT];
    int of_processes = !options.gpu_fields;
    int count = columns(of_processes ? options.process_fields : options.gpu_fields, of_processes, found);
    start();
    unsigned gpus = wanted_gpus(indexes);
    if (!form_has("noheader"))
        print_header(found, count);
    do {
        for (unsigned i = 0; i < gpus; i++)
            if (of_processes)
                print_processes(found, count, indexes[i]);
            else
                print_row(found, count, indexes[i], NULL, NULL);
        if (fflush(stdout) != 0)
            exit(1);
    } while (options.interval_ms > 0 && usleep((useconds_t)options.interval_ms * 1000) == 0);
}

static void list_gpus(void) {
    unsigned indexes[GPU_LIMIT];
    char name[CELL_SIZE], uuid[CELL_SIZE];
    start();
    unsigned gpus = wanted_gpus(indexes);
    for (unsigned i = 0; i < gpus; i++) {
        gpu_cell(find_field("name"), indexes[i], 0, name);
        gpu_cell(find_field("uuid"), indexes[i], 0, uuid);
        printf("GPU %u: %s (UUID: %s)\n", indexes[i], name, uuid);
    }
}

/* ---- options ---- */

static const char *value_of(const char *option, char **argument) {
    size_t length = strlen(option);
    if (strncmp(*argument, option, length) == 0 && (*argument)[length] == '=')
        return *argument + length + 1;
    return strcmp(*argument, option) == 0 ? argument[1] : NULL;
}

static int takes_next(const char *argument) { return strchr(argument, '=') == NULL; }

static int read_option(char **argument) {
    static const struct {
        const char *name;
        const char **text;
        long unit_ms;
    } known[] = {
        {"--query-gpu", &options.gpu_fields, 0}, {"--query-compute-apps", &options.process_fields, 0},
        {"--format", &options.format, 0},        {"--id", &options.ids, 0},
        {"-i", &options.ids, 0},                 {"--loop", NULL, 1000},
        {"-l", NULL, 1000},                      {"--loop-ms", NULL, 1},
        {"-lms", NULL, 1},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const char *value = value_of(known[i].name, argument);
        if (!value)
            continue;
        if (known[i].text)
            *known[i].text = value;
        else
            options.interval_ms = strtol(value, NULL, 10) * known[i].unit_ms;
        return 1 + takes_next(*argument);
    }
    return 0;
}

int main(int count, char **arguments) {
    for (int i = 1; i < count;) {
        int listing = strcmp(arguments[i], "-L") == 0 || strcmp(arguments[i], "--list-gpus") == 0;
        int taken = listing ? 1 : read_option(&arguments[i]);
        if (!taken) {
            printf("ERROR: Option %s is not recognized. Please run 'nvidia-smi -h'.\n\n", arguments[i]);
            return 255;
        }
        i += taken;
    }
    if (options.gpu_fields || options.process_fields)
        query();
    else
        list_gpus();
    return 0;
}
