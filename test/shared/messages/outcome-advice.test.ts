import { expect, it } from 'vitest'
import {
  adviseInTerminal,
  adviseInWindow,
  findMendingStep,
} from '../../../src/shared/messages/outcome-advice.ts'
import { PROBLEM_MESSAGES } from '../../../src/shared/messages/problem-messages.ts'
import type { ErrorGroup, RunSummary } from '../../../src/shared/run/run.ts'

const STATUSES = [null, 400, 401, 403, 404, 408, 413, 429, 500, 503]
const CODES = [
  null,
  'INVALID_API_KEY',
  'INVALID_WATCHLIST',
  'INVALID_CUSTOM_INDEX',
  'INVALID_APPEAL',
  'PARAM_REQUIRED',
  'DUPLICATE_POST_ID',
]
const OUTCOMES: ErrorGroup['outcome'][] = ['rejected', 'failed', 'unknown', 'overdue']

const groups = STATUSES.flatMap((status) =>
  CODES.flatMap((error_code) =>
    OUTCOMES.map((outcome): ErrorGroup => ({ outcome, status, error_code, message: 'no', rows: 2 })),
  ),
)

const summary = (operation: string) =>
  ({
    run_id: 'r1',
    operation,
    api: 'v1',
    base_url: 'https://api.example.com',
    rows: { unknown: 1, overdue: 1 },
    requests: { succeeded: 1 },
    errors: [] as ErrorGroup[],
  }) as RunSummary

it.each(['task', 'index-add', 'watchlist-add', 'appeal-status'])(
  'advice for rows of %s exists in the window, and mentions no option or command',
  (operation) => {
    for (const group of groups) {
      const advice = adviseInWindow(group, operation)
      expect(advice, JSON.stringify(group)).not.toBe('')
      expect(advice).not.toMatch(/--[a-z]|\bsluice [a-z]/)
    }
  },
)

it("advice on the command line names the run's command if it has one", () => {
  const commands = groups.flatMap((group) => adviseInTerminal(group, summary('task'))?.command ?? [])
  expect(new Set(commands)).toEqual(
    new Set([
      'retry r1',
      'export r1 rejected.csv --state rejected',
      'retry r1 --delivered-code DUPLICATE_POST_ID',
    ]),
  )
})

it('advice for a refused key says that resume sends the refused rows again, as retry does', () => {
  const group: ErrorGroup = {
    outcome: 'rejected',
    status: 403,
    error_code: 'INVALID_API_KEY',
    message: 'no',
    rows: 2,
  }
  expect(adviseInTerminal(group, summary('task'))?.text).toContain(
    'retry sends these rows again, and so does resume while the run has rows that were not sent yet',
  )
})

it('advice for appeals of unknown outcome says that a look-up changes nothing', () => {
  const group: ErrorGroup = { outcome: 'unknown', status: 502, error_code: null, message: 'no', rows: 2 }
  const advice = [
    adviseInTerminal(group, summary('appeal-status'))?.text,
    adviseInWindow(group, 'appeal-status'),
  ]
  for (const text of advice) {
    expect(text).toMatch(/^A look-up changes nothing/)
    expect(text).not.toMatch(/accepted|post_id|duplicates/)
  }
})

it('advice for index adds of unknown outcome counts what may be added twice', () => {
  const group: ErrorGroup = { outcome: 'unknown', status: 502, error_code: null, message: 'no', rows: 2 }
  expect(adviseInTerminal(group, summary('index-add'))).toEqual({
    text: 'Sending again may add 2 items a second time: they may already be in the index.',
    command: 'retry r1 --resend-index-adds',
  })
})

it.each(Object.entries(PROBLEM_MESSAGES))(
  '%s mentions no option of a command',
  (_code, { title, remedy }) => {
    expect(`${title} ${remedy}`).not.toMatch(/--[a-z]/)
  },
)

it('leads back to the step that fixes what the service refused of every row, and nowhere otherwise', () => {
  const rows = { succeeded: 0, rejected: 5, failed: 0, unknown: 0, overdue: 0, awaiting: 0 }
  const group = { outcome: 'rejected' as const, status: 400, rows: 5 }
  const model = { ...group, error_code: 'INVALID_PARAM', message: 'models: "cats" is not a model of v1' }
  const field = { ...group, error_code: 'PARAM_REQUIRED', message: 'user_id' }
  const busy = { ...group, status: 503, error_code: 'BUSY', message: 'busy' }
  expect(findMendingStep(rows, [model], 'task')).toBe('operation')
  expect(findMendingStep(rows, [field, { ...field, outcome: 'invalid' }], 'task')).toBe('mapping')
  expect(findMendingStep(rows, [busy], 'task')).toBeNull()
  expect(findMendingStep(rows, [model, field], 'task')).toBeNull()
  expect(findMendingStep({ ...rows, succeeded: 1 }, [model], 'task')).toBeNull()
  expect(findMendingStep({ ...rows, rejected: 0 }, [], 'task')).toBeNull()
})
