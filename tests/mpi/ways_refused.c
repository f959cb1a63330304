/* ways_refused.c - a system that lets no process read another one's memory, by a filter of system
 * calls: what is done instead, and told once. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "moves.h"

/* From here on, process_vm_readv fails with EPERM. */
static bool refuse_readv(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static bool refused;

static void shared_memory_is_read_instead(void)
{
    EXPECT(refused);
    struct moves_notes notes = moves_catch();
    moves_expect("auto", false, false);
    moves_expect("readv", false, false);
    moves_expect("readv", false, false);
    EXPECT(moves_noted(&notes, "SPMD_MOVE=readv: the system refuses process_vm_readv (Operation "
                               "not permitted): blocks are read from shared memory, and those that "
                               "are not in it go by messages"));
}

int main(int argc, char **argv)
{
    const struct harness_case cases[] = {CASE(shared_memory_is_read_instead)};
    moves_leave_mpi_out();
    refused = refuse_readv();
    return harness_main(&argc, &argv, "ways_refused", cases, 1);
}
