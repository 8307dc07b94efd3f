#pragma once
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/// The calling thread's identity: unique among live threads, and one instruction to read.
static inline uintptr_t current_thread_identity(void) {
    return (uintptr_t)__builtin_thread_pointer();
}

/// The system's number of the calling thread. Swift imports no variadic functions.
static inline int thread_id(void) { return (int)syscall(SYS_gettid); }

static inline bool is_main_thread(void) {
    return thread_id() == getpid();
}

/// Counts a reference to an object of Swift's that no other thread has one to. The runtime has these two for code that is
/// compiled for a single thread.
void *_Nonnull swift_nonatomic_retain(void *_Nonnull object);
void swift_nonatomic_release(void *_Nonnull object);

/// The task that runs on the calling thread.
const void *_Nullable swift_task_getCurrent(void) __attribute__((swiftcall));

/// The value that the calling code sees of a task-local, unless that is the default. The key is the address of the task-local.
const void *_Nullable swift_task_localValueGet(const void *_Nonnull key) __attribute__((swiftcall));

/// Adds a handler to the current task, and returns what removes it. The task calls the handler when it is cancelled, on any
/// thread, and at once if it is cancelled already. The task allocates the handler's memory on its stack.
const void *_Nonnull swift_task_addCancellationHandler(
    void (*_Nonnull handler)(__attribute__((swift_context)) void *_Nonnull context) __attribute__((swiftcall)),
    void *_Nonnull context) __attribute__((swiftcall));
void swift_task_removeCancellationHandler(const void *_Nonnull handler) __attribute__((swiftcall));

/// In Swift.
void swift_uv_futures_task_was_cancelled(const void *_Nonnull cancellation);

static inline __attribute__((swiftcall)) void pass_on_cancellation(
    __attribute__((swift_context)) void *_Nonnull cancellation) {
    swift_uv_futures_task_was_cancelled(cancellation);
}

static inline const void *_Nonnull add_cancellation_handler(void *_Nonnull cancellation) {
    return swift_task_addCancellationHandler(pass_on_cancellation, cancellation);
}

struct executor_reference {
    uintptr_t identity;
    uintptr_t implementation;
};

/// What the task that runs on the calling thread is isolated to, and the task executor that it prefers; of zeros if it is none.
struct executor_reference swift_task_getCurrentExecutor(void) __attribute__((swiftcall));
struct executor_reference swift_task_getPreferredTaskExecutor(void) __attribute__((swiftcall));

/// Return addresses of the calls that are on the stack, innermost first; zeros behind the last one.
struct return_addresses {
    uintptr_t address[24];
};

int pthread_getattr_np(pthread_t thread, pthread_attr_t *_Nonnull attributes);

/// Where the calling thread's stack ends, as far as the system knows, if `address` is on that; else 0.
static inline uintptr_t end_of_stack_of(uintptr_t address) {
    static __thread uintptr_t start, end;
    if (end == 0) {
        pthread_attr_t attributes;
        void *lowest;
        size_t size;
        if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
        if (pthread_attr_getstack(&attributes, &lowest, &size) == 0) {
            start = (uintptr_t)lowest;
            end = start + size;
        }
        pthread_attr_destroy(&attributes);
    }
    return start <= address && address < end ? end : 0;
}

/// Whether the user has switched backtraces of crashes off, which take their time.
static inline bool wants_no_backtrace(void) {
    const char *settings = getenv("SWIFT_BACKTRACE");
    return settings && strstr(settings, "enable=no");
}

/// How deep the stack is here.
static inline uintptr_t stack_depth(void) { return (uintptr_t)__builtin_frame_address(0); }

/// Follows the frame pointers up to `outermost`, if that is not 0. Code that uses that register for something else may end
/// the walk early, but not lead it off the stack.
__attribute__((no_sanitize("address", "thread")))
static inline struct return_addresses return_addresses_within(uintptr_t outermost) {
    struct return_addresses found = {{0}};
    uintptr_t frame = stack_depth();
    uintptr_t last = end_of_stack_of(frame);
    if (last == 0) return found;
    last -= 2 * sizeof(uintptr_t);
    if (outermost != 0 && outermost < last) last = outermost;
    for (int i = 0; i < 24 && frame <= last && frame % sizeof(uintptr_t) == 0; i++) {
        const uintptr_t *record = (const uintptr_t *)frame;
        found.address[i] = record[1];
        if (record[0] <= frame) break;
        frame = record[0];
    }
    return found;
}

/// Reads two words. Returns `false` where nothing can be read.
static inline bool read_words(uintptr_t address, uintptr_t words[_Nonnull 2]) {
    struct iovec to = {words, 2 * sizeof(uintptr_t)}, from = {(void *)address, 2 * sizeof(uintptr_t)};
    return syscall(SYS_process_vm_readv, (long)getpid(), &to, 1L, &from, 1L, 0L) == (long)to.iov_len;
}

/// Where a task that does not run goes on: in the function that waits, in the one that has called it, and so on. `task` is
/// laid out as the runtime of Swift 6.3 does it. If the task runs meanwhile, on another thread, what is found may be wrong.
static inline struct return_addresses resume_addresses_of(const void *_Nonnull task) {
    struct return_addresses found = {{0}};
    uintptr_t context[2];
    if (!read_words((uintptr_t)task + 8 * sizeof(uintptr_t), context)) return found;
    for (int i = 0; i < 24 && context[0] != 0 && read_words(context[0], context); i++) found.address[i] = context[1];
    return found;
}

/// What `dladdr` tells of an address, which the headers have for GNU's C alone.
struct code_place {
    const char *_Nullable file;
    const void *_Nullable start;
    const char *_Nullable function;
    const void *_Nullable start_of_function;
};
int place_of_code(const void *_Nonnull address, struct code_place *_Nonnull place) __asm__("dladdr");

/// Swift has no subscript for an array of C.
static inline uintptr_t return_address_at(struct return_addresses of, int index) { return of.address[index]; }

/// What a thread is asked for by a signal: where it is, and the calls that led there. A thread that answers too late, or never,
/// is not waited for, so this is in one place for all.
struct stack_request {
    int thread;
    struct return_addresses found;
    sem_t answered;
};

// Swift makes only what is in a function.
static inline struct stack_request *_Nonnull stack_request(void) {
    static struct stack_request request;
    return &request;
}

__attribute__((no_sanitize("address", "thread")))
static inline void answer_stack_request(int signal, siginfo_t *_Nullable info, void *_Nullable context) {
    (void)signal, (void)info;
    int error = errno, thread = thread_id();
    if (!__atomic_compare_exchange_n(&stack_request()->thread, &thread, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return;
#if defined(__x86_64__)
    // REG_RIP and REG_RBP, which are there for GNU's C alone.
    uintptr_t at = ((ucontext_t *)context)->uc_mcontext.gregs[16];
    uintptr_t frame[2] = {((ucontext_t *)context)->uc_mcontext.gregs[10], 0};
#else
    uintptr_t at = ((ucontext_t *)context)->uc_mcontext.pc;
    uintptr_t frame[2] = {((ucontext_t *)context)->uc_mcontext.regs[29], 0};
#endif
    uintptr_t *found = stack_request()->found.address;
    // As for a call that returns to what runs next.
    found[0] = at + 1;
    // The system's library has no frame pointers, and Foundation has nothing else: what leads further counts. The first calls
    // are those of this handler.
    void *calls[32];
    int count = backtrace(calls, 32), first = 0, length = 1;
    while (first < count && (uintptr_t)calls[first] != at) first++;
    for (; length < 24 && first + length < count; length++) found[length] = (uintptr_t)calls[first + length];
    if (length < 8) {
        for (int i = 1; i < 24 && frame[0] != 0; i++) {
            uintptr_t former = frame[0];
            if (!read_words(former, frame)) break;
            found[i] = frame[1];
            if (frame[0] <= former) break;
        }
    }
    sem_post(&stack_request()->answered);
    errno = error;
}

/// Makes the calling thread answer, and returns its number. Threads of Dispatch keep signals back.
static inline int begin_to_answer(void) {
    sigset_t urgent;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    pthread_sigmask(SIG_UNBLOCK, &urgent, NULL);
    return thread_id();
}

/// Asks a thread of this process where it is. Interrupts what it waits for, as SIGURG does: a signal that nobody notices who has
/// no handler for it. Returns zeros if the thread does not answer within a second. One caller at a time.
static inline struct return_addresses return_addresses_of(int thread) {
    struct return_addresses none = {{0}};
    struct sigaction action = {0}, former;
    action.sa_sigaction = answer_stack_request;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    // The first use loads a library, which a handler of signals must not do.
    void *calls[1];
    backtrace(calls, 1);
    stack_request()->found = none;
    sem_init(&stack_request()->answered, 0, 0);
    __atomic_store_n(&stack_request()->thread, thread, __ATOMIC_RELEASE);
    if (sigaction(SIGURG, &action, &former) != 0) return none;
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 1;
    int result = (int)syscall(SYS_tgkill, (long)getpid(), (long)thread, (long)SIGURG);
    if (result == 0) do result = sem_timedwait(&stack_request()->answered, &limit); while (result != 0 && errno == EINTR);
    // Who has begun to answer by now has taken the request.
    int asked = thread;
    bool withdrawn = __atomic_compare_exchange_n(&stack_request()->thread, &asked, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    if (result != 0 && !withdrawn) sem_wait(&stack_request()->answered);
    sigaction(SIGURG, &former, NULL);
    return withdrawn ? none : stack_request()->found;
}
