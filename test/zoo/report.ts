import type { CellDifference } from './compare-tables.ts'

/** A cell of a file in which a second reader differs. */
export interface NotedDifference extends CellDifference {
  file: string
  reader: string
}

/** Differences that are correct, with the reason; an omitted pattern matches everything. */
export interface ExpectedDifference {
  reason: string
  /** Regular expressions. */
  file?: string
  reader?: string
  kind?: string
  format?: string
  ours?: string
  theirs?: string
}

/** The results for all files of a zoo. */
export interface ZooReport {
  files: number
  read: number
  crashes: { file: string; detail: string }[]
  hangs: { file: string; detail: string }[]
  refusals: { file: string; id: string; message: string; readBy: string[] }[]
  /**
   * Guesses about text that differ from the defaults: an encoding (with `?` if the person is asked), a
   * delimiter, quotes.
   */
  guesses: { file: string; reading: string; guess: string }[]
  readers: Map<string, { files: number; cells: number; differ: number; told: number; expected: number }>
  differences: NotedDifference[]
}

/** An empty report. */
export function createZooReport(): ZooReport {
  return {
    files: 0,
    read: 0,
    crashes: [],
    hangs: [],
    refusals: [],
    guesses: [],
    readers: new Map(),
    differences: [],
  }
}

/** Whether a difference is expected. */
export function isExpected(expected: readonly ExpectedDifference[], difference: NotedDifference): boolean {
  return expected.some(({ reason: _reason, ...patterns }) =>
    Object.entries(patterns).every(([key, pattern]) =>
      new RegExp(pattern, 'su').test(String(difference[key as keyof NotedDifference] ?? '')),
    ),
  )
}

const EXAMPLES = 5

/** The report as text. */
export function formatZooReport(report: ZooReport): string {
  const { files, read, crashes, hangs, refusals, guesses, readers, differences } = report
  const lines = [
    `${files} files: ${read} read, ${refusals.length} refused, ${crashes.length} crashed, ${hangs.length} hung`,
  ]
  for (const [what, list] of [
    ['crash', crashes],
    ['hang', hangs],
  ] as const) {
    for (const { file, detail } of list)
      lines.push(`  ${what}: ${file}: ${detail.split('\n').slice(0, 3).join(' ')}`)
  }
  for (const [id, group] of Map.groupBy(refusals, (refusal) => refusal.id)) {
    lines.push(`refused as ${id}: ${group.length}`)
    for (const { file, message, readBy } of group.slice(0, EXAMPLES * 2)) {
      lines.push(
        `  ${file}: ${message.slice(0, 160)}${readBy.length === 0 ? '' : ` (read by ${readBy.join(', ')})`}`,
      )
    }
  }
  for (const [what, group] of Map.groupBy(guesses, ({ reading, guess }) => `${guess} (${reading})`)) {
    const examples = group.slice(0, EXAMPLES).map(({ file }) => file)
    lines.push(`guessed ${what}: ${group.length}, such as ${examples.join(' ')}`)
  }
  for (const [reader, { files: compared, cells, differ, told, expected }] of readers) {
    lines.push(
      `${reader}: ${compared} files, ${cells} cells compared, ${differ} differ, ${told} differ in rows that are told, ${expected} differ as expected`,
    )
  }
  for (const [kind, group] of Map.groupBy(differences, ({ reader, kind: what }) => `${reader} ${what}`)) {
    const inFiles = new Set(group.map(({ file }) => file)).size
    lines.push(`differ, ${kind}: ${group.length} cells in ${inFiles} files`)
    for (const [, [one]] of Map.groupBy(group, ({ file }) => file)
      .entries()
      .take(EXAMPLES)) {
      if (one === undefined) continue
      const format = one.format === undefined ? '' : ` (${one.format})`
      lines.push(
        `  ${one.file} ${one.sheet || one.reading} ${one.row},${one.column}: ${show(one.ours)} | ${show(one.theirs)}${format}`,
      )
    }
  }
  return `${lines.join('\n')}\n`
}

function show(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}
