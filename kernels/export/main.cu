// words: IN and OUT, either or none; without a picture it makes noise.
int run(int count, char** words) {
    const Picture picture = count > 1 ? read_picture(words[1]) : made_picture();
    const Arrays arrays = prepared(allocated(sizeof(sample) * PITCH * HEIGHT));
    CHECK(cudaMemcpy2D(arrays.source, PITCH * sizeof(sample), picture.data(), ROW_SAMPLES * sizeof(sample),
                       ROW_SAMPLES * sizeof(sample), HEIGHT, cudaMemcpyHostToDevice));
    launch(arrays);  // the first one also loads the kernels
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());

    constexpr int RUNS = 20;
    float times_ms[RUNS];
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    for (float& time_ms : times_ms) {
        CHECK(cudaEventRecord(start));
        launch(arrays);
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&time_ms, start, stop));
    }
    std::sort(times_ms, times_ms + RUNS);
    std::printf("%s: median %.4f ms of %d runs, warm cache\n", NAME, (times_ms[RUNS / 2 - 1] + times_ms[RUNS / 2]) / 2, RUNS);

    const Picture answer = downloaded(arrays.target);
    const bool right = is_right(arrays, picture, answer);
    if (count > 2) write_picture(words[2], answer);
    return right ? 0 : 1;
}
