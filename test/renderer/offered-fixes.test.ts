import { expect, test } from 'vitest'
import { listGroupFixes } from '../../src/renderer/features/check/problem-group-card.tsx'
import { operationSchema } from '../../src/shared/operations/operations.ts'
import type { ProblemGroup } from '../../src/shared/run/problem.ts'

const TASK = operationSchema.parse({ kind: 'task' })

function toGroup(group: Partial<ProblemGroup>, found?: string): ProblemGroup {
  const cause = { severity: 'error', code: 'required', field: 'user_id', ...group } as const
  const example = { ...cause, row: 3, field: cause.field ?? undefined, ...(found !== undefined && { found }) }
  return { rows: 1, examples: [example as ProblemGroup['examples'][number]], ...cause }
}

const listLabels = (group: ProblemGroup, isLoad = false) =>
  listGroupFixes(group, TASK, isLoad).offered.map(({ label }) => label)

test('offers substitutes for ids with forbidden characters', () => {
  const group = toGroup({ code: 'forbidden_character', args: { of: 'id' } }, 'a_b')
  expect(listGroupFixes(group, TASK, false)).toEqual({
    offered: [
      { label: 'Replace _ and ; reversibly', fix: { kind: 'substitute', field: 'user_id' } },
      {
        label: 'Leave these rows out',
        fix: { kind: 'leave_out', problem: 'forbidden_character', field: 'user_id' },
      },
    ],
    valueField: 'user_id',
    editFields: ['user_id'],
  })
})

test('offers to split rows with both contents, but not in a load test, and not rows with neither', () => {
  const group = { code: 'one_of', field: null } as const
  expect(listLabels(toGroup(group, 'both'))).toEqual([
    'Split into two rows',
    'Send text_data only',
    'Send url only',
    'Leave these rows out',
  ])
  expect(listLabels(toGroup(group, 'both'), true)).not.toContain('Split into two rows')
  expect(listLabels(toGroup(group, 'neither'))).toEqual(['Leave these rows out'])
  expect(listGroupFixes(toGroup(group, 'neither'), TASK, false).editFields).toEqual(['text_data', 'url'])
})

test('offers to join surplus cells into the last column if that fills a text', () => {
  const args = { cells: 3, than: 'header', delimiter: ';' }
  const alone = toGroup({ code: 'surplus_cells', field: null, args })
  expect(listGroupFixes(alone, TASK, false).offered.map(({ label }) => label)).toEqual([
    'Leave these rows out',
  ])
  const group = toGroup({ code: 'surplus_cells', field: null, args: { ...args, into: 'text_data' } })
  expect(listGroupFixes(group, TASK, false).offered).toEqual([
    { label: 'Join into the last column', fix: { kind: 'join_cells', from: 3, with: ';' } },
    { label: 'Leave these rows out', fix: { kind: 'leave_out', problem: 'surplus_cells' } },
  ])
})

test('sets no value for all rows if each needs its own or no field is at fault', () => {
  expect(listGroupFixes(toGroup({ code: 'not_unique', field: 'post_id' }), TASK, false)).toMatchObject({
    valueField: null,
    editFields: ['post_id'],
  })
  expect(listGroupFixes(toGroup({ code: 'ragged_row', field: null }), TASK, false)).toMatchObject({
    valueField: null,
    editFields: [],
  })
})

test('offers nothing for a problem of all rows, which the mapping decides', () => {
  const group = { ...toGroup({ severity: 'warning', code: 'recommended' }), examples: [] }
  expect(listGroupFixes(group, TASK, false)).toEqual({ offered: [], valueField: null, editFields: [] })
})
