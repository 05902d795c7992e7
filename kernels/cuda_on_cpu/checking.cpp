// Checks each access of device code while it runs on the CPU: is it within an array, aligned, stored
// before, and in no race?
//
// Each byte that can be stored to has a cell that remembers who stored it last, and who touched it
// since.  Two accesses of which one stores are a race unless a barrier, or a fence and an atomic that
// others saw, lies between them: not in the order that threads happened to run in, but in any.
#include "fibers.h"

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

// As WATCHED in shim.py.
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
// Memory that a thread may mean: an array, a variable of the library, dynamic shared memory, a gift.
struct Region : Watched {
    int32_t array = NOWHERE;
    std::vector<std::unique_ptr<Cell[]>> pages{};  // of cells, as far as they are wanted

    bool has(uint64_t at) const { return at - begin < end - begin; }
    Cell& cell(uint64_t at) {
        if (pages.empty()) pages.resize((end - begin + PAGE - 1) / PAGE);
        auto& page = pages[(at - begin) / PAGE];
        if (!page) {
            page = std::make_unique<Cell[]>(PAGE);
            if (is_stored) std::for_each_n(page.get(), PAGE, [](Cell& cell) { cell.store = FROM_THE_START; });
        }
        return page[(at - begin) % PAGE];
    }
};
Region no_region{};

constexpr uint64_t ARGUMENT_BYTES = 512;  // what launches a kernel keeps them so near
constexpr uint64_t CHUNK_BYTES = 16;      // the most that a thread stores at once
constexpr unsigned WARP = 32;

std::map<uint64_t, Region> regions;  // by their begins
std::array<Region*, 4> recent;       // of them, that were looked for: nearly all accesses are to so few
int32_t arrays;                      // those of a launch have numbers below this; then come variables
std::vector<Watched> variables;      // of the library, from its begin
std::vector<Place> places(1);  // the first is none
std::unordered_map<uint64_t, uint32_t> known_places;
bool is_watching;
Where* writers;  // of the picture's samples, each
uint64_t sample_bytes;

uint64_t address(const void* at) { return reinterpret_cast<uint64_t>(at); }

Region* region_at(uint64_t at) {
    static unsigned next;
    for (Region* each : recent)
        if (each->has(at)) return each;
    const auto behind = regions.upper_bound(at);
    if (behind == regions.begin() || !std::prev(behind)->second.has(at)) return nullptr;
    return recent[next++ % recent.size()] = &std::prev(behind)->second;
}

// Memory of the block or of a thread; what lay there before was freed.
void add_memory(uint64_t begin, uint64_t bytes, int32_t array) {
    recent.fill(&no_region);
    regions.erase(regions.lower_bound(begin), regions.lower_bound(begin + bytes));
    if (bytes) regions[begin] = {{begin, begin + bytes, 0, 0, false, true}, array};
}

// To note it takes memory as well, which is none of a thread's.
void take_gift(const void* memory, size_t bytes) {
    static bool is_noting;
    if (is_noting || !is_running()) return;
    is_noting = true;
    add_memory(address(memory), bytes, GIFT);
    is_noting = false;
}

// Where the library lies is known as it is launched.
void add_variables() {
    for (size_t i = 0; i < variables.size(); ++i) {
        Watched variable = variables[i];
        variable.begin += image().begin, variable.end += image().begin;
        regions[variable.begin] = {variable, arrays + int32_t(i)};
    }
}

// ---- What is over before what. -----------------------------------------------------------------

// A warp's clock goes on at each of its barriers and fences.
struct Thread {
    std::array<uint32_t, WARP> known{};        // of each lane of its warp is over what came before this clock
    uint32_t least_known = 0, most_known = 0;  // of them
};
// What is over of a block: all before a phase, and of each thread what came before a clock.
struct Past {
    uint32_t phase = 0;
    std::vector<uint32_t> clocks;
};
using Pasts = std::map<unsigned, std::shared_ptr<const Past>>;  // by block
// What threads learn of each other by atomics, where they use fences.
struct Hearsay {
    Pasts known, told_block, told_device;  // told: at its last fence
};
constexpr Pasts Hearsay::*TOLD[] = {&Hearsay::told_block, &Hearsay::told_device};

uint32_t phase, block_phase;      // now, and as the block began
std::vector<unsigned> block_at;   // by phase
std::vector<Thread> threads;      // of the block, as all of these
std::vector<uint32_t> clocks;     // of its warps
std::vector<Hearsay> hearsay;
std::unordered_map<uint64_t, Pasts> left_at[2];  // as TOLD, by the address of an atomic
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
    for (Pasts Hearsay::*part : {&Hearsay::known, TOLD[0], TOLD[1]}) {
        Pasts all;
        for (unsigned i = first; i < end; ++i)
            if (lanes >> i % WARP & 1) join(all, hearsay[i].*part);
        for (unsigned i = first; i < end; ++i)
            if (lanes >> i % WARP & 1) hearsay[i].*part = all;
    }
}

// A thread that has ended is waited for nowhere.  But one that went around a barrier, and did what others do
// behind it, should have come: its last place tells.
struct Trail {
    std::vector<bool> places;  // that it has touched memory in
    uint32_t last = 0;

    bool has(uint32_t place) const { return place < places.size() && places[place]; }
};
std::vector<Trail> trails;  // of the block's threads
struct Missed {
    unsigned first, end;  // threads that waited are of these
    std::string words;
};
std::unordered_multimap<uint32_t, Missed> missed_at;  // by the last place of one that was not there

void note_missed(unsigned first, unsigned end, const char* words) {
    for (unsigned i = first; i < end; ++i)
        if (has_ended(i) && !trails[i].places.empty()) missed_at.emplace(trails[i].last, Missed{first, end, words});
}

void follow(unsigned me, uint32_t place) {
    Trail& trail = trails[me];
    trail.last = place;
    if (trail.has(place)) return;
    const auto [begin, end] = missed_at.equal_range(place);
    for (auto found = begin; found != end; ++found)
        if (found->second.first <= me && me < found->second.end) give_up(found->second.words.c_str());
    if (place >= trail.places.size()) trail.places.resize(place + 1);
    trail.places[place] = true;
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

void hear_and_tell(uint64_t address) {
    if (!is_hearsay) return;
    Hearsay& mine = hearsay[running().number];
    for (int scope = 0; scope < 2; ++scope) {
        Pasts& left = left_at[scope][address];
        join(mine.known, left);
        join(left, mine.*TOLD[scope]);
    }
}

// A block's own memory as the thread that runs has found it.  Compilers tell nothing of a structure that a
// function's call returns there: what has changed, and nobody told of, that thread has stored.
struct Found {
    const unsigned char *begin, *end;
    std::vector<unsigned char> bytes;

    bool is_changed() const { return !bytes.empty() && std::memcmp(begin, bytes.data(), bytes.size()); }
};
std::array<Found, 2> found;  // static, dynamic

void look_again() {
    for (Found& each : found) each.bytes.assign(each.begin, each.end);
}

void begin_block() {
    const Statics own = launched.static_shared;
    const auto* const dynamic = static_cast<const unsigned char*>(dynamic_shared());
    found[0] = {reinterpret_cast<unsigned char*>(own.begin), reinterpret_cast<unsigned char*>(own.end), {}};
    found[1] = {dynamic, dynamic + launched.dynamic_shared_bytes, {}};
    look_again();
    if (!phase) add_variables();
    add_memory(address(dynamic), launched.dynamic_shared_bytes, DYNAMIC_ARRAY);
    for (auto each = regions.lower_bound(address(own.begin)); each != regions.lower_bound(address(own.end)); ++each)
        each->second.is_stored = false, each->second.pages.clear();
    next_phase();
    block_phase = phase;
    threads.assign(blockDim.x * blockDim.y, {});
    clocks.assign((threads.size() + WARP - 1) / WARP, 0);
    hearsay.assign(threads.size(), {});
    trails.assign(threads.size(), {});
    missed_at.clear();
    left_at[0].clear();
}

// Of those lanes, those whose touch the thread that runs has not heard to be over.
uint32_t unheard(const Touch& touch, uint32_t lanes, const Pasts& known) {
    const auto heard = known.find(block_at[touch.phase]);
    if (heard == known.end()) return lanes;
    const Past& past = *heard->second;
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

enum Way { LOAD, STORE, ATOMIC };
struct Access {
    uint64_t at, size;
    Way way;
    const void *pc, *frame;
    bool is_store() const { return way != LOAD; }
};

uint32_t place_of(const Access& access) {
    const auto* words = static_cast<const uint64_t*>(access.frame);
    uint64_t key = address(access.pc) * 0x9e3779b97f4a7c15;
    for (int depth = 0; depth < 3; ++depth) {
        key = (key ^ words[1]) * 0x9e3779b97f4a7c15;
        if (words[0] <= address(words)) break;
        words = reinterpret_cast<const uint64_t*>(words[0]);
    }
    const auto [known, is_new] = known_places.try_emplace(key, uint32_t(places.size()));
    if (is_new) {
        Where where{};
        find_where(where, access.pc, access.frame);
        places.push_back(where.pcs);
    }
    return known->second;
}

void fill(Report& report, Kind kind, const Region& region, const Access& access) {
    report.array = region.array;
    report.array_bytes = region.end - region.begin;
    report.offset = int64_t(access.at - region.begin);
    report.size = uint32_t(access.size);
    report.is_store = access.is_store();
    report.address = access.at;
    find_where(report.here, access.pc, access.frame);
    if (!access.pc)  // near its last access that was told of
        report.here.pcs = places[trails[running().number].last];
    report.kind = kind;
}

[[noreturn]] void fault(Kind kind, const Region& region, const Access& access) {
    fill(reports->fault, kind, region, access);
    give_up("fault");
}

void suspect(Kind kind, const Region& region, const Access& access) {
    // Of the answer above all: what it held before is nothing that a right kernel reads.
    if (!reports->suspicion.kind || (kind == UNINITIALISED && region.row_bytes)) fill(reports->suspicion, kind, region, access);
}

// Goes on until the block has ended: where one of the two waits at a barrier that the other never comes
// to, that is why there is a race.
void race(const Region& region, const Touch& before, uint32_t lanes, bool stored, const Access& access) {
    const unsigned block = block_at[before.phase], thread = before.warp * WARP + unsigned(__builtin_ctz(lanes));
    reports->fault.there = {int32_t(block % gridDim.x), int32_t(block / gridDim.x), int32_t(thread % blockDim.x),
                            int32_t(thread / blockDim.x), places[before.place]};
    reports->fault.other_stores = stored;
    fill(reports->fault, RACE, region, access);
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

void check_cells(Region& region, const Access& access) {
    const unsigned me = running().number;
    Touch now{phase, clocks[me / WARP], 1u << me % WARP};
    now.place = access.pc ? place_of(access) : trails[me].last, now.warp = me / WARP;
    if (access.pc) follow(me, now.place);
    for (uint64_t at = access.at; at < access.at + access.size; ++at) {
        Cell& cell = region.cell(at);
        if (const uint32_t lanes = unordered(cell.store, me)) return race(region, cell.store, lanes, true, access);
        if (access.way != ATOMIC)
            if (const uint32_t lanes = unordered(cell.atomic, me)) return race(region, cell.atomic, lanes, true, access);
        if (access.is_store())
            for (const Touch& load : cell.loads)
                if (const uint32_t lanes = unordered(load, me)) return race(region, load, lanes, false, access);
        if (access.way != STORE && !cell.store.lanes && !cell.atomic.lanes) suspect(UNINITIALISED, region, access);
        if (access.way == STORE) cell = {now, {}, {}};
        else if (access.way == ATOMIC) cell.atomic = now;
        else remember_load(cell, now, me);
    }
}

void find_untold() {
    if (!is_watching || is_giving_up()) return;
    if (!found[0].is_changed() && !found[1].is_changed()) return;
    const unsigned me = running().number;
    const auto is_told = [&](const Touch& touch) {
        return touch.phase == phase && touch.warp == me / WARP && touch.lanes >> me % WARP & 1;
    };
    for (const Found& each : found)
        for (size_t i = 0; i < each.bytes.size() && !is_giving_up(); ++i) {
            const uint64_t at = address(each.begin + i);
            Region* const region = each.begin[i] == each.bytes[i] ? nullptr : region_at(at);
            if (!region) continue;
            const Cell& cell = region->cell(at);
            if (!is_told(cell.store) && !is_told(cell.atomic)) check_cells(*region, {at, 1, STORE, nullptr, nullptr});
        }
    look_again();
}

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
    hearsay[me].told_block = all;
    if (!of_block) hearsay[me].told_device = all;
    is_hearsay = true;
}

// What an access outside of all arrays was meant for: the nearest that is loaded from, or stored to.
[[noreturn]] void out_of_bounds(const Access& access) {
    const Region* meant = &no_region;
    uint64_t nearest = 1 << 28;
    for (const auto& [begin, region] : regions) {
        const bool is_array = region.array < arrays && (access.is_store() ? region.may_store : region.is_stored);
        if (region.array != DYNAMIC_ARRAY && (region.array < 0 || !is_array)) continue;
        const uint64_t away = access.at < begin ? begin - access.at : access.at - region.end + 1;
        if (away < nearest) nearest = away, meant = &region;
    }
    fault(BOUNDS, *meant, access);
}

void check_rows(const Region& region, const Access& access) {
    const uint64_t column = (access.at - region.begin) % region.pitch_bytes;
    // The last chunk of a row may be stored as a whole, as poison.py has it.
    const uint64_t chunks = (region.row_bytes + CHUNK_BYTES - 1) / CHUNK_BYTES * CHUNK_BYTES;
    if (column >= (access.is_store() ? chunks : region.row_bytes)) fault(PADDING, region, access);
    if (column >= region.row_bytes) suspect(PADDING, region, access);
    if (access.is_store() && writers)
        for (uint64_t at = access.at; at < access.at + access.size; at += sample_bytes)
            find_where(writers[(at - region.begin) / sample_bytes], access.pc, access.frame);
}

// Nothing lies between variables; between what cannot be written to, literals do, of which nobody knows.
void check_beside(const Access& access) {
    const auto is_within = [&](const void* begin, uint64_t bytes) { return access.at - address(begin) < bytes; };
    if (image().has(access.at)) {
        const auto behind = regions.upper_bound(access.at);
        if (access.at < image().variables || behind == regions.begin()) return;
        const Region& before = std::prev(behind)->second;
        return before.array < arrays ? void() : fault(BOUNDS, before, access);
    }
    for (const void* word : {static_cast<const void*>(&threadIdx), static_cast<const void*>(&blockIdx), static_cast<const void*>(&blockDim), static_cast<const void*>(&gridDim)})
        if (is_within(word, sizeof(dim3))) return;
    if (!is_within(static_cast<const char*>(launched.arguments) - ARGUMENT_BYTES, 2 * ARGUMENT_BYTES)) out_of_bounds(access);
}

void check(const Access& access) {
    if (!is_watching || !is_running() || !access.size || is_giving_up()) return;
    if (access.at - (address(running().stack) - GUARD_BYTES) < GUARD_BYTES + STACK_BYTES) return;
    Region* const region = region_at(access.at);
    if (!region) return check_beside(access);
    if (access.at + access.size > region->end) fault(BOUNDS, *region, access);
    if (access.size <= 16 && (access.size & (access.size - 1)) == 0 && access.at % access.size) fault(MISALIGNED, *region, access);
    if (access.is_store() && !region->may_store) fault(READ_ONLY, *region, access);
    if (region->row_bytes) check_rows(*region, access);
    if (!region->may_store) return;
    const bool is_constant = region->array >= arrays && region->is_stored && region->pages.empty();
    if (access.way != LOAD || !is_constant) check_cells(*region, access);
}

inline void on_access(const void* at, uint64_t size, bool is_store, const void* pc, const void* frame) {
    check({address(at), size, is_store ? Way::STORE : Way::LOAD, pc, frame});
    if (is_store) hold_up();
}

void check_atomic(const void* at, size_t size, const void* pc, const void* frame) {
    check({address(at), size, ATOMIC, pc, frame});
    if (is_watching && is_running()) hear_and_tell(address(at));
}

}  // namespace

extern "C" {

// From now on: arrays, and variables of the library; no arrays: no longer.
void check_accesses(const Watched* watched, unsigned count, unsigned and_variables, Where* stored_by, unsigned bytes_of_sample) {
    recent.fill(&no_region);
    std::erase_if(regions, [](const auto& each) { return each.second.array != GIFT; });
    for (auto& [begin, gift] : regions) gift.is_stored = true, gift.pages.clear();
    for (unsigned i = 0; i < count; ++i) regions[watched[i].begin] = {watched[i], int32_t(i)};
    arrays = int32_t(count);
    variables.assign(watched + count, watched + count + and_variables);
    writers = stored_by;
    sample_bytes = bytes_of_sample;
    hooks.at_block = begin_block;
    hooks.at_pause = find_untold;
    hooks.at_gift = take_gift;
    hooks.at_meeting = pass_warp_barrier;
    hooks.at_block_barrier = [] {
        next_phase();
        share_hearsay(0, unsigned(threads.size()), ~0u);
    };
    hooks.at_missed = note_missed;
    hooks.at_fence = pass_fence;
    hooks.at_atomic = check_atomic;
    is_watching = count;
    phase = 0;
    block_at.assign(1, 0);
    left_at[1].clear();
    is_hearsay = false;
}
}

#include "accesses.h"
