/* replay.c - runs a fuzzer without a fuzzing engine: on the texts of a corpus, then on a fixed
 * number of mutations of them.
 *
 * Use:  tests/fuzz/NAME.fuzz FILE...
 *
 * Prints TAP. A failure ends a child process and tells the input in the form that printf(1) reads,
 * so that it can become a file of the corpus. */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

enum { SEED = 20240611, MUTATIONS = 20000, MAX_INPUT = 4096, MAX_PART = 16 };

struct input {
    size_t size;
    uint8_t bytes[MAX_INPUT];
};

/* The texts of the corpus, and the input that the child is at, in memory shared with it. */
static struct input *corpus, *current;
static int ntexts;

static void run_current(void)
{
    uint8_t *bytes = malloc(current->size + (current->size == 0));
    HOLDS(bytes);
    memcpy(bytes, current->bytes, current->size);
    LLVMFuzzerTestOneInput(bytes, current->size);
    free(bytes);
}

static void run_corpus(void)
{
    for (int t = 0; t < ntexts; t++) {
        *current = corpus[t];
        run_current();
    }
}

/* SplitMix64. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* A number below `bound`, which is at least 1. */
static size_t draw_below(uint64_t *state, size_t bound)
{
    return (size_t)(draw(state) % bound);
}

/* The length of a part of at most `limit` bytes: often of one. */
static size_t draw_length(uint64_t *state, size_t limit)
{
    size_t length = draw_below(state, 2) ? 1 : draw_below(state, MAX_PART + 1);
    return length < limit ? length : limit;
}

/* Puts a part of a text of the corpus, or any byte, in place of a part of the input. */
static void mutate(struct input *input, uint64_t *state)
{
    const struct input *source = &corpus[draw_below(state, (size_t)ntexts)];
    uint8_t any = (uint8_t)draw(state);
    const uint8_t *bytes = &any;
    size_t added = 1;
    if (draw_below(state, 4) != 0) {
        size_t from = draw_below(state, source->size + 1);
        bytes = source->bytes + from;
        added = draw_length(state, source->size - from);
    }
    size_t at = draw_below(state, input->size + 1);
    size_t removed = draw_below(state, 2) ? draw_length(state, input->size - at) : 0;
    size_t rest = input->size - at - removed;
    if (at + added + rest > MAX_INPUT)
        return;
    memmove(input->bytes + at + added, input->bytes + at + removed, rest);
    memcpy(input->bytes + at, bytes, added);
    input->size = at + added + rest;
}

static void run_mutations(void)
{
    uint64_t state = SEED;
    for (int m = 0; m < MUTATIONS; m++) {
        *current = corpus[draw_below(&state, (size_t)ntexts)];
        for (size_t times = 1 + draw_below(&state, 4); times > 0; times--)
            mutate(current, &state);
        run_current();
    }
}

static void print_current(void)
{
    printf("# the input: printf '");
    for (size_t i = 0; i < current->size; i++) {
        uint8_t c = current->bytes[i];
        printf(c < ' ' || c > '~' || strchr("'\\%", c) ? "\\%03o" : "%c", c);
    }
    printf("'\n");
}

/* Runs `cases` in a child; true if it ended well. */
static bool run_case(int number, void (*cases)(void), int count, const char *what)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        cases();
        exit(EXIT_SUCCESS);
    }
    int status = 0;
    bool well = child > 0 && waitpid(child, &status, 0) == child && status == 0;
    if (!well)
        print_current();
    printf("%sok %d - %d %s\n", well ? "" : "not ", number, count, what);
    return well;
}

static bool read_text(const char *path, struct input *input)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    input->size = fread(input->bytes, 1, MAX_INPUT, file);
    return fclose(file) == 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "use: %s FILE...\n", argv[0]);
        return 2;
    }
    corpus = calloc((size_t)argc, sizeof *corpus);
    current =
        mmap(NULL, sizeof *current, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!corpus || current == MAP_FAILED)
        return EXIT_FAILURE;
    for (; ntexts < argc - 1; ntexts++)
        if (!read_text(argv[ntexts + 1], &corpus[ntexts])) {
            fprintf(stderr, "cannot read %s\n", argv[ntexts + 1]);
            return EXIT_FAILURE;
        }
    printf("1..2\n# seed %d\n", SEED);
    bool well = run_case(1, run_corpus, ntexts, "texts of the corpus");
    well &= run_case(2, run_mutations, MUTATIONS, "mutations");
    free(corpus);
    return well ? EXIT_SUCCESS : EXIT_FAILURE;
}
