import { IconDownload } from '@tabler/icons-react'
import { memo, type ReactNode, useEffect, useEffectEvent, useRef } from 'react'
import { isDecided } from '../../../shared/lookback/verdict.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { isNarrowed, type RowFilter } from '../../../shared/run/row-filters.ts'
import { useRowMedia } from '../../bridge/row-media.ts'
import { MediaView, useMediaSteps } from '../../ui/content/media-view.tsx'
import { PrimaryButton } from '../../ui/controls.tsx'
import { Screen } from '../../ui/layout/screen.tsx'
import { type SecondaryAction, SecondaryActions } from '../../ui/layout/secondary-actions.tsx'
import { UndoRedo } from '../../ui/verdicts/undo-redo.tsx'
import styles from './results.module.css'
import { useResultsKeys } from './results-keys.ts'
import { ResultsSide } from './results-side.tsx'
import { ResultsTable } from './results-table.tsx'
import { RowDrawer } from './row-drawer.tsx'
import { withSearch } from './row-filter.ts'
import { useResults } from './use-results.ts'
import { useVerdictControl } from './verdicts-control.tsx'
import { VerdictsPanel } from './verdicts-panel.tsx'

/** Every row of a run: narrowed by facets and search, opened in a drawer, its content hidden until revealed. */
export function ResultsScreen(props: {
  runId: string
  /** The filter to begin with. */
  filter: RowFilter
  /** Learns what the rows are narrowed by, each time that it changes. */
  onFilter: (filter: RowFilter) => void
  /** Writes what succeeded and what did not to files, and says where they are. */
  outcomeFiles: { action: SecondaryAction; notice: ReactNode }
  /** Goes on to an export of the rows that `onFilter` named last. */
  onExport: () => void
  /** Sends what did not succeed again, as a child run. */
  onRetry: () => void
  /** Corrects what did not succeed or was never sent, and then sends it as a child run. */
  onCorrect: () => void
  /** Opens the request of a row, to be changed and sent once by hand. */
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

/** What can be done with the run's rows. */
const Actions = memo(function Actions(props: {
  retryable: number
  correctable: number
  typed: string
  filter: RowFilter
  /** Whether the filter leaves no row. */
  isEmpty: boolean
  outcomeFiles: SecondaryAction | null
  onExport: () => void
  onRetry: () => void
  onCorrect: () => void
}) {
  const secondary: SecondaryAction[] = []
  if (props.retryable > 0) {
    secondary.push({ label: `Retry ${formatCounted(props.retryable, 'row')}…`, onPress: props.onRetry })
  }
  if (props.correctable > 0) {
    secondary.push({ label: `Correct ${formatCounted(props.correctable, 'row')}…`, onPress: props.onCorrect })
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
