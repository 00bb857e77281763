import { Group, Progress, SegmentedControl, Stack } from '@mantine/core'
import { IconArrowLeft, IconArrowRight, IconPlus, IconTags } from '@tabler/icons-react'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { parseBridgeError } from '../../../shared/bridge/errors.ts'
import type { Evaluation, Judged, Metric } from '../../../shared/lookback/evaluation.ts'
import {
  countEstimated,
  describeLeftOut,
  formatInterval,
  sayUnread,
  toShareText,
} from '../../../shared/lookback/evaluation-view.ts'
import { LABELLING_MAX_ROWS, type Labelling } from '../../../shared/lookback/labelling.ts'
import type { Allocation } from '../../../shared/lookback/stratified-sample.ts'
import { setNote, toLabels, toVerdicts } from '../../../shared/lookback/verdict.ts'
import { toWholeMapping } from '../../../shared/mapping/match-columns.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { sayRow, toRowNumber } from '../../../shared/plan/source-place.ts'
import type { RowDetail } from '../../../shared/run/results.ts'
import { NO_RULE, type RowFilter } from '../../../shared/run/row-filters.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { useLiveRuns } from '../../bridge/live-runs.ts'
import { useRowMedia } from '../../bridge/row-media.ts'
import {
  forgetStrata,
  useVerdicts,
  type VerdictChange,
  type Verdicts,
  whenStored,
} from '../../bridge/verdicts.ts'
import { MediaView, useMediaSteps } from '../../ui/content/media-view.tsx'
import {
  ContentSwitch,
  createContentRule,
  findContent,
  MaskedText,
  useContentShown,
  useExceptions,
} from '../../ui/content/user-content.tsx'
import {
  ActionButton,
  NumberField,
  PrimaryButton,
  RevealButton,
  ScrollRegion,
  SelectField,
  SwitchField,
  WholeNumber,
} from '../../ui/controls.tsx'
import { Empty, ErrorNotice, Figures, Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { useShortcut, useWindowKeys } from '../../ui/shortcuts.ts'
import { describePlace } from '../../ui/states/row-states.tsx'
import { type Column, Table } from '../../ui/table/table.tsx'
import { LongText, SafeText, Sentence } from '../../ui/text/safe-text.tsx'
import {
  findRuleOfKey,
  NoteDialog,
  RuleButton,
  RuleDialog,
  UndoRedo,
  VerdictMark,
} from '../../ui/verdicts/verdicts.tsx'
import styles from './labelling.module.css'
import { type LabellingState, useLabelling } from './use-labelling.ts'

/** A sample of a run's answered rows, labelled one by one; returning continues at the same row. */
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
      {labelling.error !== null && !isWalking && (
        <ErrorNotice error={labelling.error} onDismiss={labelling.dismiss} />
      )}
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

/** The end of a sample: how many rows were labelled, and how right the rules are by these labels. */
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
    // The verdict on the last row may not be stored yet.
    queryFn: async ({ signal }) => {
      await whenStored()
      return bridge.labelling.estimate({ runId }, { signal })
    },
    enabled: labelled > unsure,
    // Verdicts may have changed since the last read.
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
      ) : estimate.data === undefined ? (
        <p className="quiet" role="status">
          Estimating from the labelled rows
        </p>
      ) : (
        <>
          <EstimateNotice evaluation={estimate.data} />
          <EstimatePanel
            evaluation={estimate.data}
            all={(stored?.strata ?? []).reduce((sum, stratum) => sum + stratum.rows, 0)}
            onEvaluate={props.onEvaluate}
          />
        </>
      )}
    </>
  )
}

/** Limits of the figures, such as groups without a labelled row; nothing if there are none. */
function EstimateNotice({ evaluation }: { evaluation: Evaluation }) {
  const warnings = [...evaluation.warnings, ...sayUnread(evaluation)]
  if (warnings.length === 0) return null
  return (
    <Notice kind="warning" title="What the figures below leave out">
      <ul className="m-0 pl-4">
        {warnings.map((warning) => (
          <li key={warning}>
            <Sentence text={warning} />
          </li>
        ))}
      </ul>
    </Notice>
  )
}

/** How right the rules are according to the run's verdicts, with 95 % intervals. */
function EstimatePanel(props: {
  evaluation: Evaluation
  /** Rows in all groups from which the sample was drawn. */
  all: number
  onEvaluate: () => void
}) {
  const { evaluation, all, onEvaluate } = props
  const { overall, rules, rows, strata } = evaluation
  const estimated = strata === null ? all : countEstimated(strata)
  const leftOut = describeLeftOut(evaluation)
  return (
    <Panel
      title="How right the rules are"
      aside={
        strata === null
          ? `by ${formatCounted(rows.evaluated, 'labelled row')}`
          : `estimated for ${estimated < all ? `${formatCount(estimated)} of ` : ''}${formatCounted(all, 'row')} from ${formatCounted(rows.evaluated, 'labelled row')}`
      }
      scrolls
    >
      <Table rows={[{ rule: 'Any of these rules', ...overall }, ...rules]} columns={ESTIMATE_COLUMNS} />
      <p className="p-2-4 quiet">
        {strata !== null && 'Each labelled row counts for the rows of its group. '}
        {estimated < all && 'Groups without a labelled row are left out. '}
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

function MetricWithInterval(metric: Metric) {
  const interval = formatInterval(metric)
  return (
    <>
      <strong className="block nowrap">{toShareText(metric.value)}</strong>
      {interval !== null && <span className="quiet nowrap"> {interval}</span>}
    </>
  )
}

const SIZE = 200
const SEED_MAX = 2 ** 32 - 1

/** The choice of drawing from all rows alike. */
const ALIKE = ''

/** Groupings that are not columns. */
const RESERVED: readonly string[] = ['rule', 'score-band']

const ALLOCATIONS: readonly { value: Allocation; label: string }[] = [
  { value: 'proportional', label: 'Proportional to size' },
  { value: 'equal', label: 'Equal numbers' },
]

/** Asks how many rows to draw, and from which groups. */
function DrawPanel(props: {
  runId: string
  /** The sample that a new one replaces. */
  known: Labelling | null
  onDrawn: (drawn: Labelling) => void
  /** Null if there is no earlier screen to return to. */
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
        runId,
        size,
        allocation,
        seed,
        showsDecision,
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
          <SelectField
            label="Group by"
            description="Draws from every group, so that none is missed."
            value={by}
            onValue={setBy}
            data={[
              { value: 'rule', label: 'Triggered rules' },
              { value: 'score-band', label: 'Band of the highest score' },
              { value: ALIKE, label: 'No groups' },
              ...(columns.length === 0 ? [] : [{ group: 'Column of the source', items: columns }]),
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
                onChange={setAllocation}
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
          value={showsDecision}
          onValue={setShowsDecision}
        />
        {known !== null && (
          <Notice kind="info" title="Verdicts that you have given stay">
            Those on rows of the present sample no longer count for other rows of their group, unless they are
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

/** The current row in large text, with the rules to label it with. */
function LabelWalk({ labelling, verdicts }: { labelling: LabellingState; verdicts: Verdicts }) {
  const { stored, runId } = labelling
  const [row] = stored?.rows[stored.at] ?? []
  const [next] = stored?.rows[stored.at + 1] ?? []
  const detail = useQuery(
    ask.results.row.queryOptions({ input: { runId, row: row ?? 1 }, placeholderData: keepPreviousData }),
  )
  // Prefetches the next row.
  useQuery(ask.results.row.queryOptions({ input: { runId, row: next ?? row ?? 1 } }))
  const early = useRef<string[]>([])
  const goTo = (change: VerdictChange | null) => {
    // Earlier keys were meant for the row that is left.
    early.current.length = 0
    const place = change === null ? null : labelling.findPlace(change.row.row)
    if (place !== null) labelling.goTo(place)
  }
  const isShown = row !== undefined && detail.data?.result.row === row
  const isUnreadable = detail.error !== null
  useEffect(() => {
    if (isUnreadable) early.current.length = 0
  }, [isUnreadable])
  useWindowKeys((event) => {
    if ((isShown && labelling.isAt(row)) || event.repeat || !KEYS.test(event.key)) return
    if (event.target instanceof HTMLElement && isForControl(event.key, event.target)) return
    event.preventDefault()
    if (!isUnreadable) early.current.push(event.key)
  })
  useShortcut({ key: 'z', mod: true }, () => goTo(verdicts.undo()))
  useShortcut({ key: 'z', mod: true, shift: true }, () => goTo(verdicts.redo()))
  useShortcut({ key: 'y', mod: true }, () => goTo(verdicts.redo()))
  if (stored === null || row === undefined) return null
  const total = stored.rows.length
  const done = labelling.labelled + labelling.skipped
  return (
    <div className="stack flex-1 min-h-0">
      <div className={`row flex-none gap-3 border-b bg-surface ${styles.bar}`}>
        <p className={`flex-none quiet ${styles.progress}`} aria-live="polite">
          <strong>
            {formatCount(stored.at + 1)} of {formatCount(total)}
          </strong>{' '}
          · {formatCount(labelling.labelled)} labelled, {formatCount(labelling.skipped)} skipped
        </p>
        <Progress flex={1} miw="4rem" value={(done / total) * 100} aria-label="Labelled or skipped" />
        <UndoRedo
          canUndo={verdicts.canUndo}
          canRedo={verdicts.canRedo}
          onUndo={() => goTo(verdicts.undo())}
          onRedo={() => goTo(verdicts.redo())}
        />
        <ContentSwitch />
      </div>
      {labelling.error !== null && <ErrorNotice error={labelling.error} onDismiss={labelling.dismiss} />}
      {isUnreadable && <ErrorNotice error={detail.error} onRetry={detail.refetch} />}
      {isShown && detail.data !== undefined && (
        <LabelledRow
          key={row}
          detail={detail.data}
          labelling={labelling}
          verdicts={verdicts}
          early={early.current}
        />
      )}
    </div>
  )
}

/** One row of the sample, initially with its earlier verdicts, if any. */
function LabelledRow(props: {
  detail: RowDetail
  labelling: LabellingState
  verdicts: Verdicts
  /** Keys pressed while this row was loading, oldest first; each is removed once handled. */
  early: string[]
}) {
  const { detail, labelling, verdicts, early } = props
  const { result } = detail
  const { stored: sample, runId } = labelling
  const triggered = result.triggeredRules.map(({ ruleName }) => ruleName)
  const showsDecision = sample?.showsDecision === true
  const given = verdicts.of(result.row)
  const [chosen, setChosen] = useState<ReadonlySet<string> | null>(null)
  const stored = toLabels(given, triggered) ?? new Set(showsDecision ? triggered : [])
  const labels = chosen ?? stored
  const [asked, setAsked] = useState<'note' | 'rule' | null>(null)
  const [isToggled, changeToggled] = useExceptions(false)
  const allShown = useContentShown()
  const media = useRowMedia(runId, result.row)
  const steps = useMediaSteps(result.row)
  const known = sample?.rules ?? []
  const rules = [...new Set([...known, ...(showsDecision ? triggered : []), ...labels])]
  const note = given[0]?.note ?? null
  const at = sample?.at ?? 0

  const toggle = (rule: string) =>
    setChosen((now) => {
      const next = new Set(now ?? labels)
      if (!next.delete(rule)) next.add(rule)
      return next
    })
  const isShown = isToggled !== allShown
  // A row must be seen before it can be said to trigger nothing, unless its rules were cleared one by one.
  const showsFirst = !isShown && labels.size === 0 && stored.size === 0
  const reveal = () => changeToggled((toggled) => !toggled)
  const store = () =>
    verdicts.set(
      result,
      toVerdicts(labels, triggered).map((verdict) => ({ ...verdict, note })),
    )
  const save = () => {
    if (showsFirst) return reveal()
    store()
    labelling.goOn(result.row)
  }
  /** Stores rules that were chosen and not saved. */
  const goTo = (place: number) => {
    const isChanged = labels.size !== stored.size || [...labels].some((rule) => !stored.has(rule))
    if (isChanged) store()
    labelling.goTo(place)
  }
  const giveUp = () => {
    verdicts.set(result, [{ verdict: 'unsure', rule: null, note }])
    labelling.goOn(result.row)
  }
  const actions: Readonly<Record<string, () => void>> = {
    Enter: save,
    u: giveUp,
    s: () => labelling.skip(result.row),
    n: () => setAsked('note'),
    ' ': reveal,
    ArrowLeft: () => goTo(at - 1),
    ArrowRight: () => goTo(at + 1),
  }
  const findAct = (key: string) => {
    const rule = findRuleOfKey(key, rules)
    return rule === null ? actions[key.length === 1 ? key.toLowerCase() : key] : () => toggle(rule)
  }
  useWindowKeys((event) => {
    if (event.repeat || !labelling.isAt(result.row)) return
    if (event.target instanceof HTMLElement && isForControl(event.key, event.target)) return
    const act = findAct(event.key)
    if (act === undefined) return
    event.preventDefault()
    act()
  })
  // One at a time: each key acts on the state that the one before left.
  useEffect(() => {
    if (asked !== null || !labelling.isAt(result.row)) return
    const first = early.findIndex((key) => findAct(key) !== undefined)
    const [key] = early.splice(0, first + 1).slice(-1)
    if (key !== undefined) findAct(key)?.()
  })
  return (
    <div className={`grid flex-1 min-h-0 ${styles.row}`}>
      <ScrollRegion className={`stack gap-4 min-h-0 ${styles.content}`} label="The row">
        <RowContent runId={runId} detail={detail} revealed={isShown} onReveal={reveal} />
        {media.media.length > 0 && <MediaView {...media} {...steps} />}
      </ScrollRegion>
      <aside className={`stack min-h-0 bg-surface ${styles.side}`} aria-label="Your label">
        <ScrollRegion className="stack flex-1 gap-4 min-h-0 p-4" label="Rules and note">
          {showsDecision && (
            <p>
              The service triggered{' '}
              <strong>
                {triggered.length === 0 ? (
                  'no rule'
                ) : (
                  <SafeText text={triggered.join(', ')} max={500} lines />
                )}
              </strong>
            </p>
          )}
          <RuleChoice rules={rules} labels={labels} onToggle={toggle} onOther={() => setAsked('rule')} />
          {given.length > 0 && (
            <p>{showsDecision ? <VerdictMark verdicts={given} /> : 'You have labelled this row.'}</p>
          )}
          {note !== null && (
            <p className={`p-2-3 bg-sunken breaks ${styles.note}`}>
              <SafeText text={note} max={10_000} lines />
            </p>
          )}
        </ScrollRegion>
        <div className={`grid flex-none gap-2 p-3-4 border-t ${styles.actions}`}>
          <ActionButton
            label={
              showsFirst ? 'Show the content' : labels.size === 0 ? 'Triggers nothing' : 'Save and continue'
            }
            variant="filled"
            fullWidth
            rightSection={<kbd>Enter</kbd>}
            onClick={save}
          />
          <Group gap="xs" grow>
            <ActionButton label="Unsure" rightSection={<kbd>U</kbd>} onClick={giveUp} />
            <ActionButton
              label="Skip"
              rightSection={<kbd>S</kbd>}
              onClick={() => labelling.skip(result.row)}
            />
            <ActionButton label="Note…" rightSection={<kbd>N</kbd>} onClick={() => setAsked('note')} />
          </Group>
          <Group gap="xs" grow>
            <ActionButton
              label="Back"
              disabled={at === 0}
              icon={IconArrowLeft}
              onClick={() => goTo(at - 1)}
            />
            <ActionButton
              label="Forward"
              rightSection={<IconArrowRight size="1rem" />}
              onClick={() => goTo(at + 1)}
            />
          </Group>
        </div>
      </aside>
      {asked === 'note' && (
        <NoteDialog
          row={sayRow(result.place)}
          note={note}
          hasVerdict={given.length > 0}
          onNote={(text) => {
            verdicts.set(result, setNote(given, text))
            setAsked(null)
          }}
          onClose={() => setAsked(null)}
        />
      )}
      {asked === 'rule' && (
        <RuleDialog
          title="Another rule"
          rules={[]}
          takesOthers
          onRule={(rule) => {
            labelling.change({ rules: [...new Set([...known, rule])] })
            setChosen(new Set([...labels, rule]))
            setAsked(null)
          }}
          onClose={() => setAsked(null)}
        />
      )}
    </div>
  )
}

/** Keys that a row is labelled with. */
const KEYS = /^([1-9usn ]|Enter|ArrowLeft|ArrowRight)$/i

/** Whether a key belongs to the focused control. Enter saves on a rule or a switch, which Space toggles. */
function isForControl(key: string, target: HTMLElement): boolean {
  const control = target.closest('button, a, summary, input')
  if (control === null) return false
  return key === ' ' || (key === 'Enter' && !control.matches('input, [data-label]'))
}

/** The rules for labelling a row; the first nine have keys. */
function RuleChoice(props: {
  rules: readonly string[]
  labels: ReadonlySet<string>
  onToggle: (rule: string) => void
  onOther: () => void
}) {
  return (
    <section aria-label="Rules that the row should trigger">
      <h2 className="mb-2 text-md bold">Which rules should it trigger?</h2>
      <Stack component="ul" gap={4} mb="xs">
        {props.rules.map((rule, index) => (
          <li key={rule}>
            <RuleButton
              rule={rule}
              index={index}
              data-label
              aria-pressed={props.labels.has(rule)}
              onClick={() => props.onToggle(rule)}
            />
          </li>
        ))}
      </Stack>
      <ActionButton label="Another rule…" variant="subtle" small icon={IconPlus} onClick={props.onOther} />
    </section>
  )
}

/** Longest text that is shown large, in UTF-16 code units; a longer one scrolls in a block of its own. */
const LARGE_MAX = 4_000

/** The content of a row in large text; its other cells on request, since one of them may be a label. */
function RowContent(props: { runId: string; detail: RowDetail; revealed: boolean; onReveal: () => void }) {
  const { detail, revealed } = props
  const { columns, result } = detail
  const plan = useQuery(ask.runs.readPlan.queryOptions({ input: { runId: props.runId } })).data ?? null
  if (plan === null) return null
  const isContent = createContentRule(columns, toWholeMapping(plan, columns))
  const subject = new Set(findContent(plan, columns))
  const cells = result.cells.map((text, index) => ({
    text,
    index,
    name: columns[index] ?? `Column ${index + 1}`,
  }))
  const main = cells.filter(
    ({ text, index }) => text !== '' && (subject.has(index) || isContent(index, text)),
  )
  const shown = main.length > 0 ? main : cells.filter(({ text }) => text !== '')
  const others = cells.filter((cell) => !shown.includes(cell))
  return (
    <>
      <header className="row gap-3">
        <h2 className="text-md bold">Row {toRowNumber(result.place)}</h2>
        <span className="small">{describePlace(result.row, result.place)}</span>
        <RevealButton
          className="ml-auto"
          isRevealed={revealed}
          rightSection={<kbd>Space</kbd>}
          onClick={props.onReveal}
        />
      </header>
      {shown.map(({ text, index, name }) => (
        <section key={index} aria-label={name}>
          <h3 className="small mb-1 bold">
            <SafeText text={name} max={80} />
          </h3>
          {!revealed && isContent(index, text) ? (
            <p className={styles.text}>
              <MaskedText text={text} revealed={false} />
            </p>
          ) : text.length > LARGE_MAX ? (
            <LongText text={text} label={name} />
          ) : (
            <p className={styles.text}>
              <SafeText text={text} max={LARGE_MAX} lines />
            </p>
          )}
        </section>
      ))}
      {others.length > 0 && (
        <details className={styles.others}>
          <summary>Other cells</summary>
          <dl className="grid gap-2 mt-2">
            {others.map(({ text, index, name }) => (
              <div key={index}>
                <dt className="quiet breaks">
                  <SafeText text={name} max={80} />
                </dt>
                <dd className="breaks">
                  {text === '' ? (
                    <span className="small">empty</span>
                  ) : (
                    <SafeText text={text} max={500} lines />
                  )}
                </dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </>
  )
}
