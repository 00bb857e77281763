import { describe, expect, it } from 'vitest'
import { toAnnotationChange } from '../../src/renderer/features/runs/run-editor.tsx'
import {
  isFiltering,
  NO_FILTER,
  type RunFilter,
  toRunQuery,
} from '../../src/renderer/features/runs/run-filters.tsx'
import { toSparkPoints } from '../../src/renderer/features/runs/run-table.tsx'

const NOON = new Date(2026, 10, 21, 12).getTime()
const PAGE = { order: 'newest', offset: 0, limit: 50 }

const toQuery = (filter: Partial<RunFilter>) =>
  toRunQuery({ filter: { ...NO_FILTER, ...filter }, order: 'newest', offset: 0 }, NOON)

describe('the filter of the list of runs', () => {
  it('asks for all runs unless something is chosen', () => {
    expect(toQuery({})).toEqual(PAGE)
    expect(toQuery({ search: '  ' })).toEqual(PAGE)
    expect(isFiltering(NO_FILTER)).toBe(false)
    expect(isFiltering({ ...NO_FILTER, failed: true })).toBe(true)
  })

  it.each<[Partial<RunFilter>, object]>([
    [
      { search: ' spam ', state: 'stopped' },
      { search: 'spam', states: ['stopped'] },
    ],
    [{ activity: 'task' }, { product: 'run', operations: ['task'] }],
    [{ activity: 'load' }, { product: 'load' }],
    [
      { failed: true, connection: 'live', tags: ['a', 'b'] },
      { failed: true, connection: 'live', tags: ['a', 'b'] },
    ],
    [{ period: 'today' }, { fromMs: new Date(2026, 10, 21).getTime() }],
    [{ period: 'week' }, { fromMs: new Date(2026, 10, 15).getTime() }],
    [
      { period: 'dates', from: '2026-10-31', until: '2026-10-31' },
      { fromMs: new Date(2026, 9, 31).getTime(), beforeMs: new Date(2026, 10, 1).getTime() },
    ],
    [{ period: 'dates', until: '2026-1' }, {}],
  ])('turns %j into %j', (filter, conditions) => expect(toQuery(filter)).toEqual({ ...PAGE, ...conditions }))
})

describe('what is noted about a run', () => {
  const before = { name: 'posts.csv', tags: ['a', 'b'], note: 'old' }
  const after = { name: ' Posts ', tags: ['b', 'c'], note: '' }

  it('is changed only where it differs, and undone by the reverse change', () => {
    expect(toAnnotationChange(before, before)).toBeNull()
    expect(toAnnotationChange(before, after)).toEqual({
      name: 'Posts',
      note: '',
      addTags: ['c'],
      removeTags: ['a'],
      before: { name: 'posts.csv', note: 'old' },
    })
    expect(toAnnotationChange(after, before)).toEqual({
      name: 'posts.csv',
      note: 'old',
      addTags: ['a'],
      removeTags: ['c'],
      before: { name: 'Posts', note: '' },
    })
  })
})

describe('a sparkline', () => {
  it('goes from zero at the bottom to the highest value at the top, from edge to edge', () => {
    expect(toSparkPoints([0, 10, 5])).toBe('1.5,16.5 40.0,1.5 78.5,9.0')
    expect(toSparkPoints([0, 0])).toBe('1.5,16.5 78.5,16.5')
  })
})
