import { mersenne } from 'pure-rand/generator/mersenne'

/** Draws the next number from 0 up to, not including, 1. */
export type Random = () => number

/**
 * A stream of random numbers that repeats for a seed, a whole number of 32 bits. It equals numpy's
 * `RandomState(seed).random_sample()`, so that what Sluice draws can be reproduced elsewhere.
 */
export function createRandom(seed: number): Random {
  const generator = mersenne(seed)
  return () => {
    const high = generator.next() >>> 5
    const low = generator.next() >>> 6
    return (high * 0x400_0000 + low) / 0x20_0000_0000_0000
  }
}
