import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { runChild } from './lib/child.ts'
import { printTable, toMedian, toText } from './lib/figures.ts'
import { withFolder } from './lib/workspace.ts'

const ROUNDS = 3
const RUNS = 10
const RUN_ROWS = 1_000_000
const ROWS = 1_000_000
const NEW_ROWS = 10

interface Measured {
  ms: number
  cpuMs: number
  rows: { read: number; not_sent: number; skipped?: number }
}

/**
 * Intake of a file of which earlier runs of the workspace have sent all but ten rows, with and without
 * `--only-new`, compared with the same intake in an empty workspace. Ids are spread over all runs, in random
 * order; in the last file every row has another text.
 */
export async function runResendBench(): Promise<void> {
  await withFolder(async (folder) => {
    const [known, empty] = [join(folder, 'known'), join(folder, 'empty')]
    for (const workspace of [known, empty]) mkdirSync(workspace)
    const source = join(folder, 'run.csv')
    for (let run = 0; run < RUNS; run += 1) {
      writeRows(source, RUN_ROWS, (at) => toLine(run * RUN_ROWS + at, ''))
      const { value } = await runChild<Measured>('resend', {
        path: source,
        workspace: known,
        onlyNew: false,
        keep: true,
      })
      console.log(`run ${run + 1} of ${RUNS}: ${toText(value.ms)} ms`)
    }
    const [again, changed] = [join(folder, 'again.csv'), join(folder, 'changed.csv')]
    const toRow = (text: string) => (at: number) =>
      at < ROWS - NEW_ROWS
        ? toLine((at * 7_919) % (RUNS * RUN_ROWS), text)
        : toLine(RUNS * RUN_ROWS + at, text)
    writeRows(again, ROWS, toRow(''))
    writeRows(changed, ROWS, toRow(' edited'))
    const contenders = [
      { name: 'no earlier runs', path: again, workspace: empty, onlyNew: false },
      { name: 'told only', path: again, workspace: known, onlyNew: false },
      { name: '--only-new', path: again, workspace: known, onlyNew: true },
      { name: '--only-new, other texts', path: changed, workspace: known, onlyNew: true },
    ]
    const found = new Map(contenders.map(({ name }) => [name, [] as (Measured & { mb: number })[]]))
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const { name, ...task } of round % 2 === 0 ? contenders.toReversed() : contenders) {
        const { value, peakRssBytes } = await runChild<Measured>('resend', { ...task, keep: false })
        if (task.onlyNew && value.rows.not_sent !== NEW_ROWS)
          throw new Error(`${name} would send ${value.rows.not_sent} rows`)
        found.get(name)?.push({ ...value, mb: peakRssBytes / 1_000_000 })
        console.log(`round ${round}, ${name}: ${toText(value.ms)} ms, ${JSON.stringify(value.rows)}`)
      }
    }
    const table = [['what', 'median', 'of no earlier runs', 'processor', 'peak memory']]
    const median = (name: string, of: (one: Measured & { mb: number }) => number) =>
      toMedian((found.get(name) ?? []).map(of))
    const first = median('no earlier runs', ({ ms }) => ms)
    for (const { name } of contenders) {
      const ms = median(name, (one) => one.ms)
      table.push([
        ...[name, `${toText(ms / 1000, 2)} s`, toText(ms / first, 2)],
        ...[
          `${toText(median(name, (one) => one.cpuMs) / 1000, 2)} s`,
          `${toText(median(name, ({ mb }) => mb))} MB`,
        ],
      ])
    }
    printTable(table)
  })
}

function toLine(id: number, text: string): string {
  return `post-${id},user${id % 9973},"the answer about order ${id} never came and nobody wrote back to me in a week${text}",ham\n`
}

function writeRows(file: string, rows: number, toRow: (at: number) => string): void {
  const descriptor = openSync(file, 'w')
  let chunk = 'post_id,user_id,text_data,label\n'
  for (let at = 0; at < rows; at += 1) {
    chunk += toRow(at)
    if (chunk.length > 1_000_000 || at === rows - 1) {
      writeSync(descriptor, chunk)
      chunk = ''
    }
  }
  closeSync(descriptor)
}
