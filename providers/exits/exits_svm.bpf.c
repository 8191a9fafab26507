// SPDX-License-Identifier: GPL-2.0-or-later
/* The program with what kernels from Linux 6.1 on have of AMD's CPUs; see exits_load(). */
#define KNOWS_SVM_DATA
#include "providers/exits/exits.bpf.c"
