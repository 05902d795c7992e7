"""The meaning of each figure of time, for tooltips and the help's page about numbers."""

FILTER_TIME = (
    "The filtering alone, without transfers: the median, the two quartiles, and the number of "
    "samples, n.\n"
    "One run, n = 1, is pale, gives no speed-up, and is measured again when nothing waits.\n"
    "On the GPU by CUDA events. “L2 cold”: the cache was emptied before each sample; "
    "“warm”: the picture may still be in it, which flatters small ones."
)
SPEED_UP = (
    "How many times as fast as the CPU implementation named with it, or how many times slower; "
    "beside the caption the 95 % interval of that ratio.\n"
    "Filter time against filter time, excluding transfers; “Total” includes them.\n"
    "“baseline”: what ran is itself what others are compared with."
)
UPLOAD = (
    "Bringing the picture to the GPU, once, by the computer's clock: the CPU copies it piece by "
    "piece into page-locked memory, and the GPU fetches it from there.\n"
    "“resident”: it was there already and was not sent again."
)
DOWNLOAD = (
    "Bringing the filtered picture back from the GPU, once, by the computer's clock, into "
    "page-locked memory that was ready."
)
TOTAL = "Upload, filter time and download together: two single transfers and the median."
THROUGHPUT = "Megapixels filtered per second (transfers excluded)."
BANDWIDTH = (
    "The picture read once and written once, over the filter time.\n"
    "Effective: what a kernel that wastes no access would move, not what this one moved."
)
COMPILE = (
    "Compiling the kernel for these settings, which is done once.\n"
    "“cached”: it had been compiled before."
)
VERDICT = (
    "Every answer is compared with the float64 reference.\n"
    "A speed counts only when the answer is right."
)
ALLOWED = (
    "\nHere 32-bit sums may be off by {:.3g}.  Rounded to whole numbers they may then differ by "
    "one, but only where the exact value lies that close to a half."
)
