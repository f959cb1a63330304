/* blas.h - the start of BLAS in a program of many ranks. */
#ifndef APPS_BLAS_H
#define APPS_BLAS_H

/* Before MPI_Init. One thread for BLAS; and where it has not recognised the processor, another
 * start of the program (with `argv` behind its own name) with kernels that fit. */
void blas_begin(char **argv);

#endif
