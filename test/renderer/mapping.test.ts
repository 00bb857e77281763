import { describe, expect, it } from 'vitest'
import {
  assignColumn,
  assignTemplate,
  fieldOfColumn,
} from '../../src/renderer/features/mapping/mapping-screen.tsx'
import { assessMapping, isObvious } from '../../src/shared/mapping/check-mapping.ts'
import {
  FOLDER_COLUMNS,
  keepKnownFields,
  suggestMapping,
  toPlanMapping,
} from '../../src/shared/mapping/match-columns.ts'
import type { Operation } from '../../src/shared/operations/operations.ts'

const OPERATION: Operation = { kind: 'task', mode: 'sync', api: 'v1', legacy: false, models: [] }

const suggest = (...columns: string[]) => suggestMapping(columns, OPERATION)
const gapsOf = (columns: string[], mapping = suggest(...columns).mapping) =>
  assessMapping(mapping, OPERATION, columns).map((gap) => gap.field)

describe('matching columns to fields by name', () => {
  it('takes the exact name first, whatever comes before it', () => {
    const { mapping, confidence } = suggest('Text Data', 'text_data')
    expect(mapping['text_data']).toEqual({ kind: 'column', column: 'text_data' })
    expect(confidence['text_data']).toBe('exact')
  })

  it('takes another spelling of a name, then a similar word, and says which it was', () => {
    const { mapping, confidence } = suggest('User ID', 'message')
    expect(mapping['user_id']).toEqual({ kind: 'column', column: 'User ID' })
    expect(mapping['text_data']).toEqual({ kind: 'column', column: 'message' })
    expect(confidence).toEqual({ user_id: 'alike', text_data: 'guess' })
  })

  it('uses no column twice', () => {
    const { mapping } = suggestMapping(['id'], { kind: 'index-remove', mode: 'sync', indexId: 'faces' })
    expect(Object.values(mapping)).toEqual([{ kind: 'column', column: 'id' }])
  })

  it('fills post_id by a template that is unique in every run, and invents no user_id', () => {
    const { mapping } = suggest('text')
    expect(mapping['post_id']).toEqual({ kind: 'template', template: '{{run}}-{{row}}' })
    expect(mapping['user_id']).toBeUndefined()
  })

  it('names columns with an empty or repeated name by their number', () => {
    expect(suggest('', 'text_data', 'text_data').mapping['text_data']).toEqual({ kind: 'column', column: 2 })
  })

  it('does not guess an address if a column holds the text', () => {
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
  it('asks for the content and the user if both are missing', () => {
    expect(gapsOf(['Column 1', 'Column 2'])).toEqual(['user_id', 'text_data'])
  })

  it('accepts a column for the text and one value for the user', () => {
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

  it('notices a column that another reading of the file removed', () => {
    expect(gapsOf(['Column 1'], suggest('text_data', 'user_id').mapping)).toContain('text_data')
  })
})

describe('operations other than tasks', () => {
  const add: Operation = { kind: 'watchlist-add', watchlist: 'words', termsPerRequest: 500 }
  const update: Operation = { ...add, kind: 'watchlist-update', emptyNotes: 'keep' }
  const remove: Operation = { kind: 'index-remove', mode: 'sync', indexId: 'faces' }

  it('have fields of their own, and no post_id', () => {
    expect(suggestMapping(['Word', 'note'], add).mapping).toEqual({
      term: { kind: 'column', column: 'Word' },
      notes: { kind: 'column', column: 'note' },
    })
  })

  it('take the export of an index run unchanged', () => {
    const columns = ['url', 'sluice_row', 'sluice_custom_index_item_id']
    const { mapping } = suggestMapping(columns, remove)
    expect(mapping).toEqual({
      custom_index_item_id: { kind: 'column', column: 'sluice_custom_index_item_id' },
    })
    expect(assessMapping(mapping, remove, columns)).toEqual([])
  })

  it('require notes for an update', () => {
    expect(assessMapping(suggestMapping(['term'], update).mapping, update, ['term'])).toMatchObject([
      { field: 'notes' },
    ])
    expect(assessMapping(suggestMapping(['term'], add).mapping, add, ['term'])).toEqual([])
  })

  it('require one of two addresses for an index', () => {
    const index: Operation = { kind: 'index-add', mode: 'async', indexId: 'faces' }
    expect(assessMapping({}, index, ['a'])).toMatchObject([{ field: 'url' }])
    const mapping = suggestMapping(['media'], index).mapping
    expect(assessMapping(mapping, index, ['media'])).toEqual([])
  })

  it('keep the fields that another mode of the operation knows', () => {
    const mapping = suggest('conversation_id', 'text_data', 'user_metadata.age').mapping
    const kept = keepKnownFields(mapping, { ...OPERATION, mode: 'async' })
    expect(Object.keys(kept).toSorted()).toEqual(['post_id', 'text_data', 'user_metadata.age'])
  })
})

describe('the rows of a folder', () => {
  const columns = [...FOLDER_COLUMNS]

  it("are texts and whole requests; a media file's address is made elsewhere", () => {
    const { mapping } = suggestMapping(columns, OPERATION)
    expect(Object.keys(mapping).toSorted()).toEqual(['post_id', 'request', 'text_data'])
    expect(assessMapping(mapping, OPERATION, columns)).toEqual([])
  })

  it('need a user_id for texts and media, but not if all are whole requests', () => {
    const { mapping } = suggestMapping(columns, OPERATION)
    const whole = { cells: ['a.json', 'request', '', '{"text_data":"x","user_id":"u"}', ''] }
    const text = { cells: ['a.txt', 'text', 'hello', '', ''] }
    expect(assessMapping(mapping, OPERATION, columns, [whole])).toEqual([])
    expect(assessMapping(mapping, OPERATION, columns, [whole, text])).toMatchObject([{ field: 'user_id' }])
  })
})

describe('what a plan says to the engine', () => {
  it("leaves empty what the person unmapped, although its column has the field's name", () => {
    const columns = ['text_data', 'user_id', 'group_id']
    const { group_id: _out, ...mapping } = suggest(...columns).mapping
    expect(toPlanMapping(mapping, columns, OPERATION)).toEqual({
      ...mapping,
      group_id: { kind: 'template', template: '' },
    })
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

  it('unmaps a column, so that it is only kept in the export', () => {
    expect(assignColumn(assignColumn({}, columns, 0, 'text_data'), columns, 0, null)).toEqual({})
  })
})

describe('skipping the screen', () => {
  it('is right when every header is a field and nothing is missing', () => {
    const columns = ['text_data', 'user_id', 'post_id']
    expect(isObvious(suggest(...columns), OPERATION, columns)).toBe(true)
  })

  it('is wrong when two columns look swapped, although their names are right', () => {
    const columns = ['text_data', 'user_id', 'post_id']
    const cells = (row: number) => [`u-${row}`, `this is the text of row ${row}`, `p-${row}`]
    const rows = [1, 2, 3, 4, 5].map((row) => ({ cells: cells(row) }))
    expect(isObvious(suggest(...columns), OPERATION, columns, rows)).toBe(false)
  })

  it.each([
    ['a column is left over', ['text_data', 'user_id', 'label']],
    ['a match is only alike', ['text_data', 'User ID']],
    ['a required field is missing', ['text_data']],
  ])('is wrong when %s', (_why, columns) => {
    expect(isObvious(suggest(...columns), OPERATION, columns)).toBe(false)
  })
})
