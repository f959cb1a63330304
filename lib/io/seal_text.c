/* io/seal_text.c - the text of a seal, and the sums in it. */
#include "io/seal_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/checksum.h"
#include "core/mem.h"
#include "core/text.h"
#include "io/bytes.h"

enum { SEAL_VERSION = 1 };

int spmd__seal_add_bytes(int fd, int64_t lo, int64_t hi, uint64_t *sum)
{
    char buffer[1 << 14];
    while (lo < hi) {
        int64_t bytes = hi - lo < (int64_t)sizeof buffer ? hi - lo : (int64_t)sizeof buffer;
        int code = spmd__bytes_read(fd, lo, bytes, buffer);
        if (code != 0)
            return code;
        *sum += spmd__checksum_run(SPMD_U8, lo, bytes, buffer);
        lo += bytes;
    }
    return 0;
}

int spmd__seal_add_rest(int fd, const struct seal *seal, uint64_t *sum)
{
    int64_t at = seal->block_bytes;
    for (int i = 0; i < seal->count; i++) {
        int code = spmd__seal_add_bytes(fd, at, seal->data[i].offset, sum);
        if (code != 0)
            return code;
        at = seal->data[i].offset + seal->data[i].bytes;
    }
    return spmd__seal_add_bytes(fd, at, seal->file_bytes, sum);
}

/* The first two lines. The second one has the sum of all that follows in the block. */
static int format_head(char head[SEAL_HEAD_BYTES], uint64_t sum, int64_t block_bytes)
{
    return snprintf(head, SEAL_HEAD_BYTES,
                    SEAL_MARK "%d\nseal %016" PRIx64 " of %" PRId64 " bytes\n", SEAL_VERSION, sum,
                    block_bytes);
}

static int make_head(char head[SEAL_HEAD_BYTES], const char *block, int64_t block_bytes)
{
    int length = format_head(head, 0, block_bytes);
    uint64_t sum = spmd__checksum_run(SPMD_U8, length, block_bytes - length, block + length);
    return format_head(head, sum, block_bytes);
}

spmd_status spmd__seal_format(const struct seal *seal, char *block)
{
    char head[SEAL_HEAD_BYTES];
    int length = format_head(head, 0, seal->block_bytes);
    struct text text = spmd__text_begin(block + length, (size_t)(seal->block_bytes - length));
    spmd__text_add(&text, "step %" PRId64 "\nfile %" PRId64 " bytes\nrest %016" PRIx64 "\n",
                   seal->step, seal->file_bytes, seal->rest);
    for (int i = 0; i < seal->count; i++) {
        const struct sealed_data *data = &seal->data[i];
        spmd__text_add(&text, "data %" PRId64 " %" PRId64 " %s %016" PRIx64 " %s\n", data->offset,
                       data->bytes, spmd_dtype_name(data->dtype), data->checksum, data->name);
    }
    if (text.length >= text.size)
        return spmd_fail(SPMD_ERR_FILE, "the seal has no room: %zu bytes in %zu", text.length,
                         text.size);
    memcpy(block, head, (size_t)make_head(head, block, seal->block_bytes));
    return SPMD_OK;
}

spmd_status spmd__seal_parse_head(const char *name, const char *head, int64_t *block_bytes)
{
    int version = 0;
    uint64_t sum = 0;
    int found = sscanf(head, SEAL_MARK "%d seal %16" SCNx64 " of %" SCNd64 " bytes", &version, &sum,
                       block_bytes);
    if (found >= 1 && version > SEAL_VERSION)
        return spmd_fail(SPMD_ERR_FILE, "%s: a checkpoint of version %d, which is unknown", name,
                         version);
    char wanted[SEAL_HEAD_BYTES];
    int length = format_head(wanted, sum, *block_bytes);
    enum { LEAST = 512, MOST = 1 << 30 }; /* HDF5 takes powers of 2 */
    if (found == 3 && memcmp(head, wanted, (size_t)length) == 0 && *block_bytes >= LEAST &&
        *block_bytes <= MOST && (*block_bytes & (*block_bytes - 1)) == 0)
        return SPMD_OK;
    return spmd_fail(SPMD_ERR_FILE, "%s: damaged: the head of its seal", name);
}

/* The next line of a text, with a NUL in place of its end; NULL: there is none. */
static char *next_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n');
    if (!end)
        return NULL;
    *end = '\0';
    *at = end + 1;
    return line;
}

static int count_lines(const char *text)
{
    int count = 0;
    for (; (text = strchr(text, '\n')); text++)
        count++;
    return count;
}

static bool parse_data(char *line, struct sealed_data *data)
{
    char dtype[8];
    int name = 0;
    if (sscanf(line, "data %" SCNd64 " %" SCNd64 " %7s %16" SCNx64 " %n", &data->offset,
               &data->bytes, dtype, &data->checksum, &name) != 4 ||
        name == 0 || spmd_dtype_parse(dtype, &data->dtype) != SPMD_OK)
        return false;
    data->name = line + name;
    return true;
}

/* Whether the elements of datasets follow one another inside of the file. */
static bool is_in_order(const struct seal *seal)
{
    int64_t at = seal->block_bytes;
    for (int i = 0; i < seal->count; i++) {
        const struct sealed_data *data = &seal->data[i];
        if (data->offset < at || data->bytes < 0 || data->bytes > seal->file_bytes - data->offset)
            return false;
        at = data->offset + data->bytes;
    }
    return at <= seal->file_bytes;
}

static bool parse_lines(char *at, struct seal *seal)
{
    char *step = next_line(&at), *file = next_line(&at), *rest = next_line(&at);
    if (!rest || sscanf(step, "step %" SCNd64, &seal->step) != 1 ||
        sscanf(file, "file %" SCNd64, &seal->file_bytes) != 1 ||
        sscanf(rest, "rest %16" SCNx64, &seal->rest) != 1)
        return false;
    for (char *line; (line = next_line(&at)); seal->count++)
        if (!parse_data(line, &seal->data[seal->count]))
            return false;
    return seal->step >= 0 && is_in_order(seal);
}

spmd_status spmd__seal_parse(const char *name, char *block, int64_t block_bytes, struct seal *seal)
{
    char head[SEAL_HEAD_BYTES];
    int length = make_head(head, block, block_bytes);
    if (memcmp(head, block, (size_t)length) != 0)
        return spmd_fail(SPMD_ERR_FILE, "%s: damaged: its seal, the first %" PRId64 " bytes", name,
                         block_bytes);
    seal->block_bytes = block_bytes;
    TRY(spmd__alloc((size_t)count_lines(block), sizeof *seal->data, &seal->data));
    if (!parse_lines(block + length, seal))
        return spmd_fail(SPMD_ERR_FILE, "%s: its seal does not say what seals say", name);
    return SPMD_OK;
}
