import { IconTags } from '@tabler/icons-react'
import { useState } from 'react'
import type { RowFilter } from '../../../shared/run/row-filters.ts'
import { useLiveRuns } from '../../bridge/live-runs.ts'
import { useVerdicts } from '../../bridge/verdicts.ts'
import { ActionButton } from '../../ui/controls.tsx'
import { Empty, ErrorNotice, Screen } from '../../ui/layout/screen.tsx'
import { DrawPanel } from './draw-panel.tsx'
import { LabelWalk } from './label-walk.tsx'
import { LabellingEnd } from './labelling-end.tsx'
import { useLabelling } from './use-labelling.ts'

/** A sample of a run's answered rows, labelled one by one; whoever leaves comes back to where they were. */
export function LabellingScreen(props: {
  runId: string
  onResults: (filter: RowFilter) => void
  /** Opens the evaluation of the run. */
  onEvaluate: () => void
}) {
  const { runId, onResults } = props
  const summary = useLiveRuns((known) => known.summaries[runId])
  const verdicts = useVerdicts(runId)
  const labelling = useLabelling(runId, verdicts)
  const [isDrawing, setDrawing] = useState(false)
  const { stored } = labelling
  const isTask = (summary?.operation ?? 'task') === 'task'
  const isWalking = stored !== null && !isDrawing && stored.at < stored.rows.length
  return (
    <Screen
      title="Labelling"
      fixed={isWalking}
      actions={
        stored !== null &&
        !isDrawing && <ActionButton label="Draw another sample…" onClick={() => setDrawing(true)} />
      }
    >
      {labelling.error !== null && <ErrorNotice error={labelling.error} />}
      {!isTask ? (
        <Empty icon={IconTags} title="Nothing to label">
          Only runs that submit content trigger rules. Choose such a run.
        </Empty>
      ) : isWalking ? (
        <LabelWalk labelling={labelling} verdicts={verdicts} />
      ) : stored !== null && !isDrawing ? (
        <LabellingEnd
          labelling={labelling}
          verdicts={verdicts}
          onResults={onResults}
          onEvaluate={props.onEvaluate}
        />
      ) : (
        labelling.isRead && (
          <DrawPanel
            runId={runId}
            known={stored}
            onDrawn={(drawn) => {
              labelling.show(drawn)
              setDrawing(false)
            }}
            onCancel={stored === null ? null : () => setDrawing(false)}
          />
        )
      )}
    </Screen>
  )
}
