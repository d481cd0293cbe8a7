#include "state.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LINE_LIMIT 2048
#define KEY_SIZE 96

struct line {
    char key[KEY_SIZE];
    char value[VALUE_SIZE];
};

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static struct line lines[LINE_LIMIT];
static int line_count;
static struct stat seen;

static int same_file(const struct stat *now) {
    return now->st_ino == seen.st_ino && now->st_size == seen.st_size &&
           now->st_mtim.tv_sec == seen.st_mtim.tv_sec && now->st_mtim.tv_nsec == seen.st_mtim.tv_nsec;
}

static void parse(FILE *file) {
    char text[KEY_SIZE + VALUE_SIZE + 8];
    line_count = 0;
    while (line_count < LINE_LIMIT && fgets(text, sizeof text, file)) {
        struct line *line = &lines[line_count];
        if (text[0] == '#' || sscanf(text, "%95s %255[^\n]", line->key, line->value) != 2)
            continue;
        line_count++;
    }
}

/* Called with the guard held; the writer replaces the file by rename, so one open sees one whole text. */
static int refresh(void) {
    struct stat now;
    if (stat(STATE_PATH, &now) != 0)
        return -1;
    if (same_file(&now))
        return 0;
    FILE *file = fopen(STATE_PATH, "re");
    if (!file)
        return -1;
    parse(file);
    fclose(file);
    seen = now;
    return 0;
}

static int last_value(const char *key, char value[VALUE_SIZE]) {
    for (int i = line_count - 1; i >= 0; i--)
        if (strcmp(lines[i].key, key) == 0)
            return strcpy(value, lines[i].value) != NULL;
    return 0;
}

static int find(int index, const char *key, char value[VALUE_SIZE]) {
    char full[2 * KEY_SIZE];
    if (index == SYSTEM_WIDE)
        return last_value(key, value);
    snprintf(full, sizeof full, "gpu.%d.%s", index, key);
    if (last_value(full, value))
        return 1;
    snprintf(full, sizeof full, "gpu.*.%s", key);
    return last_value(full, value);
}

int state_present(void) {
    pthread_mutex_lock(&guard);
    int rc = refresh();
    pthread_mutex_unlock(&guard);
    return rc;
}

int state_text(int index, const char *key, char value[VALUE_SIZE]) {
    pthread_mutex_lock(&guard);
    int found = refresh() == 0 && find(index, key, value);
    pthread_mutex_unlock(&guard);
    return found;
}

int state_number(int index, const char *key, long long *value) {
    char text[VALUE_SIZE], *end;
    if (!state_text(index, key, text))
        return 0;
    *value = strtoll(text, &end, 0);
    return end != text;
}

static int alive(unsigned pid) {
    return pid > 0 && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

static int add(struct process found[PROCESS_LIMIT], int count, struct process one) {
    if (count >= PROCESS_LIMIT || !alive(one.pid))
        return count;
    found[count] = one;
    return count + 1;
}

/* A unit's first process holds the memory, as a scheduler of an engine does. */
static int first_of_cgroup(const char *path, unsigned *pid) {
    char procs[VALUE_SIZE + 64];
    snprintf(procs, sizeof procs, CGROUP_ROOT "/%s/cgroup.procs", path);
    FILE *file = fopen(procs, "re");
    if (!file)
        return 0;
    int found = fscanf(file, "%u", pid) == 1;
    fclose(file);
    return found;
}

static int read_process(const char *key, const char *value, struct process *one) {
    char who[VALUE_SIZE];
    one->type = 'C';
    if (sscanf(value, "%255s %llu %c", who, &one->bytes, &one->type) < 2)
        return 0;
    if (strcmp(key, "cgroup") == 0)
        return first_of_cgroup(who, &one->pid);
    one->pid = (unsigned)strtoul(who, NULL, 10);
    return 1;
}

int state_processes(int index, struct process found[PROCESS_LIMIT]) {
    char prefix[32];
    struct process one;
    int count = 0, length = snprintf(prefix, sizeof prefix, "gpu.%d.", index);
    pthread_mutex_lock(&guard);
    for (int i = 0; refresh() == 0 && i < line_count; i++) {
        const char *key = lines[i].key + length;
        if (strncmp(lines[i].key, prefix, (size_t)length) != 0)
            continue;
        if ((strcmp(key, "process") == 0 || strcmp(key, "cgroup") == 0) && read_process(key, lines[i].value, &one))
            count = add(found, count, one);
    }
    pthread_mutex_unlock(&guard);
    return count;
}
