/* array/pieces.c - arrays from pieces that ranks happen to hold.
 *
 * Only its holder knows a piece. So all tell all where their pieces lie; then each rank computes
 * what it gets from whom, and checks that this covers its block once. */
#include "array/array.h"
#include "array/catalogue.h"
#include "array/exchange.h"
#include "array/piece.h"
#include "core/hash.h"
#include "core/overlap.h"

static spmd_status check_pieces(int npieces, const spmd_piece pieces[], spmd_shape shape)
{
    if (npieces < 0 || (npieces > 0 && !pieces))
        return spmd_fail(SPMD_ERR_ARGUMENT, "from_pieces: %d pieces%s", npieces,
                         pieces ? "" : ", and the list of them is NULL");
    for (int i = 0; i < npieces; i++)
        TRY(spmd__piece_check(&pieces[i], i, shape));
    return SPMD_OK;
}

/* What the visits of send_piece need to know. */
struct sending {
    struct exchange *exchange;
    const spmd_piece *piece;
};

static spmd_status send_piece(int64_t position, const spmd_box *common, void *user)
{
    const struct sending *sending = user;
    struct view part;
    if (!spmd__piece_find(sending->piece, common, sending->exchange->element, &part))
        return SPMD_OK;
    return spmd__exchange_send(sending->exchange, (int)position, part);
}

static spmd_status plan_sends(const spmd_array *array, int npieces, const spmd_piece pieces[],
                              struct exchange *exchange)
{
    const spmd_sharding *sharding = array->sharding;
    for (int i = 0; i < npieces; i++) {
        struct sending sending = {exchange, &pieces[i]};
        TRY(spmd__overlap_each(&sharding->mesh->axes, &sharding->spec, array->shape, &pieces[i].box,
                               0, 0, send_piece, &sending));
    }
    return SPMD_OK;
}

static spmd_status plan_receives(const spmd_array *array, const struct catalogue *catalogue,
                                 struct exchange *exchange)
{
    int64_t number = 0;
    for (int r = 0; r < catalogue->nranks; r++)
        for (int64_t i = 0; i < catalogue->counts[r]; i++) {
            spmd_piece piece = spmd__catalogue_piece(catalogue, number++);
            struct view part;
            if (spmd__piece_find_in_block(&piece, &array->block, &part))
                TRY(spmd__exchange_receive(exchange, r, part));
        }
    return SPMD_OK;
}

static spmd_status prepare(const spmd_array *array, const struct catalogue *catalogue, int npieces,
                           const spmd_piece pieces[], struct exchange *exchange)
{
    TRY(spmd__array_check_values(array->sharding));
    TRY(plan_sends(array, npieces, pieces, exchange));
    TRY(plan_receives(array, catalogue, exchange));
    return spmd__exchange_prepare(exchange);
}

/* Collective over the members, who all fail if one does: who has which pieces of `array`, which may
 * be NULL where `status` is a failure. */
static spmd_status tell_pieces(spmd_mesh *mesh, spmd_status status, const spmd_array *array,
                               int npieces, const spmd_piece pieces[], struct catalogue *catalogue)
{
    if (status == SPMD_OK)
        status = check_pieces(npieces, pieces, array->shape);
    if (status == SPMD_OK)
        status = spmd__catalogue_begin(mesh, array->shape.ndim, catalogue);
    uint64_t digest = array ? spmd__array_digest(array->sharding, array->dtype, array->shape) : 0;
    TRY(spmd__mesh_agree(mesh, status, spmd__hash_text(digest, __func__)));
    return spmd__catalogue_share(mesh, npieces, pieces, catalogue);
}

/* Collective over the members. All else up to the move; a rank may fail alone. */
static spmd_status plan(const spmd_array *array, int npieces, const spmd_piece pieces[],
                        const struct catalogue *catalogue, struct exchange *exchange)
{
    TRY(spmd__catalogue_check(catalogue, array));
    return prepare(array, catalogue, npieces, pieces, exchange);
}

/* The same call with a sharding. */
static spmd_status create(const spmd_sharding *sharding, spmd_dtype dtype, spmd_shape shape,
                          int npieces, const spmd_piece pieces[], spmd_array **out)
{
    spmd_mesh *mesh = sharding->mesh;
    struct exchange exchange = {
        .comm = mesh->comm, .costs = &mesh->costs, .element = spmd_dtype_size(dtype)};
    struct catalogue catalogue = {0};
    spmd_array *made = NULL;
    bool member = spmd__mesh_is_member(mesh);
    spmd_status status = spmd__array_check_place(out);
    if (status == SPMD_OK)
        status = spmd__array_alloc(sharding, dtype, shape, &made);
    if (member)
        status = tell_pieces(mesh, status, made, npieces, pieces, &catalogue);
    if (status == SPMD_OK) {
        if (member)
            status = plan(made, npieces, pieces, &catalogue, &exchange);
        status = spmd__array_settle(sharding, status, 0, made, &made);
    } else {
        spmd_array_free(&made); /* on all members: nobody waits for this one */
    }
    if (status == SPMD_OK && member) {
        status = spmd__exchange_run(&exchange);
        if (status == SPMD_OK)
            spmd__array_count_once(made);
        else
            spmd_array_free(&made);
    }
    spmd__exchange_free(&exchange);
    spmd__catalogue_free(&catalogue);
    if (status == SPMD_OK)
        *out = made;
    return status;
}

spmd_status spmd_array_from_pieces(spmd_mesh *mesh, const char *spec, spmd_dtype dtype,
                                   spmd_shape shape, int npieces, const spmd_piece pieces[],
                                   spmd_array **array)
{
    if (!mesh)
        return spmd_fail(SPMD_ERR_ARGUMENT, "an array needs a mesh, this is NULL");
    spmd_sharding *sharding;
    spmd_status status = spmd_sharding_create(mesh, spec, &sharding);
    if (status != SPMD_OK)
        return spmd__mesh_agree(mesh, status, 0);
    status = create(sharding, dtype, shape, npieces, pieces, array);
    spmd_sharding_free(&sharding);
    return status;
}
