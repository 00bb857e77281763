import { ActionIcon, Menu } from '@mantine/core'
import { IconBookmark, IconDots } from '@tabler/icons-react'
import { useState } from 'react'
import type { SavedFilter } from '../../../shared/run/result-view.ts'
import { describeFilter, isNarrowed, type RowFilter } from '../../../shared/run/row-filters.ts'
import { ActionButton } from '../../ui/controls.tsx'
import { ErrorNotice } from '../../ui/layout/screen.tsx'
import { NameForm } from '../../ui/name-form.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './results.module.css'
import type { useResultView } from './use-result-view.ts'

/** What is asked for in the place of the list's last button. */
type Asked = { kind: 'save' } | { kind: 'rename'; name: string } | null

/** Filters with names, which all runs of the operation share: applied, renamed, and removed with a way back. */
export function SavedFilters(props: {
  views: ReturnType<typeof useResultView>
  /** What the rows are narrowed by now, the search among it. */
  filter: RowFilter
  onApply: (filter: RowFilter) => void
}) {
  const { views, filter, onApply } = props
  const [asked, setAsked] = useState<Asked>(null)
  const [removed, setRemoved] = useState<{ saved: SavedFilter; at: number } | null>(null)
  const filters = views.view?.filters ?? []
  const applied = filters.find((saved) => isSameFilter(saved.filter, filter))
  // The cell of an evaluation is of this run alone.
  const canSave = isNarrowed(filter) && applied === undefined && filter.cell === undefined
  if (filters.length === 0 && !canSave && removed === null && views.error === null) return null
  const remove = async (saved: SavedFilter) => {
    setRemoved(null)
    await views.removeFilter(saved.name)
    setRemoved({ saved, at: filters.indexOf(saved) })
  }
  return (
    <section aria-label="Saved filters">
      <h2 className={`small bold ${styles.facetTitle}`}>Saved filters</h2>
      <ul>
        {filters.map((saved) => (
          <li key={saved.name} className="row">
            <button
              type="button"
              className={`row flex-1 min-w-0 gap-2 w-full rounded ${styles.facet}`}
              aria-pressed={saved === applied}
              title={describeFilter(saved.filter)}
              onClick={() => onApply(saved === applied ? {} : saved.filter)}
            >
              <IconBookmark size="0.9rem" aria-hidden />
              <span className="flex-1 min-w-0 breaks pre-wrap">
                <SafeText text={saved.name} max={80} />
              </span>
            </button>
            <Menu position="bottom-end">
              <Menu.Target>
                <ActionIcon aria-label={`Actions for ${saved.name}`}>
                  <IconDots size="1rem" />
                </ActionIcon>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item onClick={() => setAsked({ kind: 'rename', name: saved.name })}>Rename…</Menu.Item>
                <Menu.Item onClick={() => remove(saved).catch(() => {})}>Remove</Menu.Item>
              </Menu.Dropdown>
            </Menu>
          </li>
        ))}
      </ul>
      {asked !== null && (
        <NameForm
          key={asked.kind === 'rename' ? `rename ${asked.name}` : asked.kind}
          label={asked.kind === 'save' ? 'Name of the filter' : `New name of ${asked.name}`}
          name={asked.kind === 'save' ? '' : asked.name}
          onName={async (name) => {
            if (asked.kind === 'save') await views.saveFilter(name, filter)
            else await views.renameFilter(asked.name, name)
            setAsked(null)
          }}
          onClose={() => setAsked(null)}
        />
      )}
      {asked === null && canSave && (
        <ActionButton label="Save this filter…" small onClick={() => setAsked({ kind: 'save' })} />
      )}
      {removed !== null && (
        <p className={`breaks ${styles.undo}`} role="status">
          Removed <SafeText text={removed.saved.name} max={80} />.{' '}
          <ActionButton
            label="Undo"
            small
            onClick={() => {
              const { saved, at } = removed
              views.saveFilter(saved.name, saved.filter, at).then(
                () => setRemoved(null),
                () => {},
              )
            }}
          />
        </p>
      )}
      {views.error !== null && <ErrorNotice error={views.error} />}
    </section>
  )
}

/** Whether two filters leave the same rows, in whichever order they were chosen. */
export function isSameFilter(one: RowFilter, other: RowFilter): boolean {
  return toKey(one) === toKey(other)
}

function toKey(filter: RowFilter): string {
  const members = Object.entries(filter)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map((one) => JSON.stringify(one)).sort() : value,
    ])
  return JSON.stringify(members.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)))
}
