import { CloseButton, Group } from '@mantine/core'
import { IconBookmark, IconDownload, IconSearch } from '@tabler/icons-react'
import {
  type KeyboardEvent,
  memo,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useEffectEvent,
  useRef,
  useState,
} from 'react'
import { describeCell } from '../../../shared/lookback/evaluation-view.ts'
import { describeVerdict, isDecided, type RowVerdict } from '../../../shared/lookback/verdict.ts'
import type { SavedFilter } from '../../../shared/run/result-view.ts'
import {
  type FacetList as CountedFacets,
  describeFilter,
  isNarrowed,
  type RowFilter,
} from '../../../shared/run/row-filters.ts'
import { useRowMedia } from '../../bridge/row-media.ts'
import { MediaView, useMediaSteps } from '../../ui/content/media-view.tsx'
import {
  ActionButton,
  PrimaryButton,
  type SecondaryAction,
  SecondaryActions,
  TextField,
} from '../../ui/controls.tsx'
import { useNaming } from '../../ui/form.tsx'
import { ErrorNotice, Screen } from '../../ui/layout/screen.tsx'
import { hasModifier, isNothingFocused, useShortcut, useWindowKeys } from '../../ui/shortcuts.ts'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { UndoRedo, VerdictLabel } from '../../ui/verdicts/verdicts.tsx'
import { FacetButton, FacetList, FacetSection } from './facet-list.tsx'
import styles from './results.module.css'
import { ResultsTable } from './results-table.tsx'
import { RowDrawer } from './row-drawer.tsx'
import { type Results, useResults, type useResultView, withSearch } from './use-results.ts'
import { useVerdictControl, type VerdictAction } from './verdicts-control.tsx'

/** A run's rows: filtered by facets and search, opened in a drawer, with content hidden until revealed. */
export function ResultsScreen(props: {
  runId: string
  filter: RowFilter
  /** Called with the filter at each change. */
  onFilter: (filter: RowFilter) => void
  /** Writes succeeded and unsuccessful rows to two files, and says where they are. */
  outcomeFiles: { action: SecondaryAction; notice: ReactNode }
  onExport: () => void
  /** Resends unsuccessful rows. */
  onRetry: () => void
  /** Corrects rows that did not succeed or were never sent, and then sends them. */
  onCorrect: () => void
  /** Opens a row's request, to change it and send it once by hand. */
  onScratchpad: (row: number) => Promise<void>
}) {
  const results = useResults(props.runId, props.filter)
  const noteFilter = useEffectEvent(props.onFilter)
  const { chosen, typed } = results
  useEffect(() => noteFilter(withSearch(chosen, typed)), [chosen, typed])
  const place = useRef<HTMLDivElement>(null)
  const keys = useResultsKeys(results, place)
  const { run, opened, revealed } = results
  const isTask = run.operation === 'task'
  const { verdicts, act, dialog } = useVerdictControl(results, isTask, keys.bringIntoView)
  const steps = useMediaSteps(opened?.row ?? null)
  const media = useRowMedia(props.runId, opened?.row ?? null)
  return (
    <Screen
      title="Results"
      fixed
      actions={
        <Actions
          retryable={run.retryable}
          correctable={run.correctable}
          typed={results.typed}
          filter={results.filter}
          isEmpty={results.list.counted === 'exactly' && results.list.count === 0}
          outcomeFiles={run.isEnded ? props.outcomeFiles.action : null}
          onExport={props.onExport}
          onRetry={props.onRetry}
          onCorrect={props.onCorrect}
        />
      }
    >
      {props.outcomeFiles.notice}
      <div className={`grid flex-1 min-h-0 relative ${styles.layout}`} ref={place}>
        <ResultsSide
          runId={props.runId}
          operation={run.operation}
          views={results.table.views}
          typed={results.typed}
          chosen={results.chosen}
          filter={results.filter}
          facets={results.facets}
          found={results.found}
          onSearch={results.search}
          onNarrow={results.narrow}
          onApply={results.apply}
        />
        <ResultsTable results={results} verdicts={verdicts} onKey={keys.pressInGrid} />
        {opened !== null && (
          // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the table go on working in the drawer
          <div className="contents" onKeyDown={keys.pressInDrawer}>
            <RowDrawer
              row={opened.row}
              place={opened.place}
              operation={run.operation}
              isAsync={run.isAsync}
              detail={results.detail}
              error={results.detailError}
              headers={results.plan?.connection.headers}
              apiKeyEnv={results.plan?.connection.apiKeyEnv ?? 'SLUICE_API_KEY'}
              scoreEnd={results.table.scale.end}
              isContent={results.isContent}
              revealed={revealed.isRevealed(opened.row)}
              onReveal={() => revealed.toggle(opened.row)}
              onStep={results.step}
              onClose={keys.close}
              onScratchpad={() => props.onScratchpad(opened.row)}
              verdicts={
                isTask && (
                  <VerdictsPanel
                    decided={isDecided(results.detail?.result ?? opened)}
                    verdicts={verdicts.of(opened.row)}
                    act={act}
                    onVerdicts={(next) => verdicts.set(opened, next)}
                    undo={<UndoRedo {...verdicts} onUndo={verdicts.undo} onRedo={verdicts.redo} />}
                  />
                )
              }
              media={media.media.length > 0 && <MediaView {...media} {...steps} />}
            />
          </div>
        )}
        {dialog}
      </div>
    </Screen>
  )
}

const Actions = memo(function Actions(props: {
  retryable: number
  correctable: number
  typed: string
  filter: RowFilter
  isEmpty: boolean
  outcomeFiles: SecondaryAction | null
  onExport: () => void
  onRetry: () => void
  onCorrect: () => void
}) {
  const secondary: SecondaryAction[] = []
  // The dialog says how many rows it includes: those with an unknown outcome are left out at first.
  if (props.retryable > 0) {
    secondary.push({ label: 'Retry what did not succeed…', onPress: props.onRetry })
  }
  if (props.correctable > 0) {
    secondary.push({ label: 'Correct and retry…', onPress: props.onCorrect })
  }
  const narrowed = isNarrowed(props.filter)
  if (props.outcomeFiles !== null) {
    const { label } = props.outcomeFiles
    secondary.push({ ...props.outcomeFiles, label: narrowed ? `${label} of all rows` : label })
  }
  return (
    <>
      <SecondaryActions actions={secondary} />
      <PrimaryButton
        onPress={props.onExport}
        blocked={narrowed && props.isEmpty ? 'No row matches' : undefined}
        soon={props.typed !== (props.filter.search ?? '')}
        icon={<IconDownload size="1rem" />}
      >
        {narrowed ? 'Export these rows' : 'Export'}
      </PrimaryButton>
    </>
  )
})

/** The keys of the table, of the drawer beside it, and those for any focus. `place` contains the table. */
function useResultsKeys(results: Results, place: RefObject<HTMLElement | null>) {
  const { row, isOpen, setOpen, step, revealed } = results
  const findGrid = () => place.current?.querySelector<HTMLElement>('[role="grid"]')
  const reveal = () => row !== null && revealed.toggle(row.row)
  const close = useCallback(() => {
    setOpen(false)
    place.current?.querySelector<HTMLElement>('[role="grid"]')?.focus()
  }, [setOpen, place])

  const pressInDrawer = (event: globalThis.KeyboardEvent | KeyboardEvent) => {
    if (hasModifier(event)) return
    if (event.key === 'Escape') close()
    else if (event.key === 'j' || event.key === 'J') step(1)
    else if (event.key === 'k' || event.key === 'K') step(-1)
    else if (event.key === ' ' && isHeading(event.target)) reveal()
    else return
    event.preventDefault()
  }
  useWindowKeys((event) => {
    const grid = findGrid()
    if (grid === null || grid === undefined || grid.contains(document.activeElement)) return
    const isIdle = isNothingFocused()
    if (isOpen) {
      // A focused button of the drawer may be gone.
      if (isIdle) pressInDrawer(event)
      return
    }
    if (!/^[jk]$/i.test(event.key) && !(isIdle && (event.key === 'Enter' || event.key === ' '))) return
    event.preventDefault()
    grid.focus()
    if (event.key === 'Enter') setOpen(row !== null)
    else if (event.key === ' ') reveal()
    else step(event.key.toLowerCase() === 'j' ? 1 : -1)
  })

  return {
    close,
    /** Scrolls the row under the cursor into view if it is out of sight; returns whether it was. */
    bringIntoView(): boolean {
      if (isOpen || results.cursor.row === null || isInView(findGrid())) return false
      results.showCursor()
      return true
    },
    /** Returns whether it handled the key. */
    pressInGrid(event: KeyboardEvent): boolean {
      if (event.key === ' ' && row !== null) reveal()
      else if (event.key === 'Escape' && isOpen) close()
      else return false
      return true
    },
    pressInDrawer,
  }
}

/** Whether at least half of the row under a table's cursor is visible. */
function isInView(grid: HTMLElement | null | undefined): boolean {
  const row = grid?.querySelector('[role="row"][aria-selected="true"]')?.getBoundingClientRect()
  const head = grid?.querySelector('[role="columnheader"]')?.getBoundingClientRect()
  if (grid === null || grid === undefined || row === undefined || head === undefined) return false
  const middle = (row.top + row.bottom) / 2
  return middle >= head.bottom && middle <= grid.getBoundingClientRect().bottom
}

function isHeading(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('button, input, [tabindex="0"]') === null
}

const BUTTONS: readonly { action: VerdictAction; label: string; key: string }[] = [
  { action: 'agree', label: 'Agree', key: 'A' },
  { action: 'should', label: 'Should trigger…', key: 'S' },
  { action: 'should-not', label: 'Should not trigger…', key: 'D' },
  { action: 'unsure', label: 'Unsure', key: 'U' },
  { action: 'note', label: 'Note…', key: 'N' },
]

/** The verdicts on the open row, and buttons for them; each has a key. */
function VerdictsPanel(props: {
  /** Whether the service decided on the row; otherwise only a note is possible. */
  decided: boolean
  verdicts: readonly RowVerdict[]
  act: (action: VerdictAction) => void
  onVerdicts: (verdicts: readonly RowVerdict[]) => void
  /** Undoes the last verdict; the table's own button may be covered by the drawer. */
  undo: ReactNode
}) {
  const { decided, verdicts, act, onVerdicts } = props
  const note = verdicts.find((one) => one.note !== null)?.note ?? null
  const isGiven = (action: VerdictAction) =>
    action === 'note' ? note !== null : verdicts.some(({ verdict }) => verdict === action)
  return (
    <section>
      <div className={`row justify-between mb-1 ${styles.partHead}`}>
        <h3>Your verdict</h3>
        {props.undo}
      </div>
      {!decided && (
        <p className="quiet">The service has not decided on this row: there is nothing to agree with.</p>
      )}
      <Group gap={6} mt={4}>
        {BUTTONS.filter(({ action }) => decided || action === 'note').map(({ action, label, key }) => (
          <ActionButton
            label={label}
            key={action}
            small
            aria-pressed={isGiven(action)}
            className={isGiven(action) ? styles.given : undefined}
            rightSection={<kbd>{key}</kbd>}
            onClick={() => act(action)}
          />
        ))}
      </Group>
      {verdicts.length > 0 && (
        <ul className={`flex flex-wrap mt-2 ${styles.verdicts}`} aria-label="Verdicts on this row">
          {verdicts.map((verdict) => (
            <li key={`${verdict.verdict} ${verdict.rule}`} className="inline-flex items-center max-w-full">
              <VerdictLabel verdict={verdict} />
              <CloseButton
                size="xs"
                aria-label={`Remove: ${describeVerdict(verdict)}`}
                title="Remove ( X removes all )"
                onClick={() => onVerdicts(verdicts.filter((one) => one !== verdict))}
              />
            </li>
          ))}
        </ul>
      )}
      {note !== null && (
        <p className={`mt-2 p-2-3 bg-sunken ${styles.note}`}>
          <SafeText text={note} max={10_000} lines />
        </p>
      )}
    </section>
  )
}

/** The filters of the rows: a search, saved filters, and facets with counts. */
const ResultsSide = memo(function ResultsSide(props: {
  runId: string
  operation: string
  views: ReturnType<typeof useResultView>
  typed: string
  /** The filter without the search. */
  chosen: RowFilter
  /** The filter including the search. */
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
        runId={props.runId}
        operation={props.operation}
        counted={props.facets ?? { facets: [], isCounted: false }}
        found={props.found}
        filter={chosen}
        onFilter={onNarrow}
      />
    </div>
  )
})

/** The evaluation's cell that the rows belong to, if they were opened from one. */
function CellFilter({ filter, onFilter }: { filter: RowFilter; onFilter: (filter: RowFilter) => void }) {
  const { cell, ...rest } = filter
  if (cell === undefined) return null
  return (
    <FacetSection title="Evaluation">
      <FacetButton
        name={<SafeText text={describeCell(cell)} max={160} />}
        chosen
        onPick={() => onFilter(rest)}
      />
    </FacetSection>
  )
}

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

/** Named filters, shared by all runs of the operation: to apply, rename, and remove with undo. */
function SavedFilters(props: {
  views: ReturnType<typeof useResultView>
  /** The current filter, including the search. */
  filter: RowFilter
  onApply: (filter: RowFilter) => void
}) {
  const { views, filter, onApply } = props
  const naming = useNaming({
    noun: 'filter',
    onSave: (name) => views.saveFilter(name, filter),
    onRename: views.renameFilter,
  })
  const [removed, setRemoved] = useState<{ saved: SavedFilter; at: number } | null>(null)
  const filters = views.view?.filters ?? []
  const applied = filters.find((saved) => isSameFilter(saved.filter, filter))
  // A cell of an evaluation exists only in this run.
  const canSave = isNarrowed(filter) && applied === undefined && filter.cell === undefined
  if (filters.length === 0 && !canSave && removed === null && views.error === null) return null
  const remove = async (saved: SavedFilter) => {
    setRemoved(null)
    await views.removeFilter(saved.name)
    setRemoved({ saved, at: filters.indexOf(saved) })
  }
  return (
    <FacetSection title="Saved filters">
      <ul>
        {filters.map((saved) => (
          <li key={saved.name} className="row">
            <button
              type="button"
              className={`bare row flex-1 min-w-0 gap-2 w-full rounded ${styles.facet}`}
              aria-pressed={saved === applied}
              title={describeFilter(saved.filter)}
              onClick={() => onApply(saved === applied ? {} : saved.filter)}
            >
              <IconBookmark size="0.9rem" aria-hidden />
              <span className="flex-1 min-w-0 breaks pre-wrap">
                <SafeText text={saved.name} max={80} />
              </span>
            </button>
            {naming.toMenu(saved.name, () => remove(saved))}
          </li>
        ))}
      </ul>
      {naming.form}
      {naming.asked === null && canSave && (
        <ActionButton label="Save this filter…" small onClick={naming.askToSave} />
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
    </FacetSection>
  )
}

/** Whether two filters are equal, regardless of the order of choices. */
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
