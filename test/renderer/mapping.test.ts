import { describe, expect, it } from 'vitest'
import { assessMapping, isObvious } from '../../src/renderer/features/mapping/assess-mapping.ts'
import {
  assignColumn,
  assignTemplate,
  fieldOfColumn,
} from '../../src/renderer/features/mapping/edit-mapping.ts'
import { suggestMapping } from '../../src/renderer/features/mapping/match-columns.ts'
import type { Operation } from '../../src/shared/plan.ts'

const OPERATION: Operation = { kind: 'task', mode: 'sync', api: 'v1', legacy: false, models: [] }

const suggest = (...columns: string[]) => suggestMapping(columns, OPERATION)
const gapsOf = (columns: string[], mapping = suggest(...columns).mapping) =>
  assessMapping(mapping, OPERATION, columns).map((gap) => gap.field)

describe('matching columns to fields by name', () => {
  it('takes the exact name first, whatever stands before it', () => {
    const { mapping, confidence } = suggest('Text Data', 'text_data')
    expect(mapping['text_data']).toEqual({ kind: 'column', column: 'text_data' })
    expect(confidence['text_data']).toBe('exact')
  })

  it('takes another way to write a name, then a word like it, and says which it was', () => {
    const { mapping, confidence } = suggest('User ID', 'message')
    expect(mapping['user_id']).toEqual({ kind: 'column', column: 'User ID' })
    expect(mapping['text_data']).toEqual({ kind: 'column', column: 'message' })
    expect(confidence).toEqual({ user_id: 'alike', text_data: 'guess' })
  })

  it('uses no column twice', () => {
    const { mapping } = suggest('id')
    expect(Object.values(mapping)).toEqual([{ kind: 'column', column: 'id' }])
  })

  it('fills post_id by a template that is unique in every run, and makes up no user_id', () => {
    const { mapping } = suggest('text')
    expect(mapping['post_id']).toEqual({ kind: 'template', template: '{{run}}-{{row}}' })
    expect(mapping['user_id']).toBeUndefined()
  })

  it('counts a column whose name is empty or not its own', () => {
    expect(suggest('', 'text_data', 'text_data').mapping['text_data']).toEqual({ kind: 'column', column: 2 })
  })

  it('does not guess an address where a column holds the text', () => {
    expect(suggest('text_data', 'link').mapping['url']).toBeUndefined()
  })

  it('takes a key of an object by its full name', () => {
    expect(suggest('user_metadata.country').mapping['user_metadata.country']).toEqual({
      kind: 'column',
      column: 'user_metadata.country',
    })
  })
})

describe('what a mapping is missing', () => {
  it('asks for the content and the user where neither is there', () => {
    expect(gapsOf(['Column 1', 'Column 2'])).toEqual(['text_data', 'user_id'])
  })

  it('is content with a column for the text and one value for the user', () => {
    const columns = ['Column 1', 'Column 2']
    const withText = assignColumn(suggest(...columns).mapping, columns, 1, 'text_data')
    expect(gapsOf(columns, assignTemplate(withText, 'user_id', 'sms-import'))).toEqual([])
  })

  it.each([
    ['an id with a forbidden character', 'user_id', 'a_b'],
    ['a post_id that is the same on every row', 'post_id', 'same'],
    ['a placeholder that names no column', 'group_id', '{{album}}'],
  ])('refuses %s', (_what, field, template) => {
    const columns = ['text_data', 'user_id']
    expect(gapsOf(columns, assignTemplate(suggest(...columns).mapping, field, template))).toEqual([field])
  })

  it('notices a column that another reading of the file took away', () => {
    expect(gapsOf(['Column 1'], suggest('text_data', 'user_id').mapping)).toContain('text_data')
  })
})

describe('editing a mapping', () => {
  const columns = ['a', 'b']

  it('moves a field from one column to another', () => {
    const first = assignColumn({}, columns, 0, 'text_data')
    const moved = assignColumn(first, columns, 1, 'text_data')
    expect(fieldOfColumn(moved, columns, 0)).toBeNull()
    expect(fieldOfColumn(moved, columns, 1)).toBe('text_data')
  })

  it('takes a column out, so that it is only carried to the output', () => {
    expect(assignColumn(assignColumn({}, columns, 0, 'text_data'), columns, 0, null)).toEqual({})
  })
})

describe('skipping the screen', () => {
  it('is right when every header is a field and nothing is missing', () => {
    const columns = ['text_data', 'user_id', 'post_id']
    expect(isObvious(suggest(...columns), OPERATION, columns)).toBe(true)
  })

  it.each([
    ['a column is left over', ['text_data', 'user_id', 'label']],
    ['a match is only alike', ['text_data', 'User ID']],
    ['a required field is missing', ['text_data']],
  ])('is wrong when %s', (_why, columns) => {
    expect(isObvious(suggest(...columns), OPERATION, columns)).toBe(false)
  })
})
