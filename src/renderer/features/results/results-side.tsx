import { CloseButton, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useRef } from 'react'
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
