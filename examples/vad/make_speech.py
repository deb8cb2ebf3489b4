#!/usr/bin/env python3
"""Writes a sound for example_vad: silence, a low voice, silence, a high voice, silence, 6.5 seconds in all.

    make_speech.py OUT.wav

The voices are pulses through three resonators that move from vowel to vowel, 220 ms each: enough for silero-vad.
"""

import array
import math
import random
import sys
import wave

RATE = 16000
SYLLABLE = int(0.22 * RATE)
# The first three formants of a, i, e, o, u, and their widths, in Hz.
VOWELS = ((700, 1220, 2600), (300, 2200, 3000), (400, 2000, 2550), (500, 900, 2400), (350, 800, 2250))
WIDTHS = (60, 90, 150)


def silence(seconds, noise):
    return [0.001 * noise.gauss(0, 1) for _ in range(int(seconds * RATE))]


def voice(seconds, low, high, noise):
    """Speech whose pitch moves between `low` and `high` Hz."""
    samples = []
    phase = 0.0
    memory = [[0.0, 0.0] for _ in WIDTHS]
    for i in range(int(seconds * RATE)):
        before = math.floor(phase)
        phase += (low + (high - low) * (0.5 + 0.5 * math.sin(2 * math.pi * 0.7 * i / RATE))) / RATE
        x = (math.floor(phase) != before) + 0.005 * noise.gauss(0, 1)
        part = i % SYLLABLE / SYLLABLE
        turn = max(0.0, (part - 0.6) / 0.4)  # to the next vowel
        this, following = (VOWELS[(i // SYLLABLE + k) % len(VOWELS)] for k in (0, 1))
        for j, width in enumerate(WIDTHS):
            formant = this[j] * (1 - turn) + following[j] * turn
            r = math.exp(-math.pi * width / RATE)
            c = 2 * r * math.cos(2 * math.pi * formant / RATE)
            x = x * (1 - c + r * r) + c * memory[j][0] - r * r * memory[j][1]
            memory[j] = [x, memory[j][0]]
        samples.append(x * math.sqrt(math.sin(math.pi * part)))
    loudest = max(map(abs, samples))
    return [0.5 * x / loudest for x in samples]


def main(path):
    noise = random.Random(1)
    samples = silence(1, noise) + voice(2, 110, 180, noise)
    samples += silence(1, noise) + voice(1.5, 180, 260, noise) + silence(1, noise)
    with wave.open(path, "wb") as file:
        file.setparams((1, 2, RATE, len(samples), "NONE", ""))
        data = array.array("h", (round(32767 * x) for x in samples))
        if sys.byteorder == "big":
            data.byteswap()
        file.writeframes(data.tobytes())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
