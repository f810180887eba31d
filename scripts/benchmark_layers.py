"""ResNet18 at equal parameters, batch 8, 32x32: step time and peak memory of plain, direct and Fourier, as ratios.

python scripts/benchmark_layers.py                             H4, H4S4 and H4S4L4; ten minutes, most of them the direct H4S4L4
python scripts/benchmark_layers.py --groups h4 --rounds 20     any option of benchmark.py
"""

import sys

import benchmark

if __name__ == "__main__":
    sys.argv.insert(1, "networks")
    benchmark.main()
