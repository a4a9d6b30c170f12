/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that is written atomically: it has another name until it is complete. Others may write to the directory that it is in: the file
 * is opened by nobody else meanwhile, what takes the name is what was written, and nothing is written through a link or into a pipe that
 * somebody else has put there.
 */
#ifndef CLI_OUT_FILE_H
#define CLI_OUT_FILE_H

typedef struct out_file {
    int fd;
    int folder;       /* -1: written in place, as devices and pipes are */
    const char *name; /* in the folder */
    char *unfinished; /* until it is complete */
} out_file;

/* 0, or -1 after a message. */
int out_file_open(out_file *file, const char *path);
/* Closes; the file takes its name if `is_complete`, and is gone otherwise. Returns an errno, or 0. */
int out_file_close(out_file *file, int is_complete);

#endif
