import type { Load } from '../../../shared/load/load.ts'

/** Which row a request sends: the position among the valid rows, by the number of the request. A pure function. */
export type RowOrder = (sequence: number) => number

/**
 * The order of a load's rows. What is drawn depends on the seed and the number of the request alone, so that every thread
 * and every later load draws the same. `weights`: of each row; all alike without them.
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
      return createShuffle(seed, count)
    case 'random':
      return weights === null
        ? (sequence) => Math.floor(draw(seed, sequence) * count)
        : createWeightedDraw(seed, weights)
  }
}

/** Rows whose order is drawn for each round: a Feistel network of few bits favours some orders. */
const DRAWN_MAX = 1_024

/** Each round has all rows, in an order of its own. */
function createShuffle(seed: number, count: number): RowOrder {
  return count <= DRAWN_MAX ? createDrawnShuffle(seed, count) : createNetworkShuffle(seed, count)
}

/** Draws the order of a round as Fisher and Yates do: each is as likely as any other. */
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

/** A permutation that needs no memory, a Feistel network. */
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
    // What falls beyond the rows is permuted again, until it falls among them: each row still comes once.
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

/** A number from 0 to below 1, evenly. */
function draw(seed: number, sequence: number): number {
  const low = sequence % 2 ** 32
  const high = Math.floor(sequence / 2 ** 32)
  const key = mix(high, seed)
  return (mix(low, key) * 2 ** 21 + (mix(low, key ^ 0x9e3779b9) >>> 11)) / 2 ** 53
}

/** Mixes two numbers of 32 bits into one, as the end of MurmurHash3 does. */
function mix(value: number, key: number): number {
  let mixed = (value ^ Math.imul(key, 0x9e3779b1)) | 0
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
