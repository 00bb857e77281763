import type { Load } from '../../../shared/load/load.ts'

/** Maps a request's number to the position of its row among the valid rows. A pure function. */
export type RowOrder = (sequence: number) => number

/**
 * The order of a load's rows. Draws depend only on the seed and the request's number, so that every thread
 * and every later load draws the same. `weights` has one per row; without it all are alike.
 */
export function createRowOrder(
  { order, seed }: Pick<Load, 'order' | 'seed'>,
  count: number,
  weights: Float64Array | null = null,
): RowOrder {
  switch (order) {
    case 'source':
      return (sequence) => sequence % count
    case 'shuffled':
      return count <= DRAWN_MAX ? createDrawnShuffle(seed, count) : createNetworkShuffle(seed, count)
    case 'random':
      return weights === null
        ? (sequence) => Math.floor(draw(seed, sequence) * count)
        : createWeightedDraw(seed, weights)
  }
}

/** Up to this many rows, the order of each round is drawn: a small Feistel network favours some orders. */
const DRAWN_MAX = 1_024

/** Draws the order of a round with a Fisher-Yates shuffle: each is equally likely. */
function createDrawnShuffle(seed: number, count: number): RowOrder {
  const order = new Uint16Array(count)
  let drawn = -1
  const drawRound = (round: number) => {
    const key = toRoundKey(seed, round)
    for (let place = 0; place < count; place += 1) {
      const from = Math.floor(draw(key, place) * (place + 1))
      order[place] = order[from] ?? 0
      order[from] = place
    }
    drawn = round
  }
  return (sequence) => {
    const round = Math.floor(sequence / count)
    if (round !== drawn) drawRound(round)
    return order[sequence % count] ?? 0
  }
}

function toRoundKey(seed: number, round: number): number {
  return mix(round, seed)
}

/** A Feistel network: a permutation that needs no memory. */
function createNetworkShuffle(seed: number, count: number): RowOrder {
  const halfBits = Math.max(1, Math.ceil(Math.log2(Math.max(2, count)) / 2))
  const half = 2 ** halfBits
  const permute = (value: number, key: number): number => {
    let left = Math.floor(value / half)
    let right = value % half
    for (let round = 0; round < 4; round += 1) {
      const next = (left ^ mix(mix(right, key), round)) & (half - 1)
      left = right
      right = next
    }
    return left * half + right
  }
  return (sequence) => {
    const key = toRoundKey(seed, Math.floor(sequence / count))
    let position = sequence % count
    // A position beyond the rows is permuted again until it is one of theirs, so each row still comes once.
    do position = permute(position, key)
    while (position >= count)
    return position
  }
}

function createWeightedDraw(seed: number, weights: Float64Array): RowOrder {
  const sums = new Float64Array(weights.length)
  let total = 0
  for (const [position, weight] of weights.entries()) {
    total += weight
    sums[position] = total
  }
  return (sequence) => {
    const drawn = draw(seed, sequence) * total
    let low = 0
    let high = sums.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if ((sums[middle] ?? 0) > drawn) high = middle
      else low = middle + 1
    }
    return low
  }
}

/** A uniform number in [0, 1). */
function draw(seed: number, sequence: number): number {
  const low = sequence % 2 ** 32
  const high = Math.floor(sequence / 2 ** 32)
  const key = mix(high, seed)
  return (mix(low, key) * 2 ** 21 + (mix(low, key ^ 0x9e3779b9) >>> 11)) / 2 ** 53
}

/** Mixes two 32-bit numbers into one with MurmurHash3's finalizer. */
function mix(value: number, key: number): number {
  let mixed = (value ^ Math.imul(key, 0x9e3779b1)) | 0
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
