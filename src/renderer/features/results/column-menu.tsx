import { Button } from '@mantine/core'
import { useState } from 'react'
import type { ColumnEntry } from '../../../shared/run/choose-columns.ts'
import { COLUMN_REM, type ShownColumn } from '../../../shared/run/result-view.ts'
import { ActionButton, TextField } from '../../ui/controls.tsx'
import { ColumnLine, ColumnMenu } from '../../ui/table/column-menu.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './column-menu.module.css'
import { toColumnTitle } from './result-columns.tsx'
import results from './results.module.css'

const GROUPS: Record<ColumnEntry['group'], string> = {
  row: 'Outcome and answer',
  source: 'Source',
  scores: 'Scores',
  rules: 'Rules, true or false',
  answer: 'Members of the answer',
  raw: 'As it came',
}

interface ColumnChoice {
  entries: readonly ColumnEntry[]
  shown: readonly ShownColumn[]
  /** The width of a column as it is drawn, rem. */
  widthOf: (name: string) => number
  /** Null brings the usual ones back. */
  onColumns: (columns: ShownColumn[] | null) => void
}

/** Chooses, orders and sizes the columns of the rows; the choice is kept for the operation. */
export function ResultColumnMenu(props: ColumnChoice) {
  const [search, setSearch] = useState('')
  return (
    <ColumnMenu width="27rem" size="compact-xs" isCrowded>
      <ColumnList {...props} search={search} onSearch={setSearch} />
    </ColumnMenu>
  )
}

/** What the menu holds while it is open. */
function ColumnList(props: ColumnChoice & { search: string; onSearch: (search: string) => void }) {
  const { entries, shown, widthOf, onColumns, search, onSearch } = props
  const entryOf = new Map(entries.map((entry) => [entry.name, entry]))
  const isShown = new Set(shown.map(({ name }) => name))
  const isFound = (entry: ColumnEntry) => matches(entry, search)
  // Columns that this run lacks stay chosen for those that have them.
  const present = shown.flatMap((column) => {
    const entry = entryOf.get(column.name) ?? toTypedEntry(column.name)
    return entry === null ? [] : [{ ...column, entry }]
  })
  const hidden = entries.filter((entry) => !isShown.has(entry.name) && isFound(entry))
  const typed = search.trim()
  const isNewPath = typed.length > 'answer.'.length && typed.startsWith('answer.') && !entryOf.has(typed)
  const show = (name: string) => onColumns([...shown, { name }])
  const hide = (name: string) => {
    // A table without columns shows nothing, and has nothing to bring them back by.
    if (present.length > 1) onColumns(shown.filter((column) => column.name !== name))
  }
  const resize = (name: string, by: number) => {
    const rem = Math.min(COLUMN_REM.max, Math.max(COLUMN_REM.min, widthOf(name) + by))
    onColumns(shown.map((column) => (column.name === name ? { ...column, rem } : column)))
  }
  return (
    <div className={`stack gap-2 ${styles.columns}`}>
      <div className={styles.columnsHead}>
        <TextField
          aria-label="Search the columns"
          placeholder="Search, or a path such as answer.user_id"
          value={search}
          data-autofocus
          onValue={onSearch}
        />
        <ActionButton label="Usual columns" onClick={() => onColumns(null)} />
      </div>
      <div className={`relative grid one-column gap-3 overflow-auto min-h-0 ${styles.columnsList}`}>
        <h3 className={`small bold ${results.facetTitle}`}>Shown: arrows move a column, − and + size it</h3>
        <ul>
          {present
            .filter(({ entry }) => isFound(entry))
            .map(({ name, entry }) => {
              const title = toColumnTitle(entry)
              return (
                <ColumnLine
                  key={name}
                  title={title}
                  label={<SafeText text={title} max={60} />}
                  isShown
                  onToggle={() => hide(name)}
                  onMove={(by) => onColumns(move(shown, name, by))}
                  onResize={(by) => resize(name, by)}
                />
              )
            })}
        </ul>
        {[...Map.groupBy(hidden, ({ group }) => group)].map(([group, those]) => (
          <section key={group} aria-label={GROUPS[group]}>
            <h3 className={`small bold ${results.facetTitle}`}>{GROUPS[group]}</h3>
            <ul>
              {those.map((entry) => (
                <ColumnLine
                  key={entry.name}
                  title={toColumnTitle(entry)}
                  label={<SafeText text={toColumnTitle(entry)} max={60} />}
                  description={entry.group === 'source' ? undefined : <SafeText text={entry.name} max={60} />}
                  isShown={false}
                  onToggle={() => show(entry.name)}
                />
              ))}
            </ul>
          </section>
        ))}
        {isNewPath && (
          <Button onClick={() => show(typed)}>
            Show <SafeText text={typed} max={60} />
          </Button>
        )}
        {hidden.length === 0 && !isNewPath && search !== '' && (
          <p className={results.facetEmpty}>No other column has this in its name.</p>
        )}
      </div>
    </div>
  )
}

/** A member of the answer that a person has typed, which the list need not have. */
function toTypedEntry(name: string): ColumnEntry | null {
  if (!name.startsWith('answer.')) return null
  return { name, title: name.slice('answer.'.length), group: 'answer', hasContent: true }
}

function matches(entry: ColumnEntry, search: string): boolean {
  const wanted = search.trim().toLowerCase()
  return `${toColumnTitle(entry)} ${entry.name}`.toLowerCase().includes(wanted)
}

/** The columns with one of them a place further to the left or right. */
export function move(shown: readonly ShownColumn[], name: string, by: -1 | 1): ShownColumn[] {
  const from = shown.findIndex((column) => column.name === name)
  const to = from + by
  const moved = shown[from]
  if (moved === undefined || to < 0 || to >= shown.length) return [...shown]
  return shown.toSpliced(from, 1).toSpliced(to, 0, moved)
}

/** The columns with one of them in the place of another, which makes room. */
export function moveTo(shown: readonly ShownColumn[], name: string, to: string): ShownColumn[] {
  const moved = shown.find((column) => column.name === name)
  const place = shown.findIndex((column) => column.name === to)
  if (moved === undefined || place === -1) return [...shown]
  return shown.filter((column) => column !== moved).toSpliced(place, 0, moved)
}
