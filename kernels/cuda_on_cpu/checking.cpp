// Checks each access of device code while it runs on the CPU: is it within an array, aligned, stored
// before, and in no race?
//
// Each byte that can be stored to has a cell that remembers who stored it last, and who touched it
// since.  Two accesses of which one stores are a race unless a barrier, or a fence and an atomic that
// others saw, lies between them: not in the order that threads happened to run in, but in any.
#include "cuda_cpu.h"
#include "fibers.h"
#include "report.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

using namespace cuda_cpu;

namespace {

// As WATCHED in checked.py.
struct Watched {
    uint64_t begin, end;
    uint64_t row_bytes, pitch_bytes;  // 0: it has no rows
    uint32_t is_stored, may_store;    // from the start; by device code
};

// Lanes of a warp that touched a byte in one place of the text, with no barrier between them.
struct Touch {
    uint32_t phase = 0;  // begins of blocks and barriers of theirs in this launch until then; 0: from the start
    uint32_t clock = 0;  // of the warp
    uint32_t lanes = 0;  // 0: nobody
    uint32_t place : 27 = 0, warp : 5 = 0;

    bool is_as(const Touch& other) const { return phase == other.phase && clock == other.clock && warp == other.warp; }
};
constexpr Touch FROM_THE_START{0, 0, ~0u};
struct Cell {
    Touch store, atomic;  // the last ones: each atomic follows the one before
    Touch loads[4];       // since the last store, as far as none is over for a later one
};
constexpr uint64_t PAGE = 1 << 10;
struct Memory {
    uint64_t begin = 0, end = 0;
    int32_t array = NOWHERE;
    bool is_stored = false;  // from the start
    std::vector<std::unique_ptr<Cell[]>> pages;  // of cells, as far as they are wanted

    Cell& cell(uint64_t at) {
        auto& page = pages[(at - begin) / PAGE];
        if (!page) {
            page = std::make_unique<Cell[]>(PAGE);
            if (is_stored) std::for_each_n(page.get(), PAGE, [](Cell& cell) { cell.store = FROM_THE_START; });
        }
        return page[(at - begin) % PAGE];
    }
};
using Place = std::array<uint64_t, DEPTH>;  // pcs of a Where

constexpr uint64_t ARGUMENT_BYTES = 512;  // what launches a kernel keeps them so near
constexpr uint64_t CHUNK_BYTES = 16;      // the most that a thread stores at once
constexpr unsigned WARP = 32;

std::vector<Watched> watched;
std::vector<Memory> memories;  // of those watched that may be stored to; then a block's own
std::vector<Watched> variables;     // of the library, by address
std::vector<Memory> of_variables;   // of those that were stored to
std::vector<Place> places(1);  // the first is none
std::unordered_map<uint64_t, uint32_t> known_places;
std::map<uint64_t, Memory> gifts;  // memory that threads asked for, by its begin
bool is_watching;
Where* writers;              // of the picture's samples, each
uint64_t sample_bytes;

Memory memory_of(int32_t array, uint64_t begin, uint64_t end, bool is_stored) {
    return {begin, end, array, is_stored, std::vector<std::unique_ptr<Cell[]>>((end - begin + PAGE - 1) / PAGE)};
}

// To note it takes memory as well, which is none of a thread's.  What lay there before was freed.
void take_gift(const void* memory, size_t bytes) {
    static bool is_noting;
    if (is_noting || !is_running()) return;
    is_noting = true;
    const auto begin = reinterpret_cast<uint64_t>(memory), end = begin + bytes;
    gifts.erase(gifts.lower_bound(begin), gifts.lower_bound(end));
    gifts[begin] = memory_of(GIFT, begin, end, false);
    is_noting = false;
}

// Where the library lies is known as it is launched.
void begin_launch() {
    for (Watched& variable : variables) variable.begin += image().begin, variable.end += image().begin;
    of_variables.clear();
    of_variables.resize(variables.size());
}

// ---- What is over before what. -----------------------------------------------------------------

// A warp's clock goes on at each of its barriers and fences.
struct Thread {
    std::array<uint32_t, WARP> known{};     // of each lane of its warp is over what came before this clock
    uint32_t least_known = 0, most_known = 0;  // of them
};
// What is over of a block: all before a phase, and of each thread what came before a clock.
struct Past {
    uint32_t phase = 0;
    std::vector<uint32_t> clocks;
};
using Pasts = std::map<unsigned, std::shared_ptr<const Past>>;  // by block
enum Scope { OF_BLOCK, OF_DEVICE, SCOPES };
// What threads learn of each other by atomics, where they use fences.
struct Hearsay {
    Pasts known, told[SCOPES];  // told: at its last fence
};

uint32_t phase, block_phase;      // now, and as the block began
std::vector<unsigned> block_at;   // by phase
std::vector<Thread> threads;      // of the block, as all of these
std::vector<uint32_t> clocks;     // of its warps
std::vector<Hearsay> hearsay;
std::unordered_map<uint64_t, Pasts> left_at[SCOPES];  // by the address of an atomic
bool is_hearsay;

void join(Pasts& into, const Pasts& from) {
    for (const auto& [block, past] : from) {
        auto& mine = into[block];
        if (!mine) mine = past;
        if (mine == past) continue;
        auto both = std::make_shared<Past>(*mine);
        both->phase = std::max(both->phase, past->phase);
        for (size_t i = 0; i < both->clocks.size(); ++i) both->clocks[i] = std::max(both->clocks[i], past->clocks[i]);
        mine = both;
    }
}

void next_phase() {
    ++phase;
    block_at.push_back(blockIdx.y * gridDim.x + blockIdx.x);
}

// Those who meet know what each of them knew, and any may tell what each has made known by a fence.
void share_hearsay(unsigned first, unsigned end, uint32_t lanes) {
    if (!is_hearsay) return;
    const auto share = [&](auto pasts_of) {
        Pasts all;
        for (unsigned i = first; i < end; ++i)
            if (lanes >> i % WARP & 1) join(all, pasts_of(hearsay[i]));
        for (unsigned i = first; i < end; ++i)
            if (lanes >> i % WARP & 1) pasts_of(hearsay[i]) = all;
    };
    share([](Hearsay& each) -> Pasts& { return each.known; });
    for (const Scope scope : {OF_BLOCK, OF_DEVICE}) share([scope](Hearsay& each) -> Pasts& { return each.told[scope]; });
}

// A thread that has ended is waited for nowhere.  But one that went around a barrier, and did what others do
// behind it, should have come: its last place tells.
struct Trail {
    std::vector<bool> places;  // that it has touched memory in
    uint32_t last = 0;

    bool has(uint32_t place) const { return place < places.size() && places[place]; }
    void add(uint32_t place) {
        if (place >= places.size()) places.resize(place + 1);
        places[place] = true;
        last = place;
    }
};
std::vector<Trail> trails;                               // of the block's threads
struct Missed {
    unsigned first, end;  // threads that waited are of these
    std::string words;
};
std::unordered_multimap<uint32_t, Missed> missed_at;  // by the last place of one that was not there

void pass_block_barrier() {
    next_phase();
    share_hearsay(0, unsigned(threads.size()), ~0u);
}

void note_missed(unsigned first, unsigned end, const char* words) {
    for (unsigned i = first; i < end; ++i)
        if (has_ended(i) && !trails[i].places.empty()) missed_at.emplace(trails[i].last, Missed{first, end, words});
}

void follow(unsigned me, uint32_t place) {
    Trail& trail = trails[me];
    if (!missed_at.empty() && !trail.has(place)) {
        const auto [begin, end] = missed_at.equal_range(place);
        for (auto found = begin; found != end; ++found)
            if (found->second.first <= me && me < found->second.end) give_up(found->second.words.c_str());
    }
    trail.add(place);
}

void pass_warp_barrier(unsigned first, unsigned lanes) {
    const unsigned end = std::min(unsigned(threads.size()), first + WARP);
    Thread all;
    for (unsigned i = first; i < end; ++i)
        if (lanes >> (i - first) & 1)
            for (unsigned lane = 0; lane < WARP; ++lane) all.known[lane] = std::max(all.known[lane], threads[i].known[lane]);
    const uint32_t now = ++clocks[first / WARP];
    for (unsigned lane = 0; lane < WARP; ++lane)
        if (lanes >> lane & 1) all.known[lane] = now;
    const auto [least, most] = std::minmax_element(all.known.begin(), all.known.begin() + (end - first));
    all.least_known = *least, all.most_known = *most;
    for (unsigned i = first; i < end; ++i)
        if (lanes >> (i - first) & 1) threads[i] = all;
    share_hearsay(first, end, lanes);
}

void find_untold();

// From now on the thread may tell by an atomic of all that was over for it, and of what it did itself.
void pass_fence(bool of_block) {
    if (!is_watching) return;
    find_untold();
    const unsigned me = running().number, first = me / WARP * WARP;
    auto own = std::make_shared<Past>(Past{phase, std::vector<uint32_t>(threads.size())});
    for (unsigned i = first; i < std::min(unsigned(threads.size()), first + WARP); ++i) own->clocks[i] = threads[me].known[i - first];
    own->clocks[me] = ++clocks[me / WARP];
    Pasts all = hearsay[me].known;
    join(all, {{block_at[phase], own}});
    hearsay[me].told[OF_BLOCK] = all;
    if (!of_block) hearsay[me].told[OF_DEVICE] = all;
    is_hearsay = true;
}

void hear_and_tell(uint64_t address) {
    if (!is_hearsay) return;
    Hearsay& mine = hearsay[running().number];
    for (const Scope scope : {OF_BLOCK, OF_DEVICE}) {
        Pasts& left = left_at[scope][address];
        join(mine.known, left);
        join(left, mine.told[scope]);
    }
}

// A block's own memory as the thread that runs has found it.  Compilers tell nothing of a structure that a
// function's call returns there: what has changed, and nobody told of, that thread has stored.
std::array<std::vector<unsigned char>, 2> found;

void look_again() {
    for (size_t i = 0; i < found.size(); ++i) {
        const Memory& memory = memories[watched.size() + i];
        const auto* now = reinterpret_cast<const unsigned char*>(memory.begin);
        found[i].assign(now, now + (memory.end - memory.begin));
    }
}

void begin_block() {
    const auto dynamic = reinterpret_cast<uint64_t>(dynamic_shared());
    const auto [begin, end] = static_shared();
    memories[watched.size()] = memory_of(DYNAMIC_ARRAY, dynamic, dynamic + dynamic_shared_bytes(), false);
    memories[watched.size() + 1] = memory_of(STATIC_ARRAY, reinterpret_cast<uint64_t>(begin), reinterpret_cast<uint64_t>(end), false);
    next_phase();
    block_phase = phase;
    threads.assign(blockDim.x * blockDim.y, {});
    clocks.assign((threads.size() + WARP - 1) / WARP, 0);
    hearsay.assign(threads.size(), {});
    trails.assign(threads.size(), {});
    missed_at.clear();
    left_at[OF_BLOCK].clear();
    look_again();
}

// Of those lanes, those whose touch the thread that runs has not heard to be over.
uint32_t unheard(const Touch& touch, uint32_t lanes, const Pasts& known) {
    const auto found = known.find(block_at[touch.phase]);
    if (found == known.end()) return lanes;
    const Past& past = *found->second;
    if (touch.phase < past.phase) return 0;
    for (unsigned lane = 0; lane < WARP; ++lane)
        if (lanes >> lane & 1 && past.clocks[touch.warp * WARP + lane] > touch.clock) lanes &= ~(1u << lane);
    return lanes;
}

// The lanes whose touch is not over for the thread that runs, whatever the order that threads run in.
uint32_t unordered(const Touch& touch, unsigned me) {
    uint32_t lanes = touch.lanes;
    if (!lanes || !touch.phase) return 0;
    if (touch.phase >= block_phase) {
        if (touch.phase < phase) return 0;
        if (touch.warp == me / WARP) {
            const Thread& thread = threads[me];
            lanes &= ~(1u << me % WARP);
            if (touch.clock < thread.least_known) return 0;
            if (touch.clock < thread.most_known)
                for (unsigned lane = 0; lane < WARP; ++lane)
                    if (touch.clock < thread.known[lane]) lanes &= ~(1u << lane);
        }
    }
    return lanes && is_hearsay ? unheard(touch, lanes, hearsay[me].known) : lanes;
}

// ---- Accesses. ---------------------------------------------------------------------------------

Where where_of(const Touch& touch, uint32_t lanes) {
    const unsigned block = block_at[touch.phase], thread = touch.warp * WARP + unsigned(__builtin_ctz(lanes));
    return {int32_t(block % gridDim.x), int32_t(block / gridDim.x), int32_t(thread % blockDim.x), int32_t(thread / blockDim.x),
            places[touch.place]};
}

enum Way { LOAD, STORE, ATOMIC };
struct Access {
    uint64_t at, size;
    Way way;
    const void *pc, *frame;
    bool is_store() const { return way != LOAD; }
};

uint32_t place_of(const Access& access) {
    const auto* words = static_cast<const uint64_t*>(access.frame);
    uint64_t key = reinterpret_cast<uint64_t>(access.pc) * 0x9e3779b97f4a7c15;
    for (int depth = 0; depth < 3; ++depth) {
        key = (key ^ words[1]) * 0x9e3779b97f4a7c15;
        if (words[0] <= reinterpret_cast<uint64_t>(words)) break;
        words = reinterpret_cast<const uint64_t*>(words[0]);
    }
    const auto [found, is_new] = known_places.try_emplace(key, uint32_t(places.size()));
    if (is_new) {
        Where where{};
        find_where(where, access.pc, access.frame);
        places.push_back(where.pcs);
    }
    return found->second;
}

uint64_t bytes_of(int32_t array) {
    if (array >= 0) {
        const size_t index = size_t(array), count = watched.size();
        const Watched& known = index < count ? watched[index] : variables[index - count];
        return known.end - known.begin;
    }
    for (size_t i = watched.size(); i < memories.size(); ++i)
        if (memories[i].array == array) return memories[i].end - memories[i].begin;
    return 0;
}

void fill(Report& report, Kind kind, int32_t array, uint64_t begin, const Access& access) {
    report.array = array;
    report.array_bytes = bytes_of(array);
    report.offset = int64_t(access.at - begin);
    report.size = uint32_t(access.size);
    report.is_store = access.is_store();
    report.address = access.at;
    find_where(report.here, access.pc, access.frame);
    if (!access.pc)  // near its last access that was told of
        report.here.pcs = places[trails[running().number].last];
    report.kind = kind;
}

[[noreturn]] void fault(Kind kind, int32_t array, uint64_t begin, const Access& access) {
    fill(reports->fault, kind, array, begin, access);
    give_up("fault");
}

void suspect(Kind kind, int32_t array, uint64_t begin, const Access& access) {
    // Of the answer above all: what it held before is nothing that a right kernel reads.
    const bool is_answer = kind == UNINITIALISED && array >= 0 && size_t(array) < watched.size() && watched[size_t(array)].row_bytes;
    if (!reports->suspicion.kind || is_answer) fill(reports->suspicion, kind, array, begin, access);
}

// Goes on until the block has ended: where one of the two waits at a barrier that the other never comes
// to, that is why there is a race.
void race(const Memory& memory, const Touch& before, uint32_t lanes, bool stored, const Access& access) {
    reports->fault.there = where_of(before, lanes);
    reports->fault.other_stores = stored;
    fill(reports->fault, RACE, memory.array, memory.begin, access);
    give_up_after_block("fault");
}

// Of loads, where there is no room for another: one of two of a warp, or of two of other blocks.  Three
// others are of three warps, with any of which a store races.
Touch* superfluous(Cell& cell, const Touch& now) {
    const auto is_elsewhere = [](const Touch& touch) { return touch.phase < block_phase; };
    for (Touch& each : cell.loads)
        if (each.is_as(now)) return each.lanes |= now.lanes, nullptr;
    for (Touch& one : cell.loads)
        for (const Touch* other = &one + 1; other != std::end(cell.loads); ++other)
            if (is_elsewhere(one) == is_elsewhere(*other) && (is_elsewhere(one) || one.warp == other->warp)) return &one;
    return nullptr;
}

void remember_load(Cell& cell, const Touch& now, unsigned me) {
    Touch* room = nullptr;
    for (Touch& each : cell.loads) {
        if (each.is_as(now) && each.place == now.place) return void(each.lanes |= now.lanes);
        each.lanes = unordered(each, me);  // for what is over, `now` stands
        if (!each.lanes) room = &each;
    }
    if (!room) room = superfluous(cell, now);
    if (room) *room = now;
}

void check_cells(Memory& memory, const Access& access) {
    const unsigned me = running().number;
    Touch now{phase, clocks[me / WARP], 1u << me % WARP};
    now.place = access.pc ? place_of(access) : trails[me].last, now.warp = me / WARP;
    if (access.pc) follow(me, now.place);
    for (uint64_t at = access.at; at < access.at + access.size; ++at) {
        Cell& cell = memory.cell(at);
        if (const uint32_t lanes = unordered(cell.store, me)) return race(memory, cell.store, lanes, true, access);
        if (access.way != ATOMIC)
            if (const uint32_t lanes = unordered(cell.atomic, me)) return race(memory, cell.atomic, lanes, true, access);
        if (access.is_store())
            for (const Touch& load : cell.loads)
                if (const uint32_t lanes = unordered(load, me)) return race(memory, load, lanes, false, access);
        if (access.way != STORE && !cell.store.lanes && !cell.atomic.lanes) suspect(UNINITIALISED, memory.array, memory.begin, access);
        if (access.way == STORE) cell = {now, {}, {}};
        else if (access.way == ATOMIC) cell.atomic = now;
        else remember_load(cell, now, me);
    }
}

void find_untold() {
    if (!is_watching || is_giving_up()) return;
    const unsigned me = running().number;
    const auto is_told = [&](const Touch& touch) {
        return touch.phase == phase && touch.warp == me / WARP && touch.lanes >> me % WARP & 1;
    };
    bool is_changed = false;
    for (size_t i = 0; i < found.size(); ++i) {
        Memory& memory = memories[watched.size() + i];
        const auto* now = reinterpret_cast<const unsigned char*>(memory.begin);
        if (found[i].empty() || !std::memcmp(now, found[i].data(), found[i].size())) continue;
        is_changed = true;
        for (size_t at = 0; at < found[i].size() && !is_giving_up(); ++at) {
            if (now[at] == found[i][at]) continue;
            const Cell& cell = memory.cell(memory.begin + at);
            if (!is_told(cell.store) && !is_told(cell.atomic)) check_cells(memory, {memory.begin + at, 1, STORE, nullptr, nullptr});
        }
    }
    if (is_changed) look_again();
}

bool is_within(uint64_t begin, uint64_t end, const Access& access) {
    return begin <= access.at && access.at < end;
}

// What an access outside of all arrays was meant for: the nearest that is loaded from, or stored to,
// which it may begin within.
[[noreturn]] void out_of_bounds(const Access& access) {
    uint64_t nearest = UINT64_MAX, begin = 0;
    int32_t array = NOWHERE;
    const auto look = [&](int32_t which, uint64_t first, uint64_t end) {
        if (first == end) return;
        const uint64_t away = access.at < first ? first - access.at : access.at < end ? 0 : access.at - end + 1;
        if (away < nearest) nearest = away, array = which, begin = first;
    };
    for (size_t i = 0; i < watched.size(); ++i)
        if (access.is_store() ? watched[i].may_store : watched[i].is_stored) look(int32_t(i), watched[i].begin, watched[i].end);
    for (size_t i = watched.size(); i < memories.size(); ++i) look(memories[i].array, memories[i].begin, memories[i].end);
    if (nearest > 1 << 28) array = NOWHERE;
    fault(BOUNDS, array, begin, access);
}

void check_watched(size_t index, const Access& access) {
    const Watched& array = watched[index];
    if (access.at + access.size > array.end) out_of_bounds(access);
    if (access.is_store() && !array.may_store) fault(READ_ONLY, int32_t(index), array.begin, access);
    if (array.row_bytes) {
        const uint64_t column = (access.at - array.begin) % array.pitch_bytes;
        // The last chunk of a row may be stored as a whole, as poison.py has it.
        const uint64_t chunks = (array.row_bytes + CHUNK_BYTES - 1) / CHUNK_BYTES * CHUNK_BYTES;
        if (column >= (access.is_store() ? chunks : array.row_bytes)) fault(PADDING, int32_t(index), array.begin, access);
        if (column >= array.row_bytes) suspect(PADDING, int32_t(index), array.begin, access);
        if (access.is_store() && writers)
            for (uint64_t at = access.at; at < access.at + access.size; at += sample_bytes)
                find_where(writers[(at - array.begin) / sample_bytes], access.pc, access.frame);
    }
    if (array.may_store) check_cells(memories[index], access);
}

// Nothing lies between variables; between what cannot be written to, literals do, of which nobody knows.
void check_variable(const Access& access, bool is_misaligned) {
    const auto behind = std::upper_bound(variables.begin(), variables.end(), access.at, [](uint64_t at, const Watched& each) { return at < each.begin; });
    if (behind == variables.begin()) return;
    const size_t index = size_t(behind - variables.begin()) - 1;
    const Watched& variable = variables[index];
    const int32_t array = int32_t(watched.size() + index);
    if (access.at >= variable.end && access.at < image().variables) return;
    if (access.at + access.size > variable.end) fault(BOUNDS, array, variable.begin, access);
    if (is_misaligned) fault(MISALIGNED, array, variable.begin, access);
    Memory& shared = memories[watched.size() + 1];
    if (is_within(shared.begin, shared.end, access)) return check_cells(shared, access);
    Memory& memory = of_variables[index];
    if (!memory.end && !access.is_store()) return;  // a constant, as far as is known
    if (!memory.end) memory = memory_of(array, variable.begin, variable.end, true);
    check_cells(memory, access);
}

void check(const Access& access) {
    if (!is_watching || !is_running() || !access.size || is_giving_up()) return;
    const Running thread = running();
    const auto lowest = reinterpret_cast<uint64_t>(thread.stack);
    if (is_within(lowest - thread.guard_bytes, lowest + thread.stack_bytes, access)) return;
    const bool is_misaligned = access.size <= 16 && (access.size & (access.size - 1)) == 0 && access.at % access.size;
    for (size_t i = 0; i < watched.size(); ++i)
        if (is_within(watched[i].begin, watched[i].end, access)) {
            if (is_misaligned) fault(MISALIGNED, int32_t(i), watched[i].begin, access);
            return check_watched(i, access);
        }
    if (Memory& shared = memories[watched.size()]; is_within(shared.begin, shared.end, access)) {
        if (access.at + access.size > shared.end) out_of_bounds(access);
        if (is_misaligned) fault(MISALIGNED, shared.array, shared.begin, access);
        return check_cells(shared, access);
    }
    if (image().has(access.at)) return check_variable(access, is_misaligned);
    const auto behind = gifts.upper_bound(access.at);
    if (behind != gifts.begin())
        if (Memory& gift = std::prev(behind)->second; access.at + access.size <= gift.end) return check_cells(gift, access);
    for (const void* word : {static_cast<const void*>(&threadIdx), static_cast<const void*>(&blockIdx), static_cast<const void*>(&blockDim), static_cast<const void*>(&gridDim)})
        if (is_within(reinterpret_cast<uint64_t>(word), reinterpret_cast<uint64_t>(word) + sizeof(dim3), access)) return;
    const auto handed = reinterpret_cast<uint64_t>(arguments());
    if (is_within(handed - ARGUMENT_BYTES, handed + ARGUMENT_BYTES, access)) return;
    out_of_bounds(access);
}

inline void on_access(const void* at, uint64_t size, bool is_store, const void* pc, const void* frame) {
    check({reinterpret_cast<uint64_t>(at), size, is_store ? Way::STORE : Way::LOAD, pc, frame});
    if (is_store) hold_up();
}

void check_atomic(const void* at, size_t size, const void* pc, const void* frame) {
    check({reinterpret_cast<uint64_t>(at), size, ATOMIC, pc, frame});
    if (is_watching && is_running()) hear_and_tell(reinterpret_cast<uint64_t>(at));
}

}  // namespace

extern "C" {

// From now on: arrays, and variables of the library; no arrays: no longer.
void check_accesses(const Watched* arrays, unsigned count, unsigned and_variables, Where* stored_by, unsigned bytes_of_sample) {
    watched.assign(arrays, arrays + count);
    variables.assign(arrays + count, arrays + count + and_variables);
    memories.clear();
    memories.resize(count + 2);
    for (unsigned i = 0; i < count; ++i)
        if (watched[i].may_store) memories[i] = memory_of(int32_t(i), watched[i].begin, watched[i].end, watched[i].is_stored);
    for (auto& [begin, gift] : gifts) gift = memory_of(GIFT, begin, gift.end, true);
    writers = stored_by;
    sample_bytes = bytes_of_sample;
    hooks.at_launch = begin_launch;
    hooks.at_block = begin_block;
    hooks.at_pause = find_untold;
    hooks.at_gift = take_gift;
    hooks.at_meeting = pass_warp_barrier;
    hooks.at_block_barrier = pass_block_barrier;
    hooks.at_missed = note_missed;
    hooks.at_fence = pass_fence;
    hooks.at_atomic = check_atomic;
    is_watching = count;
    phase = 0;
    block_at.assign(1, 0);
    left_at[OF_DEVICE].clear();
    is_hearsay = false;
}
}

#include "accesses.h"
