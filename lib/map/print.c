/* map/print.c - a body's blocks, printed by position 0 in order of position. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "comm/agree.h"
#include "comm/mesh.h"
#include "comm/mpi.h"
#include "core/block.h"
#include "core/excerpt.h"
#include "core/layout.h"
#include "core/mem.h"
#include "core/stream.h"
#include "map/ctx.h"

enum { LABEL_BYTES = 256 };

/* What a rank tells of its block; the excerpt of its values follows. */
struct notice {
    char label[LABEL_BYTES];
    bool there;
    spmd_block block;
    int64_t instance;
};

static struct notice notice_of(const spmd_ctx *ctx, const char *label, const spmd_block *block)
{
    struct notice notice;
    memset(&notice, 0, sizeof notice); /* it travels, padding and all */
    snprintf(notice.label, sizeof notice.label, "%s", label ? label : "block");
    notice.instance = ctx ? ctx->instance : -1;
    notice.there = block;
    if (block)
        notice.block = *block;
    return notice;
}

static bool has_values(const struct notice *notice)
{
    return notice->there && spmd_block_size(&notice->block) > 0;
}

static struct excerpt excerpt_of(const struct notice *notice)
{
    return spmd__excerpt_of(notice->block.dtype, spmd_block_shape(&notice->block));
}

static size_t bytes_of(const struct excerpt *excerpt)
{
    return (size_t)spmd_shape_size(excerpt->shown) * spmd_dtype_size(excerpt->dtype);
}

static spmd_status check(const struct notice *notice)
{
    char name[LABEL_BYTES + 16];
    snprintf(name, sizeof name, "the block %s", notice->label);
    return notice->there ? spmd__block_check(&notice->block, name) : SPMD_OK;
}

/* Copies what is shown of this rank's block. */
static spmd_status take_excerpt(const struct notice *notice, struct excerpt *excerpt)
{
    TRY(check(notice));
    *excerpt = excerpt_of(notice);
    if (!has_values(notice))
        return SPMD_OK;
    TRY(spmd__alloc(bytes_of(excerpt), 1, &excerpt->data));
    struct view block = spmd__view_block(&notice->block);
    spmd_box whole = spmd_box_whole(excerpt->shape);
    for (int i = 0; i < excerpt->corners; i++) {
        spmd_box corner;
        struct view to = spmd__excerpt_corner(excerpt, i, &corner);
        struct view from = spmd__view_part(&block, &whole, &corner);
        spmd__view_copy(&to, &from, spmd_dtype_size(excerpt->dtype));
    }
    return SPMD_OK;
}

/* " on (x=0, y=1) of x=2,y=2" */
static void print_position(struct text *text, const spmd_mesh *mesh, int64_t position)
{
    int64_t coordinates[SPMD_MAX_AXES];
    spmd__axes_coordinates(&mesh->axes, position, coordinates);
    spmd__text_add(text, " on (");
    for (int a = 0; a < mesh->axes.count; a++)
        spmd__text_add(text, "%s%s=%lld", a > 0 ? ", " : "", mesh->axes.name[a],
                       (long long)coordinates[a]);
    spmd__text_add(text, ") of ");
    spmd__axes_print(text, &mesh->axes);
}

/* " at 0:2, 3:6 of [4,6]", if that is known. */
static void print_place(struct text *text, const spmd_block *block)
{
    for (int d = 0; d < block->ndim; d++)
        if (block->global[d] < 0)
            return;
    for (int d = 0; d < block->ndim; d++)
        spmd__text_add(text, "%s%lld:%lld", d > 0 ? ", " : " at ", (long long)block->offset[d],
                       (long long)(block->offset[d] + block->shape[d]));
    for (int d = 0; d < block->ndim; d++)
        spmd__text_add(text, "%s%lld%s", d > 0 ? "," : " of [", (long long)block->global[d],
                       d == block->ndim - 1 ? "]" : "");
}

static void print_notice(FILE *stream, const spmd_mesh *mesh, int64_t position,
                         const struct notice *notice, const struct excerpt *excerpt)
{
    char line[4096];
    struct text text = spmd__text_begin(line, sizeof line);
    spmd__text_add(&text, "%s", notice->label);
    if (mesh)
        print_position(&text, mesh, position);
    if (notice->instance >= 0)
        spmd__text_add(&text, ", instance %lld", (long long)notice->instance);
    spmd__text_add(&text, ": ");
    if (notice->there) {
        spmd__type_print(&text, excerpt->dtype, excerpt->shape);
        print_place(&text, &notice->block);
    }
    fprintf(stream, "%s%s\n", line, !notice->there ? "NULL" : has_values(notice) ? "" : ", empty");
    if (has_values(notice))
        spmd__excerpt_print(stream, excerpt);
}

/* The values' way to position 0. */
static spmd_status transfer(MPI_Comm comm, int from, int rank, char *data, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += (size_t)spmd__mpi_piece_bytes) {
        bool last = bytes - at < (size_t)spmd__mpi_piece_bytes;
        int count = last ? (int)(bytes - at) : (int)spmd__mpi_piece_bytes;
        if (rank == from)
            TRY_MPI(MPI_Send(data + at, count, MPI_BYTE, 0, TAG_PRINT, comm));
        else
            TRY_MPI(MPI_Recv(data + at, count, MPI_BYTE, from, TAG_PRINT, comm, MPI_STATUS_IGNORE));
    }
    return SPMD_OK;
}

/* At position 0: all notices, and memory for the largest excerpt of another rank. */
struct album {
    struct notice *notices; /* [size of the mesh] */
    void *data;
};

static spmd_status make_room(const spmd_mesh *mesh, struct album *album)
{
    size_t most = 0;
    for (int64_t p = 1; p < spmd_mesh_size(mesh); p++)
        if (has_values(&album->notices[p])) {
            struct excerpt excerpt = excerpt_of(&album->notices[p]);
            most = bytes_of(&excerpt) > most ? bytes_of(&excerpt) : most;
        }
    return spmd__alloc(most, 1, &album->data);
}

/* Collective. Ends in an agreement that all values can be sent, received and printed. Agreements
 * are on mesh->comm: on mesh->control one could pair with that at the end of a body that failed. */
static spmd_status prepare(const spmd_mesh *mesh, const struct notice *mine,
                           struct excerpt *excerpt, FILE *stream, struct album *album)
{
    bool first = mesh->position == 0;
    spmd_status status = take_excerpt(mine, excerpt);
    if (status == SPMD_OK && first && !stream)
        status = spmd_fail(SPMD_ERR_ARGUMENT, "block_print: the stream is NULL");
    if (status == SPMD_OK && first)
        status = spmd__alloc((size_t)spmd_mesh_size(mesh), sizeof *album->notices, &album->notices);
    TRY(spmd__agree(mesh->comm, mesh->rank, status, 0));
    TRY_MPI(MPI_Gather(mine, sizeof *mine, MPI_BYTE, album->notices, sizeof *mine, MPI_BYTE, 0,
                       mesh->comm));
    status = first ? make_room(mesh, album) : SPMD_OK;
    return spmd__agree(mesh->comm, mesh->rank, status, 0);
}

/* At position 0. */
static spmd_status print_all(const spmd_mesh *mesh, const struct excerpt *excerpt, FILE *stream,
                             const struct album *album)
{
    errno = 0;
    print_notice(stream, mesh, 0, &album->notices[0], excerpt);
    for (int p = 1; p < (int)spmd_mesh_size(mesh); p++) {
        const struct notice *notice = &album->notices[p];
        struct excerpt other = excerpt_of(notice);
        other.data = album->data;
        if (has_values(notice))
            TRY(transfer(mesh->comm, p, 0, other.data, bytes_of(&other)));
        print_notice(stream, mesh, p, notice, &other);
    }
    return spmd__stream_finish(stream, "a block");
}

static spmd_status print_in_turn(const spmd_mesh *mesh, const struct notice *mine,
                                 struct excerpt *excerpt, FILE *stream, struct album *album)
{
    spmd_status status;
    TRY(prepare(mesh, mine, excerpt, stream, album));
    if (mesh->position == 0)
        status = print_all(mesh, excerpt, stream, album);
    else
        status = transfer(mesh->comm, (int)mesh->position, (int)mesh->position, excerpt->data,
                          has_values(mine) ? bytes_of(excerpt) : 0);
    return spmd__agree(mesh->comm, mesh->rank, status, 0);
}

/* Where ranks are watched: the others may be in another call. */
static spmd_status meet(spmd_mesh *mesh, struct group **group)
{
    struct axis_list all = spmd__axis_list_of_mask(spmd__axes_mask(&mesh->axes));
    if (!mesh->watch)
        return SPMD_OK;
    TRY(spmd__mesh_group_find(mesh, &all, group));
    return spmd__group_meet(*group, "block_print");
}

static spmd_status print_together(spmd_mesh *mesh, const struct notice *mine,
                                  struct excerpt *excerpt, FILE *stream, struct album *album)
{
    struct group *group = NULL;
    TRY(meet(mesh, &group));
    spmd_status status = print_in_turn(mesh, mine, excerpt, stream, album);
    if (group)
        spmd__group_leave(group);
    return status;
}

static spmd_status print_alone(const struct notice *mine, struct excerpt *excerpt, FILE *stream)
{
    if (!stream)
        return spmd_fail(SPMD_ERR_ARGUMENT, "block_print: the stream is NULL");
    TRY(take_excerpt(mine, excerpt));
    errno = 0;
    print_notice(stream, NULL, 0, mine, excerpt);
    return spmd__stream_finish(stream, "a block");
}

spmd_status spmd_block_print(spmd_ctx *ctx, const char *label, const spmd_block *block,
                             FILE *stream)
{
    struct notice mine = notice_of(ctx, label, block);
    struct excerpt excerpt = {0};
    struct album album = {0};
    spmd_status status = ctx && ctx->mesh
                             ? print_together(ctx->mesh, &mine, &excerpt, stream, &album)
                             : print_alone(&mine, &excerpt, stream);
    free(album.notices);
    free(album.data);
    free(excerpt.data);
    return status;
}
