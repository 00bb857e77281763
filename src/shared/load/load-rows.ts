import type { Load } from './load.ts'
import { listRowTags } from './threshold-tags.ts'
import { readExpression } from './thresholds.ts'

/** The columns of the source that a load test needs beside those that are sent: of tags, and of weights. */
export function listLoadColumns({ thresholds, weight }: Load): string[] {
  const tags = listRowTags(thresholds.map(({ expression }) => readExpression(expression).tags))
  return [...new Set([...tags.map(({ name }) => name), ...(weight === undefined ? [] : [weight])])]
}

/** How often a row is sent as others are: a number of at least 0; null for any other text. */
export function parseWeight(cell: string): number | null {
  const text = cell.trim()
  const weight = /^\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(weight) ? weight : null
}
