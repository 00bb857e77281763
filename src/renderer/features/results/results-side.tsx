import { CloseButton, TextInput } from '@mantine/core'
import { IconSearch, IconX } from '@tabler/icons-react'
import { useRef } from 'react'
import { describeCell } from '../../../shared/lookback/evaluation-view.ts'
import type { RowFilter } from '../../../shared/run/results.ts'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { useHotkey } from '../../ui/use-hotkey.ts'
import { FacetList } from './facet-list.tsx'
import styles from './results.module.css'
import { SavedFilters } from './saved-filters.tsx'
import type { Results } from './use-results.ts'

/** What the rows are narrowed by: a search, saved filters, and facets with counts. */
export function ResultsSide({ results }: { results: Results }) {
  const { facets, found, table } = results
  return (
    <div className={styles.side}>
      <SearchBox value={results.typed} onValue={results.search} />
      <CellFilter filter={results.chosen} onFilter={results.narrow} />
      <SavedFilters views={table.views} filter={results.filter} onApply={results.apply} />
      <FacetList
        operation={results.run.operation}
        counted={facets ?? { facets: [], isCounted: false }}
        found={found}
        filter={results.chosen}
        onFilter={results.narrow}
      />
    </div>
  )
}

/** The cell of an evaluation that the rows are from, where they were opened from one. */
function CellFilter({ filter, onFilter }: { filter: RowFilter; onFilter: (filter: RowFilter) => void }) {
  const { cell, ...rest } = filter
  if (cell === undefined) return null
  return (
    <section aria-label="Evaluation">
      <h2 className={styles.facetTitle}>Evaluation</h2>
      <button type="button" className={styles.facet} aria-pressed onClick={() => onFilter(rest)}>
        <span className={styles.facetName}>
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
  useHotkey({ key: '/' }, () => input.current?.focus())
  return (
    <TextInput
      ref={input}
      aria-label="Search the cells"
      placeholder="Search  ( / )"
      leftSection={<IconSearch size="0.9rem" aria-hidden />}
      value={value}
      onChange={(event) => onValue(event.currentTarget.value)}
      rightSection={
        value === '' ? null : (
          <CloseButton size="xs" aria-label="Clear the search" onClick={() => onValue('')} />
        )
      }
    />
  )
}
