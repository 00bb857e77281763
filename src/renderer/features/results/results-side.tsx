import { CloseButton } from '@mantine/core'
import { IconSearch, IconX } from '@tabler/icons-react'
import { memo, useRef } from 'react'
import { describeCell } from '../../../shared/lookback/evaluation-view.ts'
import type { FacetList as CountedFacets, RowFilter } from '../../../shared/run/row-filters.ts'
import { TextField } from '../../ui/controls.tsx'
import { useShortcut } from '../../ui/shortcuts.ts'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { FacetList } from './facet-list.tsx'
import styles from './results.module.css'
import { SavedFilters } from './saved-filters.tsx'
import type { useResultView } from './use-result-view.ts'

/** What the rows are narrowed by: a search, saved filters, and facets with counts. */
export const ResultsSide = memo(function ResultsSide(props: {
  operation: string
  views: ReturnType<typeof useResultView>
  /** The search as it is typed. */
  typed: string
  /** What the rows are narrowed by, the search apart. */
  chosen: RowFilter
  /** That, and the search. */
  filter: RowFilter
  facets: CountedFacets | null
  found: CountedFacets | null
  onSearch: (text: string) => void
  onNarrow: (filter: RowFilter) => void
  onApply: (filter: RowFilter) => void
}) {
  const { chosen, onNarrow } = props
  return (
    <div className={`stack gap-3 min-h-0 ${styles.side}`}>
      <SearchBox value={props.typed} onValue={props.onSearch} />
      <CellFilter filter={chosen} onFilter={onNarrow} />
      <SavedFilters views={props.views} filter={props.filter} onApply={props.onApply} />
      <FacetList
        operation={props.operation}
        counted={props.facets ?? { facets: [], isCounted: false }}
        found={props.found}
        filter={chosen}
        onFilter={onNarrow}
      />
    </div>
  )
})

/** The cell of an evaluation that the rows are from, where they were opened from one. */
function CellFilter({ filter, onFilter }: { filter: RowFilter; onFilter: (filter: RowFilter) => void }) {
  const { cell, ...rest } = filter
  if (cell === undefined) return null
  return (
    <section aria-label="Evaluation">
      <h2 className={`small bold ${styles.facetTitle}`}>Evaluation</h2>
      <button
        type="button"
        className={`row gap-2 w-full rounded ${styles.facet}`}
        aria-pressed
        onClick={() => onFilter(rest)}
      >
        <span className="flex-1 min-w-0 breaks pre-wrap">
          <SafeText text={describeCell(cell)} max={160} />
        </span>
        <IconX size="0.9rem" aria-label="(chosen, press to show all again)" />
      </button>
    </section>
  )
}

/** Searches the cells of all rows; `/` leads into it. */
function SearchBox({ value, onValue }: { value: string; onValue: (value: string) => void }) {
  const input = useRef<HTMLInputElement>(null)
  useShortcut({ key: '/' }, () => input.current?.focus())
  return (
    <TextField
      ref={input}
      aria-label="Search the cells"
      placeholder="Search  ( / )"
      leftSection={<IconSearch size="0.9rem" aria-hidden />}
      value={value}
      onValue={onValue}
      rightSection={
        value === '' ? null : (
          <CloseButton size="xs" aria-label="Clear the search" onClick={() => onValue('')} />
        )
      }
    />
  )
}
