/* SPDX-License-Identifier: BSD-3-Clause */
/* Crews: the processes of an MPI job, which work on one thing together. */
#ifndef LODE_CREW_H
#define LODE_CREW_H

#include <lode/status.h>

LODE_BEGIN_DECLS

typedef struct lode_crew lode_crew;

/*
 * Joins the job that this process was started in, through a plug-in such as lode-crew-openmpi.so: `plugin` is its path. Once in
 * the life of a process. LODE_ERR_UNSUPPORTED if it is not there, or made for another version. MT: one thread.
 */
LODE_API LODE_CHECKED lode_status lode_crew_join(lode_crew **out, const char *plugin, lode_error *error);
/* Leaves it when all has gone well: every member does so. NULL is allowed. MT: one thread. */
LODE_API void lode_crew_leave(lode_crew *crew);
/*
 * Ends the whole job with an exit status when something has gone wrong: what the members wait for will not come. Member 0 ends it at
 * once; others give member 0 some seconds to do so. MT: one thread.
 */
LODE_API void lode_crew_abort(lode_crew *crew, int status);

/* Which member this is, from 0, and how many there are. MT: any thread. */
LODE_API uint32_t lode_crew_rank(const lode_crew *crew);
LODE_API uint32_t lode_crew_size(const lode_crew *crew);

LODE_END_DECLS
#endif
