import { expect, test } from 'vitest'
import { SluiceError } from '../../../src/shared/messages/errors.ts'
import {
  type ColumnChoice,
  chooseColumns,
  listAnswerPaths,
  listColumns,
} from '../../../src/shared/run/choose-columns.ts'
import { isExportHeader } from '../../../src/shared/run/export-columns.ts'
import { AnswerContent } from '../../../src/shared/service/answer-content.ts'
import { buildResult } from '../../main/engine/run/export/build-result.ts'

const SPAM = { ruleId: 'r1', ruleName: 'Spam' }

function choose(asked: readonly string[], parts: Partial<ColumnChoice> = {}) {
  return chooseColumns({
    asked,
    rulesAsColumns: false,
    operation: 'task',
    columns: ['id', 'text'],
    classes: ['hate', 'self,harm'],
    rules: [SPAM],
    ...parts,
  })
}

const toNames = (...args: Parameters<typeof choose>) =>
  choose(...args).map((column) => (typeof column === 'number' ? column : column.name))

function toContent(body: unknown): AnswerContent {
  return new AnswerContent(JSON.stringify(body), 'content')
}

/** A cell of the only requested column. */
function readCell(
  name: string,
  ...[result, parts]: [Parameters<typeof buildResult>[0], Partial<ColumnChoice>?]
) {
  const [column] = choose([name], parts)
  if (column === undefined || typeof column === 'number') throw new Error(`${name} is a column of the source`)
  return column.read(buildResult(result))
}

test('columns come in the requested order, each once', () => {
  expect(toNames(['sluice_state', 'text', 'scores', 'source', 'sluice_state', 'score.hate'])).toEqual([
    'sluice_state',
    1,
    'score.hate',
    'score.self,harm',
    0,
  ])
})

test('a source column whose name has another meaning gets a prefix', () => {
  const columns = ['sluice_state', 'scores', 'sluice_state']
  const asked = ['sluice_state', 'source.sluice_state', 'scores', 'source.scores']
  expect(toNames(asked, { columns })).toEqual(['sluice_state', 0, 'score.hate', 'score.self,harm', 1])
})

test('the file of a row is a column if the source has several files, and on request otherwise', () => {
  expect(toNames(['default'])).not.toContain('sluice_file')
  const names = toNames(['default'], { hasFiles: true })
  expect(names[names.indexOf('sluice_file') - 1]).toBe('sluice_attempts')
  expect(readCell('sluice_file', { place: { row: 7, line: null, file: 'b.csv' } })).toBe('b.csv')
  expect(readCell('sluice_file', {})).toBe('')
  expect(isExportHeader(['id', ...names.map(String)])).toBe(true)
})

test('verdict columns come automatically if there are verdicts, and are empty on request if not', () => {
  const verdicts = ['sluice_verdict', 'sluice_rule', 'sluice_note']
  expect(toNames(['default', 'all'])).not.toEqual(expect.arrayContaining(verdicts))
  expect(toNames(['default'], { hasVerdicts: true })).toEqual(expect.arrayContaining(verdicts))
  expect(toNames(['all'], { hasVerdicts: true })).toEqual(expect.arrayContaining(verdicts))
  expect(toNames(['sluice_verdict', 'sluice_state'])).toEqual(['sluice_verdict', 'sluice_state'])
  expect(readCell('sluice_verdict', {})).toBe('')
})

test("a source's own verdict column is meant until the run has verdicts", () => {
  const columns = ['text', 'sluice_verdict']
  expect(toNames(['sluice_verdict'], { columns })).toEqual([1])
  expect(toNames(['sluice_verdict', 'source.sluice_verdict'], { columns, hasVerdicts: true })).toEqual([
    'sluice_verdict',
    1,
  ])
})

test('several verdicts of a row are joined with their rules in the same order, and a common note appears once', () => {
  const given = { row: 1, note: 'an advert', given_at: '', stratum: null, stratum_rows: null }
  const verdicts = [
    { ...given, verdict: 'should' as const, rule: 'Hate' },
    { ...given, verdict: 'should-not' as const, rule: 'Spam' },
  ]
  expect(readCell('sluice_verdict', { verdicts })).toBe('should; should-not')
  expect(readCell('sluice_rule', { verdicts })).toBe('Hate; Spam')
  expect(readCell('sluice_note', { verdicts })).toBe('an advert')
})

test('each rule has its own column, with its id if names repeat', () => {
  const rules = [SPAM, { ruleId: 'r2', ruleName: 'Spam' }, { ruleId: 'r3', ruleName: '' }]
  expect(toNames(['rules'], { rules })).toEqual(['rule.Spam (r1)', 'rule.Spam (r2)', 'rule.r3'])
  expect(toNames(['id'], { rulesAsColumns: true })).toEqual([0, 'rule.Spam'])
})

test('a rule is true or false if the service decided, and empty if it did not', () => {
  expect(readCell('rule.Spam', { triggeredRules: [SPAM] })).toBe('true')
  expect(readCell('rule.Spam', { triggeredRules: [] })).toBe('false')
  for (const state of ['rejected', 'failed', 'unknown', 'pending', 'invalid', 'overdue'] as const) {
    expect(readCell('rule.Spam', { state }), state).toBe('')
  }
})

test('any member of the answer is a column by its path, also through lists', () => {
  const body = {
    user_id: '12345678901234567890',
    from_cache: false,
    status: [{ status: { code: 0 } }, { status: { code: 4, message: 'slow' } }, 'odd'],
    urls: ['https://one.example', 'https://two.example'],
    nothing: null,
  }
  const read = (name: string) => readCell(name, { content: toContent(body) })
  expect(read('answer.user_id')).toBe('12345678901234567890')
  expect(read('answer.from_cache')).toBe('false')
  expect(read('answer.status.status.code')).toBe('[0,4]')
  expect(read('answer.status.status.message')).toBe('slow')
  expect(read('answer.status.1.status')).toBe('{"code":4,"message":"slow"}')
  expect(read('answer.urls')).toBe('https://one.example; https://two.example')
  for (const path of ['nothing', 'missing', 'user_id.length', 'urls.9', 'constructor']) {
    expect(read(`answer.${path}`), path).toBe('')
  }
  expect(readCell('answer.user_id', {})).toBe('')
})

test('the bodies of the answer and of the settling callback are columns, unchanged', () => {
  const callback = { receivedAt: '2026-11-22T00:00:00.000Z', cutFrom: null }
  const result = {
    response: { body: '{"task_id": "t1"}', cutFrom: null },
    callbacks: [
      { ...callback, effect: 'unreadable', body: 'odd' },
      { ...callback, effect: 'settled', body: '{"n": 1.50}' },
    ],
  }
  expect(readCell('sluice_response', result)).toBe('{"task_id": "t1"}')
  expect(readCell('sluice_callback', result)).toBe('{"n": 1.50}')
  expect(readCell('sluice_callback', {})).toBe('')
})

test('an unknown column is refused with the nearest names', () => {
  const hint = (...args: Parameters<typeof choose>) => {
    try {
      return toNames(...args)
    } catch (error) {
      return error instanceof SluiceError && error.code === 'BAD_USAGE' ? error.hint : error
    }
  }
  expect(() => choose(['language'])).toThrow('the column `language` does not exist in this export')
  expect(hint(['language'])).toBe('Did you mean `sluice_language`?')
  expect(hint(['score.hat'])).toBe('Did you mean `score.hate`?')
  expect(hint(['Txt'])).toBe('Did you mean `text`?')
  expect(hint(['sluice_row_ids'])).toBe(
    'Did you mean `sluice_rule_ids` or `sluice_post_id` or `sluice_trace_id`?',
  )
  expect(hint(['triggered-rule'])).toBe('Did you mean `sluice_triggered_rules`?')
  for (const name of ['sluice_term_outcome', 'answer.', 'qqqqqqqqqqqq']) {
    expect(hint([name]), name).toContain('one of these sets of columns: default, all, source, scores, rules')
  }
})

test('an export of all columns, or with a column for each rule, is recognised as ours', () => {
  for (const names of [toNames(['all']), toNames(['default'], { rulesAsColumns: true })]) {
    expect(names).toContain('rule.Spam')
    expect(names.at(-1)).toBe('sluice_callback_latency_ms')
    expect(isExportHeader(names.map(String))).toBe(true)
  }
})

test('every column of the list can be chosen by its name, and those that may quote content are marked', () => {
  const choice = {
    operation: 'task',
    columns: ['id', 'text', 'id'],
    classes: ['hate'],
    rules: [SPAM],
  } satisfies Partial<ColumnChoice>
  const entries = listColumns(choice, ['user_id'])
  const names = entries.map(({ name }) => name)
  expect(toNames(names, choice)).toHaveLength(names.length)
  expect(entries.find(({ name }) => name === 'source.text')).toMatchObject({ title: 'text', group: 'source' })
  const quoting = entries.filter(({ hasContent }) => hasContent).map(({ name }) => name)
  expect(quoting).toEqual(expect.arrayContaining(['sluice_pii', 'answer.user_id', 'sluice_response']))
  expect(quoting).not.toContain('score.hate')
})

test('paths of answers lead to their values, through lists without a number', () => {
  const body = {
    user_id: 'u',
    status: [{ response: { language: 'EN' } }, { code: 0 }],
    'a.b': 1,
    none: null,
    empty: [],
  }
  const paths = listAnswerPaths([body, 'text'])
  expect(paths).toEqual(['user_id', 'status.response.language', 'status.code', 'none'])
  expect(readCell('answer.status.response.language', { content: toContent(body) })).toBe('EN')
})
