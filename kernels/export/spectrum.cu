// ---- What the transforms need, worked out in double and rounded once.

using Complex = std::complex<double>;

// exp(-2 pi i n / FFT_LINE)
Complex root(long long n) {
    const double angle = -2.0 * 3.14159265358979323846 * double(n % FFT_LINE) / FFT_LINE;
    return {std::cos(angle), std::sin(angle)};
}

float2 rounded(Complex value) { return make_float2(float(value.real()), float(value.imag())); }

// What the spectrum of a tile is multiplied by: the conjugate of the weights' own.
std::vector<float2> spectrum() {
    std::vector<Complex> down(size_t(FFT_LINE) * KSIZE), roots(FFT_LINE);
    for (int n = 0; n < FFT_LINE; ++n) roots[n] = root(n);
    for (int k = 0; k < FFT_LINE; ++k)
        for (int i = 0; i < KSIZE; ++i)
            for (int j = 0; j < KSIZE; ++j)
                down[size_t(k) * KSIZE + i] += double(AS_DRAWN[j * KSIZE + i]) * roots[size_t(k) * j % FFT_LINE];
    std::vector<float2> made(size_t(FFT_LINE) * FFT_LINE);
    for (int k = 0; k < FFT_LINE; ++k)
        for (int l = 0; l < FFT_LINE; ++l) {
            Complex sum = 0.0;
            for (int i = 0; i < KSIZE; ++i) sum += down[size_t(k) * KSIZE + i] * roots[size_t(l) * i % FFT_LINE];
            made[size_t(k) * FFT_LINE + l] = rounded(std::conj(sum));
        }
    return made;
}

// (FFT_SIDE, FFT_SIDE): exp(-2 pi i k l / FFT_LINE) / FFT_SIDE.
std::vector<float2> roots_of_a_line() {
    std::vector<float2> made;
    for (int k = 0; k < FFT_SIDE; ++k)
        for (int l = 0; l < FFT_SIDE; ++l) made.push_back(rounded(root(k * l) / double(FFT_SIDE)));
    return made;
}
