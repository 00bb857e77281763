import stringWidth from 'fast-string-width'
import { describe, expect, it } from 'vitest'
import { formatReportSection } from '../../../../src/main/cli/terminal/report-text.ts'
import type { Terminal } from '../../../../src/main/cli/terminal/terminal.ts'
import { listAnswerFacts, listCallbackFacts } from '../../../../src/shared/report/summary-report.ts'
import type { RunSummary } from '../../../../src/shared/run/run.ts'
import { createPlainTerminal } from '../plain-terminal.ts'

const formatAnswers = (terminal: Terminal, summary: RunSummary) =>
  formatReportSection(terminal, { facts: listAnswerFacts(summary) })
const formatCallbacks = (terminal: Terminal, summary: RunSummary) =>
  formatReportSection(terminal, { facts: listCallbackFacts(summary) })

/** As much of a summary as these sections read. */
function createSummary(changes: Partial<RunSummary>): RunSummary {
  return { operation: 'task', rows: { read: 3, invalid: 0, rejected: 0 }, ...changes } as RunSummary
}

const failed = Array.from({ length: 7 }, (_, index) => ({
  term: index === 0 ? 'a\u001b[2Jterm' : `term ${index + 1} ${'long '.repeat(30)}`,
  notes: index === 1 ? 'its notes' : null,
  row: index + 10,
  record: index + 9,
}))

const TERMS = createSummary({
  operation: 'watchlist-add',
  terms: { added: 1_200, pre_existing: 3, updated: 0, non_existent: 0, failed },
})

describe('the terms of a watchlist', () => {
  it('are counted by outcome, and the first failed ones are named', () => {
    const lines = formatAnswers(createPlainTerminal(110), TERMS)
    expect(lines[0]).toMatch(/^Terms +added +1,200$/)
    expect(lines[1]).toMatch(/^ +pre-existing +3 {2}already in the watchlist/)
    // Whether the source has notes is not known here, so none are said to be replaced.
    expect(lines[1]).not.toContain('their notes are those of the source')
    expect(lines[2]).toMatch(/^ +not processed +7 {2}the service could not process them/)
    expect(lines[3]).toContain('row 10: a\\u{1b}[2Jterm')
    expect(lines.at(-1)).toContain('and 2 terms more; --json has them')
    expect(lines.join('\n')).not.toMatch(/updated|non-existent/)
  })

  it.each([110, 80, 60])('fit a terminal of %i columns', (columns) => {
    for (const line of formatAnswers(createPlainTerminal(columns), TERMS)) {
      expect(stringWidth(line)).toBeLessThanOrEqual(columns)
    }
  })

  it('are reported as none if no request was answered or all were refused', () => {
    const terms = { added: 0, pre_existing: 0, updated: 0, non_existent: 0, failed: [] }
    expect(formatAnswers(createPlainTerminal(80), createSummary({ terms }))).toEqual([
      'Terms            none answered',
    ])
    const rows = { read: 3, invalid: 1, rejected: 2 } as RunSummary['rows']
    expect(formatAnswers(createPlainTerminal(80), createSummary({ terms, rows }))).toEqual([
      'Terms            none: every request was refused',
    ])
  })
})

describe('items, appeals and callbacks', () => {
  const terminal = createPlainTerminal(110)

  it('are only in the summary of their operation', () => {
    const summary = createSummary({})
    expect([...formatAnswers(terminal, summary), ...formatCallbacks(terminal, summary)]).toEqual([])
  })

  it('say how many there are of each kind', () => {
    const add = createSummary({ operation: 'index-add', items: { added: 12, removed: 0 } })
    expect(formatAnswers(terminal, add)[0]).toMatch(/^Items +added 12 +the export has their ids/)
    const remove = createSummary({ operation: 'index-remove', items: { added: 0, removed: 1_000 } })
    expect(formatAnswers(terminal, remove)).toEqual(['Items            removed 1,000'])
    const appeals = { in_review: 1, reviewed: 0, overturned: 2, upheld: 30, other_status: 4 }
    expect(formatAnswers(terminal, createSummary({ appeals })).map((line) => line.slice(17, 33))).toEqual([
      'In Review     1 ',
      'overturned    2 ',
      'upheld       30 ',
      'other status  4 ',
    ])
  })

  it('tell early, late, doubled, differing, misnamed and unreadable callbacks apart', () => {
    const callbacks = {
      received: 16,
      settled: 10,
      early: 2,
      late: 1,
      doubled: 3,
      differing: 2,
      other_post: 4,
      unreadable: 1,
    }
    expect(formatCallbacks(terminal, createSummary({ callbacks }))).toEqual([
      'Callbacks        16 received: 10 matched (2 before the acknowledgement, 1 late), 3 duplicates, 2 differing',
      '                 from the one that counts, 4 naming another id, 1 unreadable',
    ])
  })
})
