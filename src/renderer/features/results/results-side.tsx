import { CloseButton, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useRef } from 'react'
import { useHotkey } from '../../ui/use-hotkey.ts'
import { FacetList } from './facet-list.tsx'
import styles from './results.module.css'
import type { Results } from './use-results.ts'

/** What the rows are narrowed by: a search, and facets with counts. */
export function ResultsSide({ results }: { results: Results }) {
  const { facets } = results
  return (
    <div className={styles.side}>
      <SearchBox value={results.typed} onValue={results.search} />
      <FacetList
        operation={results.run.operation}
        facets={facets?.facets ?? []}
        isCounted={facets?.isCounted ?? false}
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
