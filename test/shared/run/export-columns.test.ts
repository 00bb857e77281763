import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { operationSchema } from '../../../src/shared/operations/operations.ts'
import { isExportHeader, toAnswerColumn, toExportColumns } from '../../../src/shared/run/export-columns.ts'
import type { ExportRow } from '../../../src/shared/run/results.ts'
import { AnswerContent } from '../../../src/shared/service/answer-content.ts'

const KINDS = operationSchema.options.map(({ shape }) => shape.kind.value)

const toNames = (kind: (typeof KINDS)[number], classes: readonly string[] = []) =>
  toExportColumns(kind, { classes, hasVerdicts: true, hasTraces: true, withRaw: true }).map(
    ({ name }) => name,
  )

test('the page about exports lists every column', () => {
  const page = readFileSync(new URL('../../../docs/exports.md', import.meta.url), 'utf8')
  const listed = [...page.matchAll(/`(sluice_\w+)`/g)].map(([, name]) => name)
  const names = new Set(KINDS.flatMap((kind) => toNames(kind)))
  expect(new Set(listed)).toEqual(new Set([...names]))
})

test.each(KINDS)('the header of an export of %s is recognised as ours, and a part of it is not', (kind) => {
  const own = toNames(kind, ['hate', '=1+1'])
  expect(isExportHeader(['text', 'sluice_row', ...own])).toBe(true)
  expect(isExportHeader([...own, 'text', 'my note'])).toBe(true)
  expect(isExportHeader([...own.slice(0, 5), 'my note', ...own.slice(5)])).toBe(false)
  expect(isExportHeader(own.slice(1))).toBe(false)
})

test("the header of an earlier version's export is still recognised as ours", () => {
  const earlier =
    'text,sluice_row,sluice_state,sluice_status,sluice_error_code,sluice_message,sluice_task_id,sluice_post_id,' +
    'sluice_triggered_rules,sluice_duration_ms,sluice_attempts,sluice_custom_index_item_id,sluice_term_outcome,' +
    'sluice_appeal_status'
  expect(isExportHeader(earlier.split(','))).toBe(true)
})

/** The cell of a column for a task with this answer. */
function readColumn(name: string, body: string, rules: ExportRow['triggeredRules'] = []): string {
  const row = {
    content: new AnswerContent(body, 'content'),
    response: { body, cutFrom: null },
    callbacks: [],
    triggeredRules: rules,
  } as unknown as ExportRow
  const column = toAnswerColumn(name) ?? toExportColumns('task', {}).find((one) => one.name === name)
  return String(column?.read(row) ?? 'no such column')
}

test.each([
  [['Spam', 'Hate'], 'Spam; Hate'],
  [['Spam; or worse', 'Hate'], '["Spam; or worse","Hate"]'],
  [['Spam; Hate'], '["Spam; Hate"]'],
  [['["Spam"]'], '["[\\"Spam\\"]"]'],
  [[], ''],
])('names of rules are joined so that they can be told apart (%j)', (names, text) => {
  const rules = names.map((ruleName, index) => ({ ruleId: `r${index}`, ruleName }))
  expect(readColumn('sluice_triggered_rules', '{}', rules)).toBe(text)
})

test('an empty list in an answer differs from a missing one', () => {
  expect(readColumn('sluice_pii', '{"task_id":"t","pii_entities":[]}')).toBe('[]')
  expect(readColumn('sluice_pii', '{"task_id":"t"}')).toBe('')
  expect(readColumn('sluice_urls', '{"a":{"urls":[]},"b":{"urls":["https://a.test; b"]}}')).toBe(
    '["https://a.test; b"]',
  )
  expect(readColumn('answer.list', '{"list":[]}')).toBe('[]')
  expect(readColumn('answer.list', '{}')).toBe('')
})

test('a member that an answer has twice is a list of its values', () => {
  const body = '{"id":1,"user_id":"u-1","status":[],"user_id":4711}'
  expect(readColumn('answer.user_id', body)).toBe('["u-1",4711]')
  expect(readColumn('answer.user_id.0', body)).toBe('u-1')
  expect(readColumn('answer.user_id.1', body)).toBe('4711')
  expect(readColumn('answer.user_id', '{"user_id":"u-1"}')).toBe('u-1')
})
