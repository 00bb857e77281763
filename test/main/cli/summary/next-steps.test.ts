import { describe, expect, it } from 'vitest'
import { formatNextSteps } from '../../../../src/main/cli/summary/next-steps.ts'
import { formatReportSection } from '../../../../src/main/cli/terminal/report-text.ts'
import { adviseInTerminal } from '../../../../src/shared/messages/outcome-advice.ts'
import { listRequestFacts, toRowsFact } from '../../../../src/shared/report/summary-report.ts'
import type { ErrorGroup, RunSummary } from '../../../../src/shared/run/run.ts'
import { createPlainTerminal } from '../plain-terminal.ts'

const terminal = createPlainTerminal(110)

function createGroup(changes: Partial<ErrorGroup>): ErrorGroup {
  return { outcome: 'rejected', status: 400, error_code: 'ODD', message: 'no', rows: 3, ...changes }
}

function createSummary(group: ErrorGroup, changes: Partial<RunSummary> = {}): RunSummary {
  return {
    run_id: 'r1',
    state: 'completed',
    rows: { read: 3, invalid: 0, succeeded: 0, rejected: 3, failed: 0, unknown: 0, overdue: 0, not_sent: 0 },
    requests: { sent: 3, succeeded: 0, rejected: 3, failed: 0, unknown: 0, retried: 0 },
    errors: [group],
    retries: [],
    sessions: [],
    whole_run: null,
    to_repeat: { rows: 0 },
    warnings: [],
    ...changes,
  } as RunSummary
}

describe('rows that were not sent', () => {
  it('are distinguished from rows that are to be repeated', () => {
    const rows = {
      read: 9,
      invalid: 0,
      succeeded: 4,
      rejected: 0,
      failed: 0,
      unknown: 0,
      overdue: 0,
      awaiting: 0,
      not_sent: 5,
    }
    const show = (changes: Partial<RunSummary>) =>
      formatReportSection(terminal, {
        facts: [toRowsFact(createSummary(createGroup({}), { rows, ...changes }))],
      }).join('\n')
    expect(show({})).toMatch(/not sent +5 .*not sent yet$/)
    expect(show({ to_repeat: { rows: 2 } })).toMatch(
      /not sent +3 .*not sent yet\n.*to be repeated +2 .*tried before, to be sent again$/,
    )
  })
})

describe('what to type next', () => {
  it('quotes a code that the service answered, and shows what a terminal would obey', () => {
    const code = 'DUPLICATE\u001b]0;title\u0007$(id)'
    const steps = formatNextSteps(terminal, createSummary(createGroup({ error_code: code })))
    expect(steps.join('\n')).toMatch(/retry r1 --delivered-code 'DUPLICATE[^']+\$\(id\)'/)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(steps.join('\n')).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
  })

  it('offers to send the rest of a trial of the first rows, and of nothing else that is complete', () => {
    const { rows } = createSummary(createGroup({}))
    const show = (notSent: number) =>
      formatNextSteps(
        terminal,
        createSummary(createGroup({}), { rows: { ...rows, not_sent: notSent } }),
      ).join()
    expect(show(5)).toMatch(/resume r1 +send the remaining rows/)
    expect(show(0)).not.toContain('resume')
  })

  it('says what resuming an interrupted run does: send rows, await callbacks, or only end it', () => {
    const none = { ...createSummary(createGroup({})).rows, rejected: 0 }
    const show = (counts: Partial<RunSummary['rows']>) =>
      formatNextSteps(
        terminal,
        createSummary(createGroup({}), { state: 'interrupted', errors: [], rows: { ...none, ...counts } }),
      ).join('\n')
    expect(show({ not_sent: 1, awaiting: 2 })).toMatch(/resume r1 +send the remaining rows/)
    expect(show({ awaiting: 2 })).toMatch(/resume r1 +await callbacks/)
    expect(show({ succeeded: 3 })).toMatch(/resume r1 +end the run; nothing is sent/)
    expect(show({ overdue: 3 })).toMatch(/receiver +receive late callbacks/)
    const unread: Partial<RunSummary> = { state: 'interrupted', errors: [], rows: none }
    const warnings = [{ code: 'SOURCE_UNREAD', message: '' }]
    expect(formatNextSteps(terminal, createSummary(createGroup({}), { ...unread, warnings })).join()).toMatch(
      /resume r1 +read the source and send its rows/,
    )
  })

  it('says of unknown rows what is done with them, whether or not other rows are left', () => {
    const rows = { ...createSummary(createGroup({})).rows, unknown: 2 }
    const show = (state: RunSummary['state']) =>
      formatNextSteps(terminal, createSummary(createGroup({}), { state, rows })).join('\n')
    expect(show('completed')).toMatch(/--on-unknown resend +send unknown rows again/)
    expect(show('interrupted')).toMatch(/--on-unknown resend +also send unknown rows/)
  })

  it.each([
    ['a final refusal', createGroup({}), false],
    ['a wrong key', createGroup({ status: 403, error_code: 'INVALID_API_KEY' }), true],
    ['a limit', createGroup({ status: 429 }), true],
    ['a trouble of the service', createGroup({ status: 503 }), true],
  ])('includes a retry after %s only if that may help', (_name, group, hasRetry) => {
    expect(formatNextSteps(terminal, createSummary(group)).join('\n').includes('retry r1')).toBe(hasRetry)
  })

  it.each([
    ['a parameter that is missing, answered with 403', 'watchlist-add', 'PARAM_REQUIRED'],
    ['media that is missing, answered with 403', 'index-add', 'REQUIRE_AT_LEAST_ONE_PARAM'],
    ['an appeal, which is read without a key', 'appeal-status', null],
    ['an appeal that is unknown, answered with 403', 'appeal-status', 'INVALID_APPEAL'],
  ])('says nothing about a key after %s', (_, operation, error_code) => {
    const group = createGroup({ status: 403, error_code })
    expect(adviseInTerminal(group, createSummary(group, { operation }))?.text).not.toMatch(/\bkeys?\b/i)
  })

  it('is about the key if the code says so, whatever the status', () => {
    const group = createGroup({ status: 400, error_code: 'INVALID_API_KEY' })
    expect(adviseInTerminal(group, createSummary(group, { operation: 'watchlist-add' }))?.text).toContain(
      'API key',
    )
  })

  it('does not suggest a retry after a load test with a wrong key', () => {
    const group = createGroup({ status: 403, error_code: 'INVALID_API_KEY' })
    const load = {} as NonNullable<RunSummary['load']>
    expect(adviseInTerminal(group, createSummary(group))?.command).toContain('retry r1')
    const advice = adviseInTerminal(group, createSummary(group, { load }))
    expect(advice?.command).toBeUndefined()
    expect(advice?.text).not.toContain('retry')
  })

  it('includes the code by which the service says that it has the posts already', () => {
    const group = createGroup({ error_code: 'DUPLICATE_POST_ID' })
    const command = 'retry r1 --delivered-code DUPLICATE_POST_ID'
    expect(formatNextSteps(terminal, createSummary(group)).join('\n')).toContain(command)
    expect(adviseInTerminal(group, createSummary(group))?.command).toContain(command)
    expect(adviseInTerminal(group, createSummary(group))?.text).toContain('--set "post_id={{run}}-{{row}}"')
  })

  it('says of corrected rows that the service may have them as they were', () => {
    const group = createGroup({ error_code: 'DUPLICATE_POST_ID' })
    const corrected = { rows: 1, cells: 1, fields: [{ field: 'text_data', cells: 1 }], split: 0 }
    const steps = formatNextSteps(terminal, createSummary(group, { corrected })).join('\n')
    expect(steps).toMatch(/run-again r1 .*new posts[\s\S]*--delivered-code .*only if they arrived corrected/)
    const advice = adviseInTerminal(group, createSummary(group, { corrected }))?.text
    expect(advice).toContain('It may have the rows as they were before they were corrected.')
  })

  it('does not take duplicate rows of the source for posts that the service already has', () => {
    const group = createGroup({ outcome: 'invalid', status: null, error_code: 'not_unique' })
    const steps = formatNextSteps(terminal, createSummary(group)).join('\n')
    expect(steps).not.toContain('--delivered-code')
  })

  it('says after a wrong key that retry sends what was refused', () => {
    const group = createGroup({ status: 401, error_code: null })
    const summary = createSummary(group, { state: 'stopped' })
    expect(adviseInTerminal(group, summary)?.text).toContain(
      'retry sends these rows again, and so does resume while',
    )
    expect(adviseInTerminal(group, summary)?.command).toContain('retry r1')
  })
})

describe('throughput', () => {
  const requests = { sent: 1, succeeded: 1, rejected: 0, failed: 0, unknown: 0, retried: 0 }
  const format = (duration_s: number, changes: Partial<RunSummary> = {}) =>
    formatReportSection(terminal, {
      facts: listRequestFacts(
        createSummary(createGroup({}), {
          requests,
          throughput: { duration_s, attempted_per_s: 2, succeeded_per_s: 38 },
          retry_after: { answers: 0, waited_s: 0 },
          from_cache: { rows: 0 },
          result_lost: { rows: 0 },
          ...changes,
        }),
      ),
    }).find((line) => line.startsWith('Throughput'))

  it('has no rate if sending took less than a tenth of a second', () => {
    expect(format(0.02)).toMatch(/^Throughput +sent for only 20 ms: too short for a rate$/)
    expect(format(0.5)).toMatch(/2\.0 requests\/s, 38\.0 rows succeeded\/s, over 500 ms$/)
  })

  it('leaves out the wait for callbacks, and says so', () => {
    const callbacks = { received: 1 } as NonNullable<RunSummary['callbacks']>
    expect(format(0.5, { callbacks })).toMatch(
      /38\.0 rows accepted\/s, over 500 ms \(excludes waiting for callbacks/,
    )
  })
})

it('does not offer to resume a run that duplicates stopped, since the retry sends the remaining rows as well', () => {
  const rows = {
    read: 9,
    invalid: 0,
    succeeded: 0,
    rejected: 3,
    failed: 0,
    unknown: 0,
    overdue: 0,
    not_sent: 6,
  }
  const duplicates = createGroup({ error_code: 'DUPLICATE_POST_ID' })
  const changes = { state: 'stopped', rows } as Partial<RunSummary>
  const said = formatNextSteps(terminal, createSummary(duplicates, changes)).join('\n')
  expect(said).not.toContain('resume r1')
  expect(said).toContain('retry r1 --delivered-code DUPLICATE_POST_ID')
  expect(formatNextSteps(terminal, createSummary(createGroup({}), changes)).join('\n')).toContain('resume r1')
})

it('accepts other ids in each command that goes on after a run that they stopped', () => {
  const rows = {
    read: 9,
    invalid: 0,
    succeeded: 0,
    rejected: 0,
    failed: 0,
    unknown: 5,
    overdue: 0,
    not_sent: 4,
  }
  const mismatched = createGroup({ outcome: 'unknown', error_code: 'ECHO_MISMATCH', rows: 5 })
  const echoes = { verified: 0, alike: 0, not_verifiable: 0, mismatched: 5 }
  const changes = { state: 'stopped', rows, echoes } as Partial<RunSummary>
  const list = (more: Partial<RunSummary> = {}) =>
    formatNextSteps(terminal, createSummary(mismatched, { ...changes, ...more })).filter((line) =>
      line.includes('resume r1'),
    )
  expect(list()).toEqual([
    expect.stringMatching(/resume r1 --accept ids_rewritten$/),
    expect.stringContaining('resume r1 --accept ids_rewritten --on-unknown resend'),
  ])
  expect(list({ echoes: { ...echoes, verified: 1 } }).join()).not.toContain('--accept')
  expect(list({ state: 'interrupted' }).join()).not.toContain('--accept')
})
