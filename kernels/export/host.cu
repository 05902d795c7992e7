// ---- Pictures: (HEIGHT, WIDTH, CHANNELS), as in the file, and on the device with rows PITCH samples apart.

using Picture = std::vector<sample>;
constexpr size_t ROW_SAMPLES = size_t(WIDTH) * CHANNELS;  // samples
constexpr bool IS_INTEGER = IS_SAME<sample, uint8> || IS_SAME<sample, uint16>;

[[noreturn]] void fail(const char* what, const char* why) {
    std::fprintf(stderr, "%s: %s\n", what, why);
    std::exit(2);
}

#define CHECK(call)                                                                     \
    do {                                                                                \
        const cudaError_t status = (call);                                              \
        if (status != cudaSuccess) fail(#call, cudaGetErrorString(status));    \
    } while (0)

// Noise, the same on every computer: splitmix64 of the sample's number.
template <typename T> T noise(uint64_t n) {
    n += 0x9e3779b97f4a7c15u * (n + 1);
    n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9u;
    n = (n ^ (n >> 27)) * 0x94d049bb133111ebu;
    n ^= n >> 31;
    if constexpr (IS_SAME<T, float32>) return static_cast<T>(n >> 40) / (1 << 24);  // 0 up to 1
    else if constexpr (IS_SAME<T, float16>) return T{static_cast<unsigned short>(0x3800 | (n & 0x3ff))};  // 0.5 up to 1
    else return static_cast<T>(n);
}

Picture made_picture() {
    Picture made(HEIGHT * ROW_SAMPLES);
    for (size_t n = 0; n < made.size(); ++n) made[n] = noise<sample>(n);
    return made;
}

bool is_pnm(const char* path) {
    const char* dot = std::strrchr(path, '.');
    return dot && (!std::strcmp(dot, ".pgm") || !std::strcmp(dot, ".ppm") || !std::strcmp(dot, ".pnm"));
}

void check_pnm(const char* path) {
    if (!IS_INTEGER || (CHANNELS != 1 && CHANNELS != 3))
        fail(path, "PGM and PPM hold 1 or 3 channels of integers; use a .raw file, samples and nothing else.");
}

// What a PNM file calls 256: its samples of two bytes begin with the high one, here the low one comes first.
void swap_bytes(Picture& picture) {
    auto* bytes = reinterpret_cast<unsigned char*>(picture.data());
    for (size_t n = 0; sizeof(sample) == 2 && n < picture.size(); ++n) std::swap(bytes[2 * n], bytes[2 * n + 1]);
}

int header_number(std::FILE* file, const char* path) {
    int number = 0, c = std::fgetc(file);
    for (; c == '#' || std::isspace(c); c = std::fgetc(file))
        while (c == '#' && c != EOF && (c = std::fgetc(file)) != '\n' && c != EOF) c = '#';
    if (!std::isdigit(c)) fail(path, "this is no PGM or PPM file.");
    for (; std::isdigit(c); c = std::fgetc(file)) number = number < 1000000 ? number * 10 + c - '0' : number;
    return number;
}

Picture read_picture(const char* path) {
    std::FILE* file = std::fopen(path, "rb");
    if (!file) fail(path, "cannot be read.");
    if (is_pnm(path)) {
        check_pnm(path);
        if (std::fgetc(file) != 'P' || std::fgetc(file) != (CHANNELS == 1 ? '5' : '6'))
            fail(path, CHANNELS == 1 ? "must be a binary PGM (P5)." : "must be a binary PPM (P6).");
        const int width = header_number(file, path), height = header_number(file, path);
        if (width != WIDTH || height != HEIGHT) fail(path, "has another size than this program was made for.");
        if (header_number(file, path) != (sizeof(sample) == 1 ? 255 : 65535)) fail(path, "has another pixel type.");
    }
    Picture picture(HEIGHT * ROW_SAMPLES);
    const size_t count = std::fread(picture.data(), sizeof(sample), picture.size(), file);
    if (count != picture.size() || std::fgetc(file) != EOF) fail(path, "has not as many samples as it should.");
    std::fclose(file);
    if (is_pnm(path)) swap_bytes(picture);
    return picture;
}

void write_picture(const char* path, Picture picture) {
    if (is_pnm(path)) check_pnm(path);
    std::FILE* file = std::fopen(path, "wb");
    if (!file) fail(path, "cannot be written.");
    if (is_pnm(path)) {
        std::fprintf(file, "P%d\n%d %d\n%d\n", CHANNELS == 1 ? 5 : 6, WIDTH, HEIGHT, sizeof(sample) == 1 ? 255 : 65535);
        swap_bytes(picture);
    }
    const size_t count = std::fwrite(picture.data(), sizeof(sample), picture.size(), file);
    if (std::fclose(file) != 0 || count != picture.size()) fail(path, "not all of it could be written.");
}

// ---- Samples as numbers.

template <typename T> double value_of(T stored) {
    if constexpr (IS_SAME<T, float16>) {
        const int exponent = stored.bits >> 10 & 31, fraction = stored.bits & 1023;
        const double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                          : exponent == 0  ? std::ldexp(fraction, -24)
                                           : std::ldexp(1024 + fraction, exponent - 25);
        return stored.bits >> 15 ? -size : size;
    } else return static_cast<double>(stored);
}

// What storing may round away, and what it cuts off.
double rounding(double value) {
    if (IS_INTEGER) return 0.5;
    return IS_SAME<sample, float16> ? std::ldexp(std::fabs(value), -11) + std::ldexp(1.0, -25) : 0.0;
}
double stored(double value) {
    if (IS_INTEGER) return std::fmin(std::fmax(value, 0.0), sizeof(sample) == 1 ? 255.0 : 65535.0);
    if (IS_SAME<sample, float16> && std::fabs(value) >= 65520.0) return std::copysign(INFINITY, value);
    return value;
}

// ---- On the device.

// Memory there, given to a kernel as whatever pointer it takes.
struct Memory {
    void* bytes = nullptr;
    template <typename T> operator T*() const { return static_cast<T*>(bytes); }
};

Memory allocated(size_t bytes) {
    Memory made;
    CHECK(cudaMalloc(&made.bytes, bytes));
    return made;
}

Memory uploaded(const void* values, size_t bytes) {
    const Memory made = allocated(bytes);
    CHECK(cudaMemcpy(made.bytes, values, bytes, cudaMemcpyHostToDevice));
    return made;
}

Picture downloaded(Memory from) {
    Picture made(HEIGHT * ROW_SAMPLES);
    CHECK(cudaMemcpy2D(made.data(), ROW_SAMPLES * sizeof(sample), from, PITCH * sizeof(sample),
                       ROW_SAMPLES * sizeof(sample), HEIGHT, cudaMemcpyDeviceToHost));
    return made;
}
