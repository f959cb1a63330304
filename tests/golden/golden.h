/* golden.h - what the parts of the golden runner share: a case, its verdict, values in JSON.
 *
 * A case is a JSON object of a kind; each kind has a function that runs one case on all ranks and
 * says on each how it went. Every rank reads the same files, so that all make the same calls. */
#ifndef GOLDEN_H
#define GOLDEN_H

#include <cjson/cJSON.h>
#include <spmd.h>

/* How a case went on this rank. The first failure is the one that is told. */
struct verdict {
    enum outcome { PASSED, FAILED, SKIPPED } outcome;
    char text[1024]; /* FAILED: "expected ..., got ..."; SKIPPED: what is not known */
};

void failed(struct verdict *verdict, const char *format, ...) __attribute__((format(printf, 2, 3)));
void skipped(struct verdict *verdict, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether a call succeeded; if not, the case has failed. */
bool succeeded(struct verdict *verdict, spmd_status status);

/* Zeroed memory for `count` objects; NULL if there is none: the case has failed then. */
void *allocate(struct verdict *verdict, int64_t count, size_t size);

/* The kinds. */
typedef void case_fn(const cJSON *test, struct verdict *verdict);
case_fn run_sharding, run_sharding_error, run_equivalence, run_random, run_collective, run_vma,
    run_map;

/* How many ranks a sharding case needs: those of its mesh only if it has an array. */
int64_t sharding_ranks(const cJSON *test);

/* The same of a map case: a vmap needs no other ranks. */
int64_t map_ranks(const cJSON *test);

/* Readers of a case's fields. False if there is no such field of the right form: the case has
 * failed then. */
enum { SPEC_BYTES = 1024, AXES_BYTES = 1024 };
bool read_field(const cJSON *test, const char *name, struct verdict *verdict, const cJSON **field);
bool read_integer(const cJSON *test, const char *name, struct verdict *verdict, int64_t *value);
bool read_text(const cJSON *test, const char *name, struct verdict *verdict, const char **text);
bool read_shape(const cJSON *test, const char *name, struct verdict *verdict, spmd_shape *shape);
bool read_dtype(const cJSON *test, const char *name, struct verdict *verdict, spmd_dtype *dtype);

/* The text of a spec: ["x", null, ["y", "z"]] is "P(x, -, (y,z))". */
bool read_spec(const cJSON *test, const char *name, struct verdict *verdict, char spec[SPEC_BYTES]);

/* A mesh over the first ranks of the job, and one without ranks. */
bool read_mesh(const cJSON *test, struct verdict *verdict, spmd_mesh **mesh);
bool read_abstract_mesh(const cJSON *test, struct verdict *verdict, spmd_mesh **mesh);

/* Elements [count of shape] of the type, from a list; free() them. */
bool read_elements(const cJSON *test, const char *name, struct verdict *verdict, spmd_dtype dtype,
                   spmd_shape shape, void **elements);

/* The first item of a list; NULL if it is empty or none. */
const cJSON *first_of(const cJSON *list);

/* A whole number, also one given as a decimal string, as those are that a double cannot hold. */
bool integer_of(const cJSON *json, int64_t *value);

/* Number of positions of a case's mesh; 0 if it has none. */
int64_t mesh_size_of(const cJSON *test);

/* Whether specs without regard to sizes are right: axes of the mesh, each once, no more entries
 * than dimensions. Where JAX rejects such a case, a size does not divide. */
bool spec_is_sound(const cJSON *test, const cJSON *spec, int ndim);

/* One element: from JSON, as a number (real types), and as text. */
bool element_read(const cJSON *json, spmd_dtype dtype, void *element);
double element_number(spmd_dtype dtype, const void *element);
void element_set(spmd_dtype dtype, void *element, double number);
void element_print(char *buffer, size_t size, spmd_dtype dtype, const void *element);

/* The case fails if the elements [count] at `got` are not those of the list; floating ones may be
 * `ulp` steps of their type away. */
void expect_elements(struct verdict *verdict, const char *what, const cJSON *list, spmd_dtype dtype,
                     const void *got, int64_t count, int64_t ulp);

/* The same for extents. */
void expect_shape(struct verdict *verdict, const char *what, spmd_shape expected, spmd_shape got);

/* Writes "8x4", "scalar" for no dimensions. */
enum { SHAPE_BYTES = 400 };
const char *shape_text(spmd_shape shape, char buffer[SHAPE_BYTES]);

#endif
