/* comm/mesh_agree.c - agreements of a mesh: its ranks meet, then have one verdict. */
#include "comm/agree.h"
#include "comm/mesh.h"
#include "comm/mpi.h"
#include "core/mem.h"
#include "core/place.h"

/* Its members are told by their positions in the root. */
static spmd_status make_meeting(spmd_mesh *mesh)
{
    int64_t size = spmd_mesh_size(mesh);
    int *members;
    TRY(spmd__alloc((size_t)size, sizeof *members, &members));
    for (int64_t p = 0; p < size; p++)
        members[p] = (int)spmd__mesh_root_position(mesh, p);
    spmd__meeting_make(&mesh->agreement, MEETING_FOR_AGREEMENT, size, members);
    return SPMD_OK;
}

static spmd_status meet_for(spmd_mesh *mesh, const char *what, const char *note, bool of_failure)
{
    if (mesh->agreement.size == 0)
        TRY(make_meeting(mesh));
    return spmd__watch_meet(mesh->watch, &mesh->agreement, what, note, of_failure);
}

/* Members may come from different calls, by different ways: all agreements of a mesh are alike. But
 * a root and its views may have the same members. */
static spmd_status meet(spmd_mesh *mesh, const char *note, bool of_failure)
{
    struct axes_text axes = spmd__axes_text(&mesh->axes);
    return meet_for(mesh, axes.text, note, of_failure);
}

static struct text begin_note(char note[WATCH_NOTE_BYTES], const char *before)
{
    struct text text = spmd__text_begin(note, WATCH_NOTE_BYTES);
    spmd__text_add(&text, "%s ", before);
    if (!spmd__place_print_call(&text, spmd__place()))
        spmd__text_add(&text, "a call that all ranks make");
    return text;
}

/* What a rank that fails brings along. */
static void add_failure(struct text *note, spmd_status status)
{
    if (status != SPMD_OK)
        spmd__text_add(note, " with: %s", spmd_error_message());
}

static spmd_status meet_in_call(spmd_mesh *mesh, spmd_status status)
{
    char note[WATCH_NOTE_BYTES];
    if (!mesh->watch)
        return SPMD_OK;
    struct text text = begin_note(note, "in");
    add_failure(&text, status);
    return meet(mesh, note, status != SPMD_OK);
}

static spmd_status meet_once_after_body(spmd_mesh *mesh, spmd_status status)
{
    char note[WATCH_NOTE_BYTES];
    if (!mesh->watch)
        return SPMD_OK;
    struct text text =
        begin_note(note, status == SPMD_OK ? "at the end of the body of" : "out of the body of");
    add_failure(&text, status);
    return meet(mesh, note, status != SPMD_OK);
}

/* The others may be in a call in their bodies that this rank does not make. They fail in it, and
 * come here as well: so this one, which has failed with them, meets them again. */
static spmd_status meet_after_body(spmd_mesh *mesh, spmd_status *status)
{
    spmd_status met = meet_once_after_body(mesh, *status);
    while (met == SPMD_ERR_DISAGREE && spmd__watch_verdict(mesh->watch) == SPMD_OK) {
        *status = met;
        met = meet_once_after_body(mesh, *status);
    }
    return met;
}

spmd_status spmd__mesh_agree(spmd_mesh *mesh, spmd_status status, uint64_t digest)
{
    if (!spmd__mesh_is_member(mesh))
        return status;
    TRY(meet_in_call(mesh, status));
    status = spmd__agree(mesh->control, mesh->rank, status, digest);
    spmd__watch_leave(mesh->watch);
    return status;
}

spmd_status spmd__mesh_meet(spmd_mesh *mesh, const char *what, spmd_status status)
{
    char note[WATCH_NOTE_BYTES];
    if (!mesh->watch)
        return status;
    struct text text = spmd__text_begin(note, sizeof note);
    spmd__text_add(&text, "in %s", what);
    spmd__place_print(&text, spmd__place());
    add_failure(&text, status);
    TRY(meet_for(mesh, what, note, status != SPMD_OK));
    if (spmd__watch_checks(mesh->watch))
        status = spmd__agree(mesh->control, mesh->rank, status, 0);
    if (status != SPMD_OK)
        spmd__watch_leave(mesh->watch);
    return status;
}

spmd_status spmd__mesh_agree_on_body(spmd_mesh *mesh, spmd_status status, uint64_t digest)
{
    TRY(spmd__watch_verdict(mesh->watch));
    TRY(meet_after_body(mesh, &status));
    if (spmd__watch_checks(mesh->watch))
        status = spmd__agree(mesh->control, mesh->rank, status, digest);
    else
        status = spmd__agree_or_abort(mesh->control, mesh->rank, status, digest);
    spmd__watch_leave(mesh->watch);
    return status;
}

spmd_status spmd_agree(spmd_mesh *mesh, spmd_status status)
{
    return spmd__mesh_agree(mesh, status, 0);
}

spmd_status spmd_any(spmd_mesh *mesh, bool here, bool *anywhere)
{
    spmd_status status = SPMD_OK;
    if (!anywhere)
        status = spmd_fail(SPMD_ERR_ARGUMENT, "the pointer for the answer is NULL");
    TRY(spmd__mesh_agree(mesh, status, 0));
    int any = here;
    if (spmd__mesh_is_member(mesh))
        TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_LOR, mesh->control));
    *anywhere = any;
    return SPMD_OK;
}
