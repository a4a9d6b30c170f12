/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators: the processes of an MPI job, which work on one thing together. */
#ifndef LODE_UNSTABLE_COMM_H
#define LODE_UNSTABLE_COMM_H

#include <lode/pool.h>
#include <stddef.h>

LODE_BEGIN_DECLS

/*
 * Joins the job that this process was started in, through a plug-in such as lode-mpi-openmpi.so:
 * `plugin` is its path. Once in the life of a process. LODE_ERR_UNSUPPORTED if it is not there, or
 * made for another version. MT: one thread.
 */
LODE_API LODE_CHECKED lode_status lode_comm_join(lode_comm **out, const char *plugin, lode_error *error);
/*
 * A communicator of the ranks of an MPI communicator that the program has: `mpi_comm` points to its
 * MPI_Comm, of `size` bytes (sizeof(MPI_Comm)), of the MPI library that the plug-in is for. MPI
 * must have been initialised with MPI_THREAD_SERIALIZED or more, and is not finalised. The MPI
 * communicator is duplicated: it may be freed, and used for anything else. Collective: every rank
 * of it calls this, and several such communicators may be used at the same time by different ranks.
 * MT: one thread.
 */
LODE_API LODE_CHECKED lode_status lode_comm_from_mpi(lode_comm **out, const char *plugin,
                                                     const void *mpi_comm, size_t size, lode_error *error);
/* Leaves it when all has gone well: every rank does so. NULL is allowed. MT: one thread. */
LODE_API void lode_comm_leave(lode_comm *comm);
/*
 * Ends the whole job with an exit status when something has gone wrong: what the ranks wait for
 * will not come. Rank 0 ends it at once; others give rank 0 some seconds to do so. MT: one thread.
 */
LODE_API void lode_comm_abort(lode_comm *comm, int status);

/*
 * The number of rank 0, on every rank, such as an exit status. Every rank calls this. NULL: the own
 * number. MT: one thread.
 */
LODE_API int lode_comm_first(lode_comm *comm, int number);

/* Which rank this is, from 0, and how many there are. MT: any thread. */
LODE_API uint32_t lode_comm_rank(const lode_comm *comm);
LODE_API uint32_t lode_comm_size(const lode_comm *comm);

LODE_END_DECLS
#endif
