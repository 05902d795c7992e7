// What device code tells recorder.cpp of, where step_points.py has put these words between its own.
#pragma once

#include "cuda_cpu.h"

namespace cuda_cpu {

// The thread that runs comes to a statement.
void step(unsigned point);

// A function's body, or a loop, while it lasts: what says which threads are at one and the same step.
struct Call {
    unsigned point = 0, calls = 0;
    Call();
    ~Call();
    Call(const Call&) = delete;
};
struct Loop {
    explicit Loop(unsigned point);
    ~Loop();
    Loop(const Loop&) = delete;
    void next();
};

enum ValueKind { INTEGER, UNSIGNED, FLOATING, BOOLEAN, POINTER };
void tell_value(unsigned variable, unsigned kind, uint64_t bits, int i, int j);

template <class T> constexpr ValueKind kind_of() {
    if constexpr (std::is_same_v<T, bool>) return BOOLEAN;
    else if constexpr (std::is_pointer_v<T>) return POINTER;
    else if constexpr (std::is_floating_point_v<T>) return FLOATING;
    else return std::is_signed_v<T> ? INTEGER : UNSIGNED;
}

// A variable's value now, or that of element [i][j] of an array.  Of what is no number: nothing, and it
// is not copied, or that would be told of as an access of the text's own.
template <class T> UNWATCHED void saw(unsigned variable, const T& value, int i = -1, int j = -1) {
    if constexpr (std::is_pointer_v<T>) tell_value(variable, POINTER, reinterpret_cast<uint64_t>(value), i, j);
    else if constexpr (std::is_floating_point_v<T>) tell_value(variable, FLOATING, __builtin_bit_cast(uint64_t, double(value)), i, j);
    else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) tell_value(variable, kind_of<T>(), uint64_t(int64_t(value)), i, j);
}

// A name of shared memory: numbers of this kind and size, in rows; 0: as many as there are.
template <class T> UNWATCHED void tell_shared(unsigned name, const T* at, size_t rows, size_t columns) {
    tell_value(~name, kind_of<T>() + 8 * sizeof(T), reinterpret_cast<uint64_t>(at), int(rows), int(columns));
}
template <class T> requires std::is_pointer_v<T> UNWATCHED void saw_shared(unsigned name, const T& at) { tell_shared(name, at, 0, 0); }
template <class T, size_t COLUMNS> UNWATCHED void saw_shared(unsigned name, T (&at)[COLUMNS]) { tell_shared(name, at, 1, COLUMNS); }
template <class T, size_t ROWS, size_t COLUMNS> UNWATCHED void saw_shared(unsigned name, T (&at)[ROWS][COLUMNS]) {
    tell_shared(name, at[0], ROWS, COLUMNS);
}

}  // namespace cuda_cpu
