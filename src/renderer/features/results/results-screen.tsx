import { Button } from '@mantine/core'
import { IconDownload, IconReportAnalytics, IconTags } from '@tabler/icons-react'
import { useRef } from 'react'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import type { RowFilter } from '../../../shared/run/results.ts'
import { useRowMedia } from '../../bridge/row-media.ts'
import { MediaView, useMediaSteps } from '../../ui/content/media-view.tsx'
import { PrimaryButton } from '../../ui/controls.tsx'
import { Screen } from '../../ui/layout/screen.tsx'
import { UndoRedo } from '../../ui/verdicts/undo-redo.tsx'
import styles from './results.module.css'
import { useResultsKeys } from './results-keys.ts'
import { ResultsSide } from './results-side.tsx'
import { ResultsTable } from './results-table.tsx'
import { RowDrawer } from './row-drawer.tsx'
import { isNarrowed, withSearch } from './row-filter.ts'
import { useResults } from './use-results.ts'
import { useVerdictControl } from './verdicts-control.tsx'
import { VerdictsPanel } from './verdicts-panel.tsx'

/** Every row of a run: narrowed by facets and search, opened in a drawer, its content hidden until revealed. */
export function ResultsScreen(props: {
  runId: string
  /** The filter to begin with. */
  filter: RowFilter
  onExport: (filter: RowFilter) => void
  onRun: () => void
  /** Holds the run's rules against labels. */
  onEvaluate: () => void
  /** Sends what did not succeed again, as a child run. */
  onRetry: () => void
  /** Labels a sample of the rows one by one. */
  onLabel: () => void
  /** Corrects what did not succeed or was never sent, and then sends it as a child run. */
  onCorrect: () => void
}) {
  const results = useResults(props.runId, props.filter)
  const place = useRef<HTMLDivElement>(null)
  const keys = useResultsKeys(results, place)
  const { run, row, revealed } = results
  const isTask = run.operation === 'task'
  const { verdicts, act, dialog } = useVerdictControl(props.runId, row, isTask)
  const steps = useMediaSteps(results.isOpen ? (row?.row ?? null) : null)
  const media = useRowMedia(props.runId, results.isOpen ? (row?.row ?? null) : null)
  return (
    <Screen
      title="Results"
      subtitle={run.name}
      fixed
      actions={
        <>
          <Button variant="default" onClick={props.onRun}>
            Back to the run
          </Button>
          {isTask && (
            <>
              <Button variant="default" leftSection={<IconTags size="1rem" />} onClick={props.onLabel}>
                Label a sample
              </Button>
              <Button
                variant="default"
                leftSection={<IconReportAnalytics size="1rem" />}
                onClick={props.onEvaluate}
              >
                Evaluate
              </Button>
            </>
          )}
          {run.retryable > 0 && (
            <Button variant="default" onClick={props.onRetry}>
              Retry {formatCounted(run.retryable, 'row')}…
            </Button>
          )}
          {run.correctable > 0 && (
            <Button variant="default" onClick={props.onCorrect}>
              Correct {formatCounted(run.correctable, 'row')}…
            </Button>
          )}
          <PrimaryButton
            onPress={() => props.onExport(withSearch(results.chosen, results.typed))}
            icon={<IconDownload size="1rem" />}
          >
            {isNarrowed(results.filter) ? 'Export these rows' : 'Export'}
          </PrimaryButton>
        </>
      }
    >
      <div className={styles.layout} ref={place}>
        <ResultsSide results={results} />
        <ResultsTable results={results} verdicts={verdicts} onKey={keys.pressInGrid} />
        {results.isOpen && row !== null && (
          // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the table go on working in the drawer
          <div className={styles.drawerPlace} onKeyDown={keys.pressInDrawer}>
            <RowDrawer
              row={row.row}
              place={row.place}
              operation={run.operation}
              isAsync={run.isAsync}
              detail={results.detail}
              error={results.detailError}
              apiKeyEnv={results.plan?.connection.apiKeyEnv ?? 'SLUICE_API_KEY'}
              scoreEnd={results.table.scale.end}
              isContent={results.isContent}
              revealed={revealed.isRevealed(row.row)}
              onReveal={() => revealed.toggle(row.row)}
              onStep={results.step}
              onClose={keys.close}
              verdicts={
                isTask && (
                  <VerdictsPanel
                    verdicts={verdicts.of(row.row)}
                    act={act}
                    onVerdicts={(next) => verdicts.set(row, next)}
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
