import { NativeSelect } from '@mantine/core'
import type { RowSort } from '../../../shared/run/results.ts'

/** Sorts the rows, by keyboard too, also by what no column shows. */
export function SortMenu(props: {
  sort: RowSort | null
  classes: readonly string[]
  isAsync: boolean
  onSort: (sort: RowSort | null) => void
}) {
  const choices = listSorts(props.classes, props.isAsync)
  const chosen = choices.findIndex(
    ({ sort }) =>
      props.sort !== null && isSameSort(sort.by, props.sort.by) && sort.order === props.sort.order,
  )
  return (
    <NativeSelect
      flex="4 1 6rem"
      maw="max-content"
      aria-label="Sort by"
      title={choices[chosen]?.label}
      value={String(chosen)}
      data={[
        { value: '-1', label: 'Source order' },
        ...choices.map(({ label }, index) => ({ value: String(index), label })),
      ]}
      onChange={(event) => props.onSort(choices[Number(event.currentTarget.value)]?.sort ?? null)}
    />
  )
}

/** What rows can be sorted by, in words. The order of the source is none of them. */
function listSorts(classes: readonly string[], isAsync: boolean): { sort: RowSort; label: string }[] {
  const both = (by: RowSort['by'], descending: string, ascending: string) => [
    { sort: { by, order: 'descending' as const }, label: descending },
    { sort: { by, order: 'ascending' as const }, label: ascending },
  ]
  return [
    { sort: { by: { kind: 'row' }, order: 'descending' }, label: 'Last row first' },
    ...both({ kind: 'latency' }, 'Slowest first', 'Fastest first'),
    ...(isAsync
      ? both({ kind: 'callback-latency' }, 'Slowest callback first', 'Fastest callback first')
      : []),
    ...both({ kind: 'attempts' }, 'Most tries first', 'Fewest tries first'),
    ...classes.flatMap((className) =>
      both({ kind: 'score', className }, `Highest ${className} first`, `Lowest ${className} first`),
    ),
  ]
}

/** Whether two sorts are by the same thing. */
export function isSameSort(one: RowSort['by'] | null, other: RowSort['by']): boolean {
  if (one === null || one.kind !== other.kind) return false
  return one.kind !== 'score' || (other.kind === 'score' && one.className === other.className)
}

/** What pressing a column's title leads to: the highest first, then the lowest, then the order of the source. */
export function toNextSort(by: RowSort['by'] | null, sort: RowSort | null): RowSort | null {
  if (by === null) return sort
  if (sort === null || !isSameSort(by, sort.by)) return { by, order: 'descending' }
  return sort.order === 'descending' && by.kind !== 'row' ? { by, order: 'ascending' } : null
}
