import { runChild } from './lib/child.ts'
import { printTable, toMedian, toText } from './lib/figures.ts'

const ROUNDS = 5
const COMMITS = 2_000

/** The guarantees of SQLite's `synchronous` levels; the journal's two are marked. */
const LEVELS = [
  { level: 'OFF', promise: 'nothing through a power cut, not even a sound file' },
  { level: 'NORMAL', promise: 'the death of the process (outcomes)' },
  { level: 'FULL', promise: 'a power cut (watermark, marks of retries, inbox)' },
  { level: 'EXTRA', promise: 'as FULL in WAL mode' },
]

/** The cost of committing a small group with each level of `synchronous`, on the temporary folder's disk. */
export async function runDurabilityBench(): Promise<void> {
  const figures = new Map<string, number[]>()
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const { level } of LEVELS) {
      const { value } = await runChild<number>('commit', { level, commits: COMMITS })
      figures.set(level, [...(figures.get(level) ?? []), value])
    }
  }
  const normal = toMedian(figures.get('NORMAL') ?? [])
  printTable([
    ['synchronous', 'µs a commit', 'of NORMAL', 'survives'],
    ...LEVELS.map(({ level, promise }) => {
      const us = toMedian(figures.get(level) ?? [])
      return [level, toText(us), toText(us / normal, 2), promise]
    }),
  ])
}
