import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { operationSchema } from '../../../src/shared/plan/operation.ts'
import { isExportHeader, toExportColumns } from '../../../src/shared/run/export-columns.ts'

const KINDS = operationSchema.options.map(({ shape }) => shape.kind.value)

const toNames = (kind: (typeof KINDS)[number], classes: readonly string[] = []) =>
  toExportColumns(kind, { classes, hasVerdicts: true, withRaw: true }).map(({ name }) => name)

test('the page about exports lists every column', () => {
  const page = readFileSync(new URL('../../../docs/exports.md', import.meta.url), 'utf8')
  const listed = [...page.matchAll(/`(sluice_\w+)`/g)].map(([, name]) => name)
  const names = new Set(KINDS.flatMap((kind) => toNames(kind)))
  expect(new Set(listed)).toEqual(new Set([...names]))
})

test.each(KINDS)('the header of an export of %s is known as one of ours, and a part of it is not', (kind) => {
  const own = toNames(kind, ['hate', '=1+1'])
  expect(isExportHeader(['text', 'sluice_row', ...own])).toBe(true)
  expect(isExportHeader([...own, 'text', 'my note'])).toBe(true)
  expect(isExportHeader([...own.slice(0, 5), 'my note', ...own.slice(5)])).toBe(false)
  expect(isExportHeader(own.slice(1))).toBe(false)
})

test('the header of an export of an earlier version is still known as one of ours', () => {
  const earlier =
    'text,sluice_row,sluice_state,sluice_status,sluice_error_code,sluice_message,sluice_task_id,sluice_post_id,' +
    'sluice_triggered_rules,sluice_duration_ms,sluice_attempts,sluice_custom_index_item_id,sluice_term_outcome,' +
    'sluice_appeal_status'
  expect(isExportHeader(earlier.split(','))).toBe(true)
})
