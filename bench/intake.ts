import { join } from 'node:path'
import { runChild } from './lib/child.ts'
import { printTable, toMedian, toText } from './lib/figures.ts'
import { withFolder, writeSource } from './lib/workspace.ts'

const ROUNDS = 3
const SIZES = [1_000_000, 3_000_000]

/**
 * Intake of generated rows (parse, map, validate, journal) beside papaparse alone on the same file, each in a process
 * of its own, with its peak memory.
 */
export async function runIntakeBench(): Promise<void> {
  const table = [['rows', 'papaparse alone', 'sluice intake', 'ratio', 'papaparse peak', 'sluice peak']]
  for (const rows of SIZES) {
    await withFolder(async (folder) => {
      const path = join(folder, 'source.csv')
      writeSource(path, rows)
      const alone: { ms: number; mb: number }[] = []
      const intake: { ms: number; mb: number }[] = []
      for (let round = 1; round <= ROUNDS; round += 1) {
        alone.push(await measure('papaparse', path, rows))
        intake.push(await measure('intake', path, rows))
        console.log(
          `round ${round}, ${toText(rows)} rows: ${toText(alone.at(-1)?.ms ?? 0)} ms alone, ` +
            `${toText(intake.at(-1)?.ms ?? 0)} ms intake`,
        )
      }
      const [aloneMs, intakeMs] = [toMedian(alone.map(({ ms }) => ms)), toMedian(intake.map(({ ms }) => ms))]
      table.push([
        toText(rows),
        `${toText(aloneMs / 1000, 2)} s`,
        `${toText(intakeMs / 1000, 2)} s`,
        toText(intakeMs / aloneMs, 2),
        `${toText(toMedian(alone.map(({ mb }) => mb)))} MB`,
        `${toText(toMedian(intake.map(({ mb }) => mb)))} MB`,
      ])
    })
  }
  printTable(table)
}

async function measure(kind: string, path: string, rows: number): Promise<{ ms: number; mb: number }> {
  const { value, peakRssBytes } = await runChild<{ ms: number; rows: number }>('read', {
    kind,
    path,
  })
  if (value.rows !== rows) throw new Error(`${kind} read ${value.rows} of ${rows} rows`)
  return { ms: value.ms, mb: peakRssBytes / 1_000_000 }
}
