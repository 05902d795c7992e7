// Writes down where a thread is when its process crashes, or has run for too long.
#include "fibers.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <ucontext.h>
#include <unistd.h>

namespace cuda_cpu {

Reports* reports;

namespace {

constexpr size_t HANDLER_BYTES = 64 << 10;
alignas(16) char handler_stack[HANDLER_BYTES];  // a thread may have used up its own

uint64_t lowest_byte() { return reinterpret_cast<uint64_t>(running().stack); }

// Where a library keeps no frames: what looks like an address that one of ours goes on at.
void find_callers(Where& where, uint64_t at) {
    const Image ours = image();
    const uint64_t lowest = lowest_byte();
    unsigned depth = 0;
    where.pcs.fill(0);
    for (at = std::max(at, lowest) / 8 * 8; at + 8 <= lowest + STACK_BYTES && depth < where.pcs.size(); at += 8) {
        const uint64_t word = *reinterpret_cast<const uint64_t*>(at);
        if (ours.has(word)) where.pcs[depth++] = word - ours.begin - 1;
    }
}

// The report of what ends the run now.
Report& last_report() {
    if (is_running() && is_giving_up()) _exit(1);  // why is written down already
    reports->fault.array = NOWHERE;
    return reports->fault;
}

void on_signal(int signal, siginfo_t* facts, void* context) {
    const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    Report& report = last_report();
    report.signal = signal;
    report.address = reinterpret_cast<uint64_t>(facts->si_addr);
    report.offset = int64_t(report.address - reinterpret_cast<uint64_t>(reports));
    report.is_store = signal == SIGSEGV && registers[REG_ERR] & 2;  // x86's bit for it
    report.size = facts->si_code == SI_KERNEL;  // no address is known of
    if (is_running()) {
        const auto pc = uint64_t(registers[REG_RIP]), top = uint64_t(registers[REG_RSP]), lowest = lowest_byte();
        find_where(report.here, reinterpret_cast<void*>(pc), reinterpret_cast<void*>(registers[REG_RBP]));
        if (!image().has(pc)) find_callers(report.here, top);
        const bool overran = report.address - (lowest - GUARD_BYTES) < GUARD_BYTES + 64;
        // An array of its own may be so large that the address is far below the stack.
        if (signal == SIGSEGV && (overran || top < lowest)) report.array = DYNAMIC_ARRAY;  // its stack
    }
    report.kind = signal == SIGPROF || signal == SIGALRM ? DEADLINE : CRASH;
    if (report.kind == DEADLINE) {
        const Pace now = pace();
        report.offset = now.begun ? now.begun - 1 : 0;
        report.array_bytes = now.is_stuck ? 0 : now.blocks;
    }
    _exit(1);
}

// Each function's frame begins with that of its caller, and where that goes on.
template <class Of> void walk(uint64_t at, Of of) {
    const uint64_t lowest = lowest_byte();
    while (at >= lowest && at + 16 <= lowest + STACK_BYTES && at % 8 == 0) {
        const auto* words = reinterpret_cast<const uint64_t*>(at);
        if (!of(words[1]) || words[0] <= at) break;
        at = words[0];
    }
}

// The calls that led to a function of the runtime, but for the last, which its caller knows.
uint64_t way_to(const void* frame) {
    const Image ours = image();
    uint64_t way = 0;
    size_t depth = 0;
    walk(*static_cast<const uint64_t*>(frame), [&](uint64_t back) {
        if (ours.has(back)) way = (way ^ (back - ours.begin)) * 0x9e3779b97f4a7c15;
        return ++depth < Place{}.size();
    });
    return way;
}

// What the compiler tells of an index, or of an address (UBSan's).
struct TypeName {
    uint16_t kind, info;  // of an integer: 0, and the logarithm of its bits, then whether it has a sign
    char text[1];         // 'float [25]'
};
struct Indexing {
    const char* file;
    uint32_t line, column;
    const TypeName *array, *index;
};
struct Mismatch {
    const char* file;
    uint32_t line, column;
    const TypeName* type;
    unsigned char log_alignment, kind;
};

int64_t extended(const TypeName& type, uint64_t value) {
    const unsigned bits = 1u << (type.info >> 1);
    if (type.kind != 0 || !(type.info & 1) || bits >= 64) return int64_t(value);
    return int64_t(value << (64 - bits)) >> (64 - bits);
}

// Reports what a thread is about to do, and ends the run.
void end_as(Kind kind, int64_t offset, uint64_t array_bytes, const void* pc, const void* frame) {
    if (!reports || !is_running()) return;
    Report& report = last_report();
    report.offset = offset, report.array_bytes = array_bytes;
    find_where(report.here, pc, frame);
    report.kind = kind;
    _exit(1);
}

}  // namespace

Image image() {
    static void (*of)(void*);
    static Image found;
    if (of == launched.thread) return found;
    of = launched.thread;
    found = {};
    Dl_info facts{};
    if (!dladdr(reinterpret_cast<void*>(of), &facts)) return found;
    found.begin = found.end = reinterpret_cast<uint64_t>(facts.dli_fbase);
    found.variables = UINT64_MAX;
    const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(found.begin);
    const auto* part = reinterpret_cast<const ElfW(Phdr)*>(found.begin + header->e_phoff);
    for (int i = 0; i < header->e_phnum; ++i) {
        if (part[i].p_type != PT_LOAD) continue;
        const uint64_t first = found.begin + part[i].p_vaddr;
        found.end = std::max(found.end, first + part[i].p_memsz);
        if (part[i].p_flags & PF_W) found.variables = std::min(found.variables, first);
    }
    return found;
}

void find_where(Where& where, const void* pc, const void* frame) {
    const uint64_t begin = image().begin;
    size_t depth = 1;
    where = {int32_t(blockIdx.x), int32_t(blockIdx.y), int32_t(threadIdx.x), int32_t(threadIdx.y), {reinterpret_cast<uint64_t>(pc) - begin}};
    walk(reinterpret_cast<uint64_t>(frame), [&](uint64_t back) {
        where.pcs[depth++] = back - begin - 1;  // within the call, not behind it
        return depth < where.pcs.size();
    });
}

}  // namespace cuda_cpu

#define HERE __builtin_return_address(0), __builtin_frame_address(0)

void* operator new(size_t bytes) {
    if (void* memory = cuda_cpu::words::malloc(bytes)) return memory;
    abort();  // on_signal tells of it
}
void* operator new[](size_t bytes) { return operator new(bytes); }

extern "C" {

// Called before an element is used that an array does not have.
void __ubsan_handle_out_of_bounds(const cuda_cpu::Indexing* known, uint64_t index) {
    const char* length = std::strchr(known->array->text, '[');
    const uint64_t elements = length ? std::strtoull(length + 1, nullptr, 10) : 0;
    cuda_cpu::end_as(cuda_cpu::ELEMENT, cuda_cpu::extended(*known->index, index), elements, HERE);
}
// What a GPU does not forgive, and this CPU does; or what is accessed lies beyond the array that a pointer is of.
void __ubsan_handle_type_mismatch_v1(const cuda_cpu::Mismatch* known, uint64_t at) {
    if (at & ((uint64_t(1) << known->log_alignment) - 1)) __builtin_trap();
    cuda_cpu::end_as(cuda_cpu::BEYOND, 0, 0, HERE);
}
[[noreturn]] void __ubsan_handle_missing_return(const void*) { __builtin_trap(); }

// From now on; SIGPROF and SIGALRM are the deadlines.
void report_to(cuda_cpu::Reports* into) {
    using namespace cuda_cpu;
    reports = into;
    hooks.way_of = way_to;
    hooks.at_refusal = [](size_t bytes) { reports->refused_bytes = bytes; };
    stack_t other{};
    other.ss_sp = handler_stack, other.ss_size = HANDLER_BYTES;
    sigaltstack(&other, nullptr);
    struct sigaction action{};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF, SIGALRM}) sigaction(signal, &action, nullptr);
}
}
