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

// ---- The check: a sum in double for every sample, written to be obviously right.

template <typename T> double value_of(T stored) {
    if constexpr (IS_SAME<T, float16>) {
        const int exponent = stored.bits >> 10 & 31, fraction = stored.bits & 1023;
        const double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                          : exponent == 0  ? std::ldexp(fraction, -24)
                                           : std::ldexp(1024 + fraction, exponent - 25);
        return stored.bits >> 15 ? -size : size;
    } else return static_cast<double>(stored);
}

// Where position i is read from; -1 where the sample is zero.
int inside(int i, int size) {
    for (; i < 0 || i >= size;) switch (BORDER) {
        case ZERO: return -1;
        case CLAMP: i = i < 0 ? 0 : size - 1; break;
        case REFLECT: i = i < 0 ? -1 - i : 2 * size - 1 - i; break;  // the edge pixel twice
        case MIRROR: i = size == 1 ? 0 : i < 0 ? -i : 2 * size - 2 - i; break;
        default: i += i < 0 ? size : -size;
    }
    return i;
}

// The weighted sum at a pixel, which may lie beyond the edge: then that of where it is read from.
double weighted(const Picture& picture, int x, int y, int channel) {
    x = inside(x, WIDTH), y = inside(y, HEIGHT);
    if (x < 0 || y < 0) return 0.0;
    double sum = 0.0;
    for (int j = 0; j < KSIZE; ++j)
        for (int i = 0; i < KSIZE; ++i) {
            const int from_x = inside(x + i - RADIUS, WIDTH), from_y = inside(y + j - RADIUS, HEIGHT);
            if (from_x < 0 || from_y < 0) continue;
            sum += double(AS_DRAWN[j * KSIZE + i]) * value_of(picture[from_y * ROW_SAMPLES + from_x * CHANNELS + channel]);
        }
    return sum;
}

double filtered(const Picture& picture, int x, int y, int channel) {
    if (!GRADIENT) return weighted(picture, x, y, channel) + double(OFFSET);
    double gx = 0.0, gy = 0.0;  // Sobel's derivatives
    for (int n = -1; n <= 1; ++n) {
        const double count = n == 0 ? 2.0 : 1.0;
        gx += count * (weighted(picture, x + 1, y + n, channel) - weighted(picture, x - 1, y + n, channel));
        gy += count * (weighted(picture, x + n, y + 1, channel) - weighted(picture, x + n, y - 1, channel));
    }
    return std::sqrt(gx * gx + gy * gy);
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

double expected(const Picture& picture, int x, int y, int channel) {
    const double before = value_of(picture[y * ROW_SAMPLES + x * CHANNELS + channel]);
    if (HAS_ALPHA && channel == CHANNELS - 1) return before;
    const double made = filtered(picture, x, y, channel);
    return MIX == 1.0 ? made : MIX * stored(made) + (1.0 - MIX) * before;
}

// Whether `answer` is right; says how far off it is.  A large picture is checked in every n-th row.
bool is_right(const Picture& picture, const Picture& answer) {
    double largest = 0.0, worst = 0.0, worst_allowed = 0.0;
    for (const sample& each : picture)
        if (std::isfinite(value_of(each))) largest = std::fmax(largest, std::fabs(value_of(each)));
    const double products = double(HEIGHT) * ROW_SAMPLES * KSIZE * KSIZE * (GRADIENT ? 9 : 1);
    const int step = 1 + static_cast<int>(products / 3e8);
    size_t wrong = 0, rows = 0;
    for (int y = 0; y < HEIGHT; y += step, ++rows)
        for (size_t n = 0; n < ROW_SAMPLES; ++n) {
            const double sum = expected(picture, int(n / CHANNELS), y, int(n % CHANNELS));
            const double want = stored(sum), got = value_of(answer[y * ROW_SAMPLES + n]);
            if (got == want || (std::isnan(got) && std::isnan(want))) continue;
            const double error = std::fabs(got - want);
            const bool is_copied = HAS_ALPHA && n % CHANNELS == CHANNELS - 1;
            const double allowed = is_copied ? 0.0 : ERROR_A_UNIT * largest + ERROR_AT_ZERO + (MIX == 1.0 ? 1.0 : 1.0 + MIX) * rounding(want);
            if (!(error <= allowed)) ++wrong;
            if (!(error <= worst)) worst = error, worst_allowed = allowed;
        }
    std::printf("largest error %.6g (allowed there: %.6g), in %zu of %d rows: %s\n", worst, worst_allowed, rows,
                HEIGHT, wrong ? "WRONG" : "right");
    return wrong == 0;
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
