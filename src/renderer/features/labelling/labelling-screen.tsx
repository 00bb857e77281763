import { Group, NativeSelect, SegmentedControl, Stack } from '@mantine/core'
import { IconTags } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { parseBridgeError } from '../../../shared/bridge/errors.ts'
import type { Evaluation, Judged, Metric } from '../../../shared/lookback/evaluation.ts'
import { describeLeftOut, toShareText } from '../../../shared/lookback/evaluation-view.ts'
import { LABELLING_MAX_ROWS, type Labelling } from '../../../shared/lookback/labelling.ts'
import type { Allocation } from '../../../shared/lookback/stratified-sample.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { NO_RULE, type RowFilter } from '../../../shared/run/row-filters.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { useLiveRuns } from '../../bridge/live-runs.ts'
import { forgetStrata, useVerdicts, type Verdicts, whenStored } from '../../bridge/verdicts.ts'
import { ActionButton, NumberField, PrimaryButton, SwitchField, WholeNumber } from '../../ui/controls.tsx'
import { Empty, ErrorNotice, Figures, Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { type Column, Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { LabelWalk } from './label-walk.tsx'
import styles from './labelling.module.css'
import { type LabellingState, useLabelling } from './use-labelling.ts'

/** A sample of a run's answered rows, labelled one by one; whoever leaves comes back to where they were. */
export function LabellingScreen(props: {
  runId: string
  onResults: (filter: RowFilter) => void
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

/** What came of a sample whose rows were all seen: how many were labelled, and how right the rules are by that. */
function LabellingEnd(props: {
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

const SIZE = 200
const SEED_MAX = 2 ** 32 - 1

/** Stands for drawing from all rows alike. */
const ALIKE = ''

/** What groups are called that are not those of a column. */
const RESERVED: readonly string[] = ['rule', 'score-band']

const ALLOCATIONS: readonly { value: Allocation; label: string }[] = [
  { value: 'proportional', label: 'Proportional to size' },
  { value: 'equal', label: 'Equal numbers' },
]

/** Asks how many rows are drawn, and from which groups. */
function DrawPanel(props: {
  runId: string
  /** The sample that a new one takes the place of. */
  known: Labelling | null
  onDrawn: (drawn: Labelling) => void
  /** Null where there is nothing to go back to. */
  onCancel: (() => void) | null
}) {
  const { runId, known } = props
  const [size, setSize] = useState(SIZE)
  const [by, setBy] = useState(known?.by ?? (known === null ? 'rule' : ALIKE))
  const [allocation, setAllocation] = useState<Allocation>(known?.allocation ?? 'proportional')
  const [seed, setSeed] = useState(known === null ? 1 : (known.seed + 1) % SEED_MAX)
  const [showsDecision, setShowsDecision] = useState(known?.showsDecision ?? false)
  const names = useQuery(ask.results.columns.queryOptions({ input: { runId } })).data ?? []
  const columns = [...new Set(names)].filter((name) => name !== '' && !RESERVED.includes(name))
  const facets = useQuery(ask.results.facets.queryOptions({ input: { runId, filter: {} } })).data
  const answered = facets?.facets.find(({ kind, value }) => kind === 'state' && value === 'succeeded')?.rows
  const rules = (facets?.facets ?? [])
    .filter(({ kind, value }) => kind === 'rule' && value !== NO_RULE)
    .map(({ label }) => label)
  const draw = useMutation({
    mutationFn: async () => {
      const drawn = await bridge.labelling.start({
        ...{ runId, size, allocation, seed, showsDecision },
        by: by === ALIKE ? null : by,
        rules: [...new Set([...(known?.rules ?? []), ...rules])],
      })
      forgetStrata(runId)
      props.onDrawn(drawn)
    },
  })
  const isEmpty = facets?.isCounted === true && (answered ?? 0) === 0
  return (
    <Panel
      title="Draw a sample"
      aside={answered === undefined ? null : `from ${formatCounted(answered, 'answered row')}`}
    >
      <Stack gap="md">
        <p className="max-w-text quiet">
          Rows are drawn at random and shown one by one. Your labels are saved as verdicts and estimate how
          accurate the rules are on all{' '}
          {answered === undefined ? 'rows' : formatCounted(answered, 'answered row')}. You can stop at any
          time and continue later: the rows come in random order, so any part of them is also a sample.
        </p>
        <div className={`grid ${styles.fields}`}>
          <WholeNumber
            label="Rows to draw"
            value={size}
            max={LABELLING_MAX_ROWS}
            onValue={setSize}
            {...(answered !== undefined &&
              size > answered && { description: `All ${formatCount(answered)} are drawn.` })}
          />
          <NativeSelect
            label="Group by"
            description="Draws from every group, so that none is missed."
            value={by}
            onChange={(event) => setBy(event.currentTarget.value)}
            data={[
              { value: 'rule', label: 'Triggered rules' },
              { value: 'score-band', label: 'Band of the highest score' },
              { value: ALIKE, label: 'No groups' },
              ...(columns.length === 0
                ? []
                : [
                    {
                      group: 'Column of the source',
                      items: columns,
                    },
                  ]),
            ]}
          />
          {by !== ALIKE && (
            <Stack gap={4}>
              <span className="text-sm bold" id="allocation">
                Rows per group
              </span>
              <SegmentedControl
                aria-labelledby="allocation"
                className="self-start"
                data={[...ALLOCATIONS]}
                value={allocation}
                onChange={(value) => setAllocation(value as Allocation)}
              />
            </Stack>
          )}
          <NumberField
            label="Seed"
            description="The same seed draws the same rows."
            value={seed}
            min={0}
            max={SEED_MAX}
            clampBehavior="strict"
            allowDecimal={false}
            onValue={(value) => value !== null && setSeed(value)}
          />
        </div>
        <SwitchField
          label="Show what the service decided"
          description="When off, you judge each row without seeing it, which keeps your labels independent."
          checked={showsDecision}
          onValue={setShowsDecision}
        />
        {known !== null && (
          <Notice kind="info" title="Verdicts that you have given stay">
            Those on rows of the present sample count for their own rows only from then on, unless they are
            drawn again.
          </Notice>
        )}
        {isEmpty && (
          <Notice kind="warning" title="The service has answered no row of this run">
            Only answered rows can be labelled.
          </Notice>
        )}
        {draw.error !== null && <ErrorNotice error={draw.error} />}
        <Group gap="xs">
          {props.onCancel !== null && <ActionButton label="Cancel" onClick={props.onCancel} />}
          <PrimaryButton
            onPress={() => draw.mutate()}
            busy={draw.isPending}
            blocked={isEmpty ? 'no row is answered' : facets === undefined ? 'reading the run' : undefined}
          >
            Draw and begin
          </PrimaryButton>
        </Group>
      </Stack>
    </Panel>
  )
}
