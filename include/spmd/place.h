/* spmd/place.h - where in the program a collective call stands, for the messages of SPMD_CHECK and
 * SPMD_WATCHDOG.
 *
 * Each call that ranks make together is also a macro of the same name, which records file and
 * line, then makes the call. A program that defines SPMD_NO_PLACES before it includes spmd.h, or
 * that calls by a pointer, loses only the places. */
#ifndef SPMD_PLACE_H
#define SPMD_PLACE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Local. Where the next call of this thread stands, and its source text, "spmd_psum(ctx, x, ...)".
 * Both texts are kept, not copied. */
void spmd_place_set(const char *file, int line, const char *call);

#ifdef __cplusplus
}
#endif

#ifndef SPMD_NO_PLACES
#define SPMD_PLACED(call) (spmd_place_set(__FILE__, __LINE__, #call), call)

/* spmd/mesh.h */
#define spmd_mesh_create(...)        SPMD_PLACED(spmd_mesh_create(__VA_ARGS__))
#define spmd_mesh_create_sizes(...)  SPMD_PLACED(spmd_mesh_create_sizes(__VA_ARGS__))
#define spmd_mesh_create_ranks(...)  SPMD_PLACED(spmd_mesh_create_ranks(__VA_ARGS__))
#define spmd_mesh_create_hybrid(...) SPMD_PLACED(spmd_mesh_create_hybrid(__VA_ARGS__))
#define spmd_mesh_sub(...)           SPMD_PLACED(spmd_mesh_sub(__VA_ARGS__))
#define spmd_agree(...)              SPMD_PLACED(spmd_agree(__VA_ARGS__))
#define spmd_any(...)                SPMD_PLACED(spmd_any(__VA_ARGS__))

/* spmd/sharding.h */
#define spmd_sharding_create_single(...) SPMD_PLACED(spmd_sharding_create_single(__VA_ARGS__))

/* spmd/positional.h */
#define spmd_sharding_create_positional(...) \
    SPMD_PLACED(spmd_sharding_create_positional(__VA_ARGS__))

/* spmd/array.h */
#define spmd_array_zeros(...)         SPMD_PLACED(spmd_array_zeros(__VA_ARGS__))
#define spmd_array_full(...)          SPMD_PLACED(spmd_array_full(__VA_ARGS__))
#define spmd_array_arange(...)        SPMD_PLACED(spmd_array_arange(__VA_ARGS__))
#define spmd_array_from_callback(...) SPMD_PLACED(spmd_array_from_callback(__VA_ARGS__))
#define spmd_array_from_local(...)    SPMD_PLACED(spmd_array_from_local(__VA_ARGS__))
#define spmd_array_from_pieces(...)   SPMD_PLACED(spmd_array_from_pieces(__VA_ARGS__))
#define spmd_device_put(...)          SPMD_PLACED(spmd_device_put(__VA_ARGS__))
#define spmd_device_put_root(...)     SPMD_PLACED(spmd_device_put_root(__VA_ARGS__))
#define spmd_reshard(...)             SPMD_PLACED(spmd_reshard(__VA_ARGS__))
#define spmd_reshard_to(...)          SPMD_PLACED(spmd_reshard_to(__VA_ARGS__))
#define spmd_reshard_donate(...)      SPMD_PLACED(spmd_reshard_donate(__VA_ARGS__))
#define spmd_array_gather(...)        SPMD_PLACED(spmd_array_gather(__VA_ARGS__))
#define spmd_array_print(...)         SPMD_PLACED(spmd_array_print(__VA_ARGS__))

/* spmd/reshard.h */
#define spmd_reshard_plan(...) SPMD_PLACED(spmd_reshard_plan(__VA_ARGS__))
#define spmd_reshard_run(...)  SPMD_PLACED(spmd_reshard_run(__VA_ARGS__))

/* spmd/io.h */
#define spmd_read(...)                    SPMD_PLACED(spmd_read(__VA_ARGS__))
#define spmd_write(...)                   SPMD_PLACED(spmd_write(__VA_ARGS__))
#define spmd_file_open(...)               SPMD_PLACED(spmd_file_open(__VA_ARGS__))
#define spmd_file_open_image(...)         SPMD_PLACED(spmd_file_open_image(__VA_ARGS__))
#define spmd_file_create(...)             SPMD_PLACED(spmd_file_create(__VA_ARGS__))
#define spmd_file_modify(...)             SPMD_PLACED(spmd_file_modify(__VA_ARGS__))
#define spmd_file_close(...)              SPMD_PLACED(spmd_file_close(__VA_ARGS__))
#define spmd_file_discard(...)            SPMD_PLACED(spmd_file_discard(__VA_ARGS__))
#define spmd_dataset_info(...)            SPMD_PLACED(spmd_dataset_info(__VA_ARGS__))
#define spmd_dataset_exists(...)          SPMD_PLACED(spmd_dataset_exists(__VA_ARGS__))
#define spmd_dataset_read(...)            SPMD_PLACED(spmd_dataset_read(__VA_ARGS__))
#define spmd_dataset_write(...)           SPMD_PLACED(spmd_dataset_write(__VA_ARGS__))
#define spmd_dataset_write_as(...)        SPMD_PLACED(spmd_dataset_write_as(__VA_ARGS__))
#define spmd_dataset_create(...)          SPMD_PLACED(spmd_dataset_create(__VA_ARGS__))
#define spmd_dataset_read_hyperslab(...)  SPMD_PLACED(spmd_dataset_read_hyperslab(__VA_ARGS__))
#define spmd_dataset_write_hyperslab(...) SPMD_PLACED(spmd_dataset_write_hyperslab(__VA_ARGS__))
#define spmd_dataset_append(...)          SPMD_PLACED(spmd_dataset_append(__VA_ARGS__))
#define spmd_dataset_set_text(...)        SPMD_PLACED(spmd_dataset_set_text(__VA_ARGS__))
#define spmd_dataset_get_text(...)        SPMD_PLACED(spmd_dataset_get_text(__VA_ARGS__))

/* spmd/tree_io.h */
#define spmd_tree_write(...)     SPMD_PLACED(spmd_tree_write(__VA_ARGS__))
#define spmd_tree_read(...)      SPMD_PLACED(spmd_tree_read(__VA_ARGS__))
#define spmd_tree_read_like(...) SPMD_PLACED(spmd_tree_read_like(__VA_ARGS__))

/* spmd/object.h */
#define spmd_file_list(...)       SPMD_PLACED(spmd_file_list(__VA_ARGS__))
#define spmd_object_copy(...)     SPMD_PLACED(spmd_object_copy(__VA_ARGS__))
#define spmd_attributes_copy(...) SPMD_PLACED(spmd_attributes_copy(__VA_ARGS__))

/* spmd/checkpoint.h */
#define spmd_checkpoint_save(...)         SPMD_PLACED(spmd_checkpoint_save(__VA_ARGS__))
#define spmd_checkpoint_restore(...)      SPMD_PLACED(spmd_checkpoint_restore(__VA_ARGS__))
#define spmd_checkpoint_restore_like(...) SPMD_PLACED(spmd_checkpoint_restore_like(__VA_ARGS__))
#define spmd_checkpoint_latest(...)       SPMD_PLACED(spmd_checkpoint_latest(__VA_ARGS__))
#define spmd_checkpoint_steps(...)        SPMD_PLACED(spmd_checkpoint_steps(__VA_ARGS__))

/* spmd/loader.h */
#define spmd_loader_create(...) SPMD_PLACED(spmd_loader_create(__VA_ARGS__))
#define spmd_loader_next(...)   SPMD_PLACED(spmd_loader_next(__VA_ARGS__))
#define spmd_loader_seek(...)   SPMD_PLACED(spmd_loader_seek(__VA_ARGS__))
#define spmd_loader_resume(...) SPMD_PLACED(spmd_loader_resume(__VA_ARGS__))

/* spmd/sweep.h */
#define spmd_sweep(...) SPMD_PLACED(spmd_sweep(__VA_ARGS__))

/* spmd/collective.h */
#define spmd_psum(...)                SPMD_PLACED(spmd_psum(__VA_ARGS__))
#define spmd_pmean(...)               SPMD_PLACED(spmd_pmean(__VA_ARGS__))
#define spmd_pmax(...)                SPMD_PLACED(spmd_pmax(__VA_ARGS__))
#define spmd_pmin(...)                SPMD_PLACED(spmd_pmin(__VA_ARGS__))
#define spmd_pargmax(...)             SPMD_PLACED(spmd_pargmax(__VA_ARGS__))
#define spmd_pargmin(...)             SPMD_PLACED(spmd_pargmin(__VA_ARGS__))
#define spmd_all_gather(...)          SPMD_PLACED(spmd_all_gather(__VA_ARGS__))
#define spmd_all_gather_shape(...)    SPMD_PLACED(spmd_all_gather_shape(__VA_ARGS__))
#define spmd_psum_scatter(...)        SPMD_PLACED(spmd_psum_scatter(__VA_ARGS__))
#define spmd_psum_scatter_shape(...)  SPMD_PLACED(spmd_psum_scatter_shape(__VA_ARGS__))
#define spmd_all_to_all(...)          SPMD_PLACED(spmd_all_to_all(__VA_ARGS__))
#define spmd_all_to_all_shape(...)    SPMD_PLACED(spmd_all_to_all_shape(__VA_ARGS__))
#define spmd_ragged_all_to_all(...)   SPMD_PLACED(spmd_ragged_all_to_all(__VA_ARGS__))
#define spmd_ppermute(...)            SPMD_PLACED(spmd_ppermute(__VA_ARGS__))
#define spmd_pshuffle(...)            SPMD_PLACED(spmd_pshuffle(__VA_ARGS__))
#define spmd_pswapaxes(...)           SPMD_PLACED(spmd_pswapaxes(__VA_ARGS__))
#define spmd_pbroadcast(...)          SPMD_PLACED(spmd_pbroadcast(__VA_ARGS__))
#define spmd_psum_start(...)          SPMD_PLACED(spmd_psum_start(__VA_ARGS__))
#define spmd_pmax_start(...)          SPMD_PLACED(spmd_pmax_start(__VA_ARGS__))
#define spmd_pmin_start(...)          SPMD_PLACED(spmd_pmin_start(__VA_ARGS__))
#define spmd_all_gather_start(...)    SPMD_PLACED(spmd_all_gather_start(__VA_ARGS__))
#define spmd_psum_scatter_start(...)  SPMD_PLACED(spmd_psum_scatter_start(__VA_ARGS__))
#define spmd_all_to_all_start(...)    SPMD_PLACED(spmd_all_to_all_start(__VA_ARGS__))
#define spmd_ppermute_start(...)      SPMD_PLACED(spmd_ppermute_start(__VA_ARGS__))
#define spmd_wait(...)                SPMD_PLACED(spmd_wait(__VA_ARGS__))
#define spmd_halo_exchange(...)       SPMD_PLACED(spmd_halo_exchange(__VA_ARGS__))
#define spmd_halo_exchange_start(...) SPMD_PLACED(spmd_halo_exchange_start(__VA_ARGS__))

/* spmd/tree.h */
#define spmd_tree_device_put(...) SPMD_PLACED(spmd_tree_device_put(__VA_ARGS__))
#define spmd_tree_reshard(...)    SPMD_PLACED(spmd_tree_reshard(__VA_ARGS__))

/* spmd/tree_map.h */
#define spmd_shard_map_tree(...)      SPMD_PLACED(spmd_shard_map_tree(__VA_ARGS__))
#define spmd_shard_map_tree_plan(...) SPMD_PLACED(spmd_shard_map_tree_plan(__VA_ARGS__))
#define spmd_shard_map_tree_run(...)  SPMD_PLACED(spmd_shard_map_tree_run(__VA_ARGS__))
#define spmd_pmap_tree(...)           SPMD_PLACED(spmd_pmap_tree(__VA_ARGS__))

/* spmd/map.h */
#define spmd_block_print(...)    SPMD_PLACED(spmd_block_print(__VA_ARGS__))
#define spmd_shard_map(...)      SPMD_PLACED(spmd_shard_map(__VA_ARGS__))
#define spmd_shard_map_plan(...) SPMD_PLACED(spmd_shard_map_plan(__VA_ARGS__))
#define spmd_shard_map_run(...)  SPMD_PLACED(spmd_shard_map_run(__VA_ARGS__))
#define spmd_pmap(...)           SPMD_PLACED(spmd_pmap(__VA_ARGS__))
#endif

#endif
