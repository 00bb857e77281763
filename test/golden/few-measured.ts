import { noteFewMeasured } from '../../src/shared/load/load-view.ts'
import type { IntendedDifference } from './intended-differences.ts'

const COUNTED = /^ {2}(\w+) +([\d,]+) /

/** A table of latencies with the remark that today's has below it. */
function addRemark(lines: readonly string[]): string[] {
  const head = lines.findIndex((line) => / count .* p99 /.test(line))
  if (head === -1) return [...lines]
  let end = head + 1
  while (COUNTED.test(lines[end] ?? '')) end += 1
  const measured = lines.slice(head + 1, end).map((line) => {
    const [, metric = '', count = ''] = COUNTED.exec(line) ?? []
    return { metric, count: Number(count.replaceAll(',', '')) }
  })
  return [
    ...lines.slice(0, end),
    ...noteFewMeasured(measured).map((note) => `  ${note}`),
    ...lines.slice(end),
  ]
}

/** A row of a trend of text whose p99 is marked if it has few rows. */
function markFew(line: string): string {
  const [, rows = ''] = /^2026\S+ .* ([\d,]+) +[\d,]+ +!?[\d.,]+ +!?[\d.,]+$/.exec(line) ?? []
  if (rows === '' || Number(rows.replaceAll(',', '')) >= 100) return line
  return line.replace(/ (!?)([\d.,]+)$/, '$1~$2')
}

/** Differences about percentiles that few measurements have as the slowest of them. */
export const ABOUT_FEW_MEASURED: readonly IntendedDifference[] = [
  {
    reason: 'a summary says which percentiles are the slowest of few measurements',
    apply(answer) {
      const { args, stdout } = answer
      if (args[0] !== 'show' || !Array.isArray(stdout)) return answer
      return { ...answer, stdout: addRemark(stdout.map(String)) }
    },
  },
  {
    reason: 'a trend marks a p99 of few rows',
    apply(answer) {
      const { args, stdout } = answer
      if (args[0] !== 'trend' || !Array.isArray(stdout)) return answer
      const marked = stdout.map((line) => markFew(String(line)))
      const isMarked = marked.some((line, index) => line !== stdout[index])
      const note = '~ of fewer than 100 rows or requests, p99 is the slowest'
      if (!isMarked) return answer
      // Remarks on this machine come before, those on single runs behind.
      const machine = marked.findIndex((line) => line.startsWith('! latencies'))
      const runs = marked.findIndex((line) => /^2026\S+: /.test(line))
      const at = machine === -1 ? runs : machine + 1
      return { ...answer, stdout: at === -1 ? [...marked, note, ''] : marked.toSpliced(at, 0, note) }
    },
  },
  {
    reason: 'a comparison says which percentiles are the slowest of few measurements',
    apply(answer) {
      const { args, stdout } = answer
      if (args[0] !== 'compare' || !Array.isArray(stdout)) return answer
      const lines = stdout.map(String)
      const measured = lines.flatMap((line) => {
        const [, metric = '', sides = ''] = /^(\w+) {2}(.+ in A, .+ in B)$/.exec(line) ?? []
        const counts = sides.match(/[\d,]+(?= in [AB])/g) ?? []
        return counts.map((count) => ({ metric, count: Number(count.replaceAll(',', '')) }))
      })
      const at = lines.findIndex((line) => line.startsWith('Unsuccessful '))
      const remarks = noteFewMeasured(measured).flatMap((note) => [note, ''])
      return at === -1 ? answer : { ...answer, stdout: lines.toSpliced(at, 0, ...remarks) }
    },
  },
]
