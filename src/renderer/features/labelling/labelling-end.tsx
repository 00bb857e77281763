import { Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { parseBridgeError } from '../../../shared/bridge/errors.ts'
import type { Evaluation, Judged, Metric } from '../../../shared/lookback/evaluation.ts'
import { describeLeftOut, toShareText } from '../../../shared/lookback/evaluation-view.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import type { RowFilter } from '../../../shared/run/row-filters.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { type Verdicts, whenStored } from '../../bridge/verdicts.ts'
import { ActionButton, PrimaryButton } from '../../ui/controls.tsx'
import { ErrorNotice, Figures, Notice, Panel } from '../../ui/layout/screen.tsx'
import { type Column, Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import type { LabellingState } from './use-labelling.ts'

/** What came of a sample whose rows were all seen: how many were labelled, and how right the rules are by that. */
export function LabellingEnd(props: {
  labelling: LabellingState
  verdicts: Verdicts
  onResults: (filter: RowFilter) => void
  onEvaluate: () => void
}) {
  const { labelling, verdicts } = props
  const { stored, runId, labelled, skipped } = labelling
  const rows = stored?.rows ?? []
  const unsure = rows.filter(([row]) => verdicts.of(row)[0]?.verdict === 'unsure').length
  const left = rows.length - labelled
  const estimate = useQuery({
    queryKey: ask.labelling.estimate.queryKey({ input: { runId } }),
    // The verdict on the last row may still be on its way.
    queryFn: async ({ signal }) => {
      await whenStored()
      return bridge.labelling.estimate({ runId }, { signal })
    },
    enabled: labelled > unsure,
    // Verdicts may have changed since it was last read.
    staleTime: 0,
  })
  return (
    <>
      <Panel title="All rows of the sample are seen">
        <Figures
          figures={[
            { label: 'Drawn', value: formatCount(rows.length), unit: rows.length === 1 ? 'row' : 'rows' },
            {
              label: 'Labelled',
              value: formatCount(labelled - unsure),
              unit: labelled - unsure === 1 ? 'row' : 'rows',
            },
            { label: 'Unsure', value: formatCount(unsure), unit: unsure === 1 ? 'row' : 'rows' },
            { label: 'Skipped', value: formatCount(left), unit: left === 1 ? 'row' : 'rows' },
          ]}
        />
        <Group gap="xs" mt="md">
          {left > 0 && (
            <PrimaryButton onPress={labelling.takeUpSkipped}>
              {skipped > 0 ? `Go through the ${formatCounted(left, 'skipped row')}` : 'Label the rest'}
            </PrimaryButton>
          )}
          <ActionButton label="Start again at the first row" onClick={() => labelling.goTo(0)} />
          <ActionButton
            label="Rows that miss a rule"
            onClick={() => props.onResults({ verdict: 'should' })}
          />
          <ActionButton
            label="Rows with a wrong rule"
            onClick={() => props.onResults({ verdict: 'should-not' })}
          />
        </Group>
      </Panel>
      {labelled <= unsure ? (
        <Notice kind="info" title="Nothing to estimate yet">
          No row of the sample has a label.
        </Notice>
      ) : parseBridgeError(estimate.error)?.said.id === 'labels_name_no_rule' ? (
        <Notice kind="info" title="Nothing to estimate yet">
          No labelled row triggered a rule, or should have.
        </Notice>
      ) : estimate.error !== null ? (
        <ErrorNotice error={estimate.error} onRetry={estimate.refetch} />
      ) : (
        estimate.data !== undefined && (
          <EstimatePanel evaluation={estimate.data} onEvaluate={props.onEvaluate} />
        )
      )}
    </>
  )
}

/** How right the rules are by the verdicts of the run, with 95 % intervals. */
function EstimatePanel({ evaluation, onEvaluate }: { evaluation: Evaluation; onEvaluate: () => void }) {
  const { overall, rules, rows, strata } = evaluation
  const leftOut = describeLeftOut(evaluation)
  const all = (strata ?? []).reduce((sum, stratum) => sum + stratum.rows, 0)
  return (
    <Panel
      title="How right the rules are"
      aside={
        strata === null
          ? `by ${formatCounted(rows.evaluated, 'labelled row')}`
          : `estimated for ${formatCounted(all, 'row')} from ${formatCounted(rows.evaluated, 'labelled row')}`
      }
      scrolls
    >
      <Table rows={[{ rule: 'Any of these rules', ...overall }, ...rules]} columns={ESTIMATE_COLUMNS} />
      <p className="p-2-4 quiet">
        {strata !== null && 'Each labelled row counts for the rows of its group. '}
        Counts are of labelled rows. {leftOut !== null && `Left out: ${leftOut}.`}
      </p>
      <p className="p-2-4 quiet">
        <ActionButton label="Evaluate in detail" small onClick={onEvaluate} />
      </p>
    </Panel>
  )
}

const ESTIMATE_COLUMNS: readonly Column<Judged & { rule: string }>[] = [
  { title: 'Rule', cell: ({ rule }) => <SafeText text={rule} max={120} /> },
  { title: 'Precision, 95 % interval', cell: ({ precision }) => <MetricWithInterval {...precision} /> },
  { title: 'Recall, 95 % interval', cell: ({ recall }) => <MetricWithInterval {...recall} /> },
  { title: 'F1, 95 % interval', cell: ({ f1 }) => <MetricWithInterval {...f1} /> },
  { title: 'Right', isNumber: true, cell: ({ matrix }) => formatCounted(matrix.true_positives, 'row') },
  { title: 'Too much', isNumber: true, cell: ({ matrix }) => formatCounted(matrix.false_positives, 'row') },
  { title: 'Missed', isNumber: true, cell: ({ matrix }) => formatCounted(matrix.false_negatives, 'row') },
]

function MetricWithInterval({ value, low, high }: Metric) {
  return (
    <>
      <strong className="block nowrap">{toShareText(value)}</strong>
      {low !== null && high !== null && (
        <span className="quiet nowrap">
          {' '}
          {toShareText(low)} to {toShareText(high)}
        </span>
      )}
    </>
  )
}
