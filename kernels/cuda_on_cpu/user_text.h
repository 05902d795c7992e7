// Read between our own headers and a user kernel: from here on no word, pasted together or in a macro,
// reaches what this compiler has beyond CUDA's.
#pragma GCC system_header

// Once for all sets of macros: a poisoned word stays so, and cannot be named again.
#ifndef USER_TEXT
#define USER_TEXT

// Text for an assembler could have it read any file.  For a GPU this is PTX.
#pragma GCC poison asm __asm __asm__
// What CUDA's compiler has not.
#pragma GCC poison try catch throw typeid dynamic_cast thread_local __thread co_await co_yield co_return
#pragma GCC poison __label__ __typeof__ __typeof __builtin_alloca alloca _Complex __complex__
#pragma GCC poison __has_include __has_include_next __has_embed gnu __gnu__ __attribute

// What tells one way to compile it from another: a race could hide from the search for races.
#undef WATCHED
#undef COUNTING
#undef __SANITIZE_THREAD__
#undef __NO_INLINE__
#undef __OPTIMIZE__

// Of attributes those that change nothing but the text's own: no constructor, section or alias.
#undef __attribute__
#define __attribute__(list) CUDA_ATTRIBUTE list
#define CUDA_ATTRIBUTE(one) CUDA_ATTRIBUTE_##one
#define CUDA_ATTRIBUTE_aligned(n) __attribute__((aligned(n)))
#define CUDA_ATTRIBUTE___aligned__(n) __attribute__((aligned(n)))
#define CUDA_ATTRIBUTE_packed __attribute__((packed))
#define CUDA_ATTRIBUTE___packed__ __attribute__((packed))
#define CUDA_ATTRIBUTE_always_inline
#define CUDA_ATTRIBUTE___always_inline__
#define CUDA_ATTRIBUTE_noinline
#define CUDA_ATTRIBUTE_unused
#define CUDA_ATTRIBUTE___unused__
#define CUDA_ATTRIBUTE_const
#define CUDA_ATTRIBUTE_pure

#ifdef __clang__
#pragma GCC poison _Pragma
#else
#undef _Pragma
#define _Pragma(...)  // may be any #pragma; what a GPU's mean changes no answer
#endif
#pragma GCC diagnostic error "-Wvla"

#ifdef IS_STRICT
// What else tells a CPU's compiler from CUDA's.
#undef __x86_64__
#undef __x86_64
#undef __amd64__
#undef __amd64
#undef __clang__
#undef __SSE__
#undef __SSE2__
#undef __ELF__
#undef __linux
#undef linux
#undef unix
#undef __GLIBCXX__
#undef __GLIBC__
#undef _GNU_SOURCE
#pragma GCC poison __x86_64__ __x86_64 __amd64__ __amd64 __clang__ __OPTIMIZE__ __SSE__ __SSE2__
#pragma GCC poison __ELF__ __GLIBCXX__ __GLIBC__ _GNU_SOURCE __GNUC_MINOR__
#endif
#endif

#ifdef IS_STRICT
#undef IS_STRICT
#undef CUDA_ON_CPU
#define __CUDACC__
#define __CUDACC_RTC__
#define __CUDA_ARCH__ 900
#endif
