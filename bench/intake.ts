import { join } from 'node:path'
import { OTHER_CHECKOUT, runChild } from './lib/child.ts'
import { printTable, toMedian, toText } from './lib/figures.ts'
import { withFolder, writeSource } from './lib/workspace.ts'

const ROUNDS = 3
const SIZES = [1_000_000, 3_000_000]

interface Measured {
  ms: number
  mb: number
}

/** The contenders in alternating rounds: `papaparse` or `intake`, and the checkout of the latter. */
const CONTENDERS: readonly { name: string; kind: 'papaparse' | 'intake'; checkout: string | null }[] = [
  { name: 'papaparse alone', kind: 'papaparse', checkout: null },
  { name: 'sluice intake', kind: 'intake', checkout: null },
  ...(OTHER_CHECKOUT === null
    ? []
    : [{ name: 'intake of other checkout', kind: 'intake' as const, checkout: OTHER_CHECKOUT }]),
]

/**
 * Intake of generated rows (parse, map, validate, journal) beside papaparse alone on the same file, each in
 * its own process, with its peak memory.
 */
export async function runIntakeBench(): Promise<void> {
  const table = [['rows', 'what', 'median', 'of papaparse', 'peak memory']]
  for (const rows of SIZES) {
    await withFolder(async (folder) => {
      const path = join(folder, 'source.csv')
      writeSource(path, rows)
      const found = new Map(CONTENDERS.map(({ name }): [string, Measured[]] => [name, []]))
      for (let round = 1; round <= ROUNDS; round += 1) {
        for (const { name, kind, checkout } of round % 2 === 0 ? CONTENDERS.toReversed() : CONTENDERS) {
          const measured = await measure(kind, { path, rows, checkout })
          found.get(name)?.push(measured)
          console.log(`round ${round}, ${toText(rows)} rows, ${name}: ${toText(measured.ms)} ms`)
        }
      }
      const medians = [...found].map(([name, all]) => ({
        name,
        ms: toMedian(all.map(({ ms }) => ms)),
        mb: toMedian(all.map(({ mb }) => mb)),
      }))
      for (const { name, ms, mb } of medians) {
        const ratio = toText(ms / (medians[0]?.ms ?? ms), 2)
        table.push([toText(rows), name, `${toText(ms / 1000, 2)} s`, ratio, `${toText(mb)} MB`])
      }
    })
  }
  printTable(table)
}

async function measure(
  kind: 'papaparse' | 'intake',
  { path, rows, checkout }: { path: string; rows: number; checkout: string | null },
): Promise<Measured> {
  const { value, peakRssBytes } = await runChild<{ ms: number; rows: number }>(
    'read',
    { kind, path },
    checkout,
  )
  if (value.rows !== rows) throw new Error(`${kind} read ${value.rows} of ${rows} rows`)
  return { ms: value.ms, mb: peakRssBytes / 1_000_000 }
}
