/* loader_file.h - a file of datasets that are stored in all ways, for the tests of loaders. */
#ifndef LOADER_FILE_H
#define LOADER_FILE_H

#include <string.h>
#include <unistd.h>

#include <hdf5.h>

#include "harness.h"
#include "scratch.h"

enum { ROWS = 53, COLUMNS = 5 };

/* Element (row, column) of all two-dimensional ones, of any type. */
static inline int element_at(int64_t row, int64_t column)
{
    return (int)(row * COLUMNS + column) % 127 + 1;
}

/* And what stands where the chunks are not there. */
enum { FILL = 99, UNWRITTEN_ROWS = 8 };

static inline void write_elements(hid_t dataset, hsize_t first)
{
    int values[ROWS][COLUMNS];
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++)
            values[row][column] = element_at(row, column);
    const hsize_t start[] = {first, 0}, count[] = {ROWS - first, COLUMNS};
    hid_t file = H5Dget_space(dataset), memory = H5Screate_simple(2, count, NULL);
    H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL);
    H5Dwrite(dataset, H5T_NATIVE_INT, memory, file, H5P_DEFAULT, values[first]);
    H5Sclose(memory);
    H5Sclose(file);
}

/* One that `creation`, which is closed, says how to store; its rows from `first` on are written. */
static inline void make_dataset(hid_t file, const char *name, hid_t type, hid_t creation,
                                hsize_t first)
{
    const hsize_t shape[] = {ROWS, COLUMNS};
    hid_t space = H5Screate_simple(2, shape, NULL);
    hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    write_elements(dataset, first);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(creation);
}

static inline hid_t contiguous(void)
{
    return H5Pcreate(H5P_DATASET_CREATE);
}

static inline hid_t chunked(hsize_t rows, hsize_t columns)
{
    const hsize_t chunk[] = {rows, columns};
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 2, chunk);
    return creation;
}

static inline hid_t compact(void)
{
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_layout(creation, H5D_COMPACT);
    return creation;
}

static inline hid_t deflated(hsize_t rows, hsize_t columns)
{
    hid_t creation = chunked(rows, columns);
    H5Pset_deflate(creation, 6);
    return creation;
}

static inline hid_t all_filters(void)
{
    hid_t creation = chunked(4, 3);
    H5Pset_shuffle(creation);
    H5Pset_deflate(creation, 6);
    H5Pset_fletcher32(creation);
    return creation;
}

static inline hid_t checksummed(void)
{
    hid_t creation = chunked(7, 5);
    H5Pset_fletcher32(creation);
    return creation;
}

/* A filter that HDF5 alone undoes. */
static inline hid_t scaled(void)
{
    hid_t creation = chunked(6, 2);
    H5Pset_scaleoffset(creation, H5Z_SO_INT, H5Z_SO_INT_MINBITS_DEFAULT);
    return creation;
}

static inline hid_t with_fill(hid_t creation)
{
    H5Pset_fill_value(creation, H5T_NATIVE_INT, &(int){FILL});
    return creation;
}

static inline void make_virtual(hid_t file, const char *source)
{
    const hsize_t shape[] = {ROWS, COLUMNS};
    hid_t space = H5Screate_simple(2, shape, NULL), creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_virtual(creation, space, ".", source, space);
    hid_t dataset =
        H5Dcreate2(file, "virtual", H5T_NATIVE_INT, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Dclose(dataset);
    H5Pclose(creation);
    H5Sclose(space);
}

/* The number of each row, by which all others are told apart. */
static inline void make_row_numbers(hid_t file, const char *name, hsize_t rows)
{
    int64_t numbers[ROWS];
    for (int row = 0; row < ROWS; row++)
        numbers[row] = row;
    hid_t space = H5Screate_simple(1, &rows, NULL);
    hid_t dataset =
        H5Dcreate2(file, name, H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers);
    H5Dclose(dataset);
    H5Sclose(space);
}

static inline void make_pairs(hid_t file)
{
    float pairs[ROWS][2];
    const hsize_t rows = ROWS;
    for (int row = 0; row < ROWS; row++) {
        pairs[row][0] = (float)row;
        pairs[row][1] = (float)-row;
    }
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof pairs[0]);
    H5Tinsert(type, "r", 0, H5T_NATIVE_FLOAT);
    H5Tinsert(type, "i", sizeof(float), H5T_NATIVE_FLOAT);
    hid_t space = H5Screate_simple(1, &rows, NULL);
    hid_t dataset = H5Dcreate2(file, "pairs", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, pairs);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Tclose(type);
}

static inline void make_without_rows(hid_t file)
{
    const hsize_t none = 0;
    hid_t scalar = H5Screate(H5S_SCALAR), empty = H5Screate_simple(1, &none, NULL);
    H5Dclose(
        H5Dcreate2(file, "scalar", H5T_NATIVE_INT, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Dclose(
        H5Dcreate2(file, "empty", H5T_NATIVE_INT, empty, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(empty);
    H5Sclose(scalar);
}

/* The same elements in a file of their own, which begins with something else; linked to. */
static inline void make_linked(hid_t file, const char *other)
{
    enum { USER_BLOCK_BYTES = 512 };
    hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_userblock(creation, USER_BLOCK_BYTES);
    hid_t linked = H5Fcreate(other, H5F_ACC_TRUNC, creation, H5P_DEFAULT);
    make_dataset(linked, "chunked", H5T_NATIVE_INT, chunked(4, 3), 0);
    make_dataset(linked, "contiguous", H5T_NATIVE_INT, contiguous(), 0);
    H5Fclose(linked);
    H5Pclose(creation);
    H5Lcreate_external(other, "chunked", file, "linked", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external(other, "contiguous", file, "linked whole", H5P_DEFAULT, H5P_DEFAULT);
}

/* Elements in a file of no format. */
static inline hid_t external(const char *other)
{
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(creation, other, 0, H5F_UNLIMITED);
    return creation;
}

/* Collective. Makes the file; gives its path. */
static inline const char *make_file(const char *name)
{
    const char *path = scratch(name), *other = scratch("other.h5"), *raw = scratch("raw");
    MPI_Barrier(MPI_COMM_WORLD); /* nobody has an earlier one open */
    if (test_rank == 0) {
        hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        make_row_numbers(file, "row", ROWS);
        make_row_numbers(file, "fewer", ROWS - 1);
        make_dataset(file, "contiguous", H5T_NATIVE_INT, contiguous(), 0);
        make_dataset(file, "chunked", H5T_NATIVE_INT, chunked(4, 3), 0);
        make_dataset(file, "bands", H5T_NATIVE_INT, chunked(5, COLUMNS), 0);
        make_dataset(file, "deflated", H5T_NATIVE_INT, deflated(6, 2), 0);
        make_dataset(file, "filtered", H5T_NATIVE_INT, all_filters(), 0);
        make_dataset(file, "checksummed", H5T_NATIVE_SHORT, checksummed(), 0);
        make_dataset(file, "scaled", H5T_NATIVE_INT, scaled(), 0);
        make_dataset(file, "compact", H5T_NATIVE_INT, compact(), 0);
        make_dataset(file, "unwritten", H5T_NATIVE_INT, with_fill(chunked(4, 2)), UNWRITTEN_ROWS);
        make_dataset(file, "doubles", H5T_NATIVE_DOUBLE, contiguous(), 0);
        make_dataset(file, "bytes", H5T_NATIVE_UCHAR, contiguous(), 0);
        make_dataset(file, "foreign", H5T_STD_I32BE, contiguous(), 0);
        make_dataset(file, "external", H5T_NATIVE_INT, external(raw), 0);
        make_linked(file, other);
        make_virtual(file, "contiguous");
        make_pairs(file);
        make_without_rows(file);
        H5Fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return path;
}

#endif
