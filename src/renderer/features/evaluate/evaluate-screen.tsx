import { Group, Modal, MultiSelect, Progress, Stack } from '@mantine/core'
import { IconDownload, IconTag } from '@tabler/icons-react'
import { keepPreviousData, skipToken, useQuery } from '@tanstack/react-query'
import { useMemo, useRef, useState } from 'react'
import { parseBridgeError } from '../../../shared/bridge/errors.ts'
import type { EvaluateQuestionInput } from '../../../shared/bridge/evaluate.ts'
import type { Cell, Evaluation, EvaluationStep, Judged } from '../../../shared/lookback/evaluation.ts'
import {
  CELL_WORDS,
  countSupport,
  describeEstimated,
  describeEvaluated,
  describeLeftOut,
  INTERVAL_MEANING,
  MATRIX_CELLS,
  sayUnread,
  toFiguresCsv,
} from '../../../shared/lookback/evaluation-view.ts'
import { formatCount, formatCounted, formatShare } from '../../../shared/messages/figure-text.ts'
import { ROW_EXPORT_FORMATS, type RowExportFormat } from '../../../shared/run/export-formats.ts'
import { FACET_GROUPS, type RowFilter } from '../../../shared/run/row-filters.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { useLiveRuns } from '../../bridge/live-runs.ts'
import { saveExport, suggestFileName } from '../../bridge/save-export.ts'
import { ActionButton, CopyButton, PrimaryButton, RadioField, ScrollRegion } from '../../ui/controls.tsx'
import { Empty, ErrorNotice, Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText, Sentence } from '../../ui/text/safe-text.tsx'
import { useFileWriter } from '../../ui/written-file.tsx'
import styles from './evaluate.module.css'
import { LabelsPanel } from './labels-panel.tsx'
import { findRuleColumns, toQuestion, useLabelSettings } from './question.ts'
import { findPicked, formatEstimate, type PickedRule, RulePanels, toFigureColumns } from './rule-panels.tsx'
import { ScoresPanel } from './scores-panel.tsx'

/** How often an evaluation in progress is requested again; each answer waits for more of it. */
const AGAIN_MS = 50

/** How often the evaluation of a current run is requested. */
const REFRESH_MS = 3_000

/** How right a run's rules were, by labels: each with its rows and slices, and other thresholds' results. */
export function EvaluateScreen(props: {
  runId: string
  onResults: (filter: RowFilter) => void
  /** Called when the labels were changed, and with them the rows of each cell. */
  onRelabel: () => void
}) {
  const { runId } = props
  const name = useLiveRuns((live) => live.summaries[runId]?.name)
  const isLive = useLiveRuns((live) => live.snapshots[runId]?.phase !== 'ended')
  const choices = useQuery(
    ask.evaluate.choices.queryOptions({
      input: { runId },
      // New rules appear as they trigger.
      refetchInterval: ({ state }) => (isLive && state.data?.rules.length === 0 ? REFRESH_MS : false),
    }),
  )
  const [settings, change] = useLabelSettings(runId, choices.data ?? null)
  const [picked, setPicked] = useState<PickedRule>(null)
  const question = useMemo(() => toQuestion(settings), [settings])
  const step = useQuery(
    ask.evaluate.ask.queryOptions({
      input: question === null ? skipToken : { runId, question },
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) =>
        state.data !== undefined && state.data.progress !== null ? AGAIN_MS : isLive ? REFRESH_MS : false,
    }),
  )
  const made = question === null || step.error !== null ? null : (step.data ?? null)
  const evaluation = made?.evaluation ?? null
  const labelled = useLastOf(
    JSON.stringify([
      settings?.place,
      settings?.column,
      settings?.ruleColumns,
      settings?.file,
      settings?.separator,
      settings?.emptyIsNegative,
    ]),
    step.isPlaceholderData ? null : evaluation,
  )
  const isUnmapped = parseBridgeError(step.error)?.said.id === 'labels_name_no_rule'
  const isOld = step.isPlaceholderData || (made?.progress ?? null) !== null
  return (
    <Screen
      title="Evaluate"
      actions={
        evaluation !== null &&
        question !== null && (
          <FigureActions
            runId={runId}
            name={name ?? 'run'}
            question={question}
            evaluation={evaluation}
            picked={picked}
          />
        )
      }
    >
      {choices.error !== null && <ErrorNotice error={choices.error} onRetry={choices.refetch} />}
      {choices.isPending && <p className="small">Looking for labels in the rows of the run</p>}
      {choices.data !== undefined && settings !== null && (
        <LabelsPanel
          choices={choices.data}
          settings={settings}
          onChange={(part) => {
            change(part)
            props.onRelabel()
          }}
          evaluation={labelled}
          isNeeded={question === null || isUnmapped}
        />
      )}
      {choices.data !== undefined && question === null && settings !== null && (
        <NoLabels isGuess={findRuleColumns(settings)?.isGuess === true} />
      )}
      {isUnmapped && <NothingMapped />}
      {question !== null && step.error !== null && !isUnmapped && (
        <ErrorNotice error={step.error} onRetry={step.refetch} />
      )}
      {question !== null && step.error === null && <EvaluationProgress step={made} isOld={isOld} />}
      {evaluation !== null && made !== null && settings !== null && (
        <div className={`stack gap-4 ${styles.figures}`} data-old={isOld || undefined}>
          <EvaluatedRows evaluation={evaluation} />
          <RulePanels
            evaluation={evaluation}
            picked={picked}
            onPick={setPicked}
            onCell={(cell, rule) => props.onResults({ cell: { evaluation: made.id, cell, rule } })}
          />
          <ScoresPanel
            evaluation={evaluation}
            scores={made.scores}
            classes={choices.data?.classes ?? []}
            asked={settings.scores}
            onAsk={(scores) => change({ scores })}
          />
          <SlicesPanel
            evaluation={evaluation}
            columns={choices.data?.columns.map((column) => column.name) ?? []}
            hasFiles={choices.data?.hasFiles === true}
            chosen={settings.slices}
            onChoose={(slices) => change({ slices })}
            picked={picked}
          />
          <p className="small">{INTERVAL_MEANING}</p>
        </div>
      )}
    </Screen>
  )
}

/** The newest value for a key, even while there is none. */
function useLastOf<Value>(key: string, value: Value | null): Value | null {
  const last = useRef<{ key: string; value: Value } | null>(null)
  if (value !== null) last.current = { key, value }
  return last.current?.key === key ? last.current.value : null
}

/** How much of the run was examined, if there is no result yet, or only an older one. */
function EvaluationProgress({ step, isOld }: { step: EvaluationStep | null; isOld: boolean }) {
  if (step !== null && !isOld)
    return (
      <div className="visually-hidden" role="status">
        Evaluated
      </div>
    )
  const progress = step?.progress ?? null
  const share = progress === null || progress.of === 0 ? 0 : Math.min(1, progress.rows / progress.of)
  return (
    <Stack gap={4} c="dimmed" role="status">
      <Progress value={share * 100} aria-label="Rows looked at" />
      <span>
        {progress === null || progress.of === 0
          ? 'Evaluating'
          : `Evaluating: ${formatShare(share)} of the rows looked at`}
        {step !== null && step.evaluation !== null && '; the figures below are those of before'}
      </span>
    </Stack>
  )
}

function NoLabels({ isGuess }: { isGuess: boolean }) {
  if (isGuess) {
    return (
      <Empty icon={IconTag} title="Are these the labels?">
        Nothing is evaluated yet. Above are the columns that have the names of rules. Use them, or change
        where the labels are.
      </Empty>
    )
  }
  return (
    <Empty icon={IconTag} title="No labels chosen">
      A label says what a row should trigger. Above, choose the column that has them, or a file with labels.
      Without either, give verdicts on rows and evaluate by these.
    </Empty>
  )
}

function NothingMapped() {
  return (
    <Empty icon={IconTag} title="No label is mapped to a rule yet">
      Nothing is evaluated yet. Choose above which rule each label should trigger, or “any rule”. A label
      without a rule, such as “ham”, means that the row should trigger none.
    </Empty>
  )
}

/** How many rows were evaluated, which were left out, and what is odd about the labels. */
function EvaluatedRows({ evaluation }: { evaluation: Evaluation }) {
  const { strata, warnings } = evaluation
  const left = describeLeftOut(evaluation)
  return (
    <>
      <p>
        {describeEvaluated(evaluation)}
        {left === null ? '.' : `. Left out: ${left}.`}
        {strata !== null &&
          ` The labelled rows are a stratified sample: figures marked with ~ are ${describeEstimated(strata)}.`}
      </p>
      {[...warnings, ...sayUnread(evaluation)].map((warning) => (
        <Notice key={warning} kind="warning" title={<Sentence text={warning} />} />
      ))}
    </>
  )
}

/** Slices that are not columns of the source. */
const SPECIAL = Object.entries(FACET_GROUPS).flatMap(([value, { slice: label }]) =>
  label === undefined ? [] : [{ value, label }],
)

/** The selected rule, judged separately for each value of a column. */
function SlicesPanel(props: {
  evaluation: Evaluation
  columns: readonly string[]
  hasFiles: boolean
  chosen: readonly string[]
  onChoose: (slices: string[]) => void
  picked: PickedRule
}) {
  const { evaluation, columns, hasFiles, chosen, onChoose, picked } = props
  const special = SPECIAL.filter(({ value }) => value !== 'file' || hasFiles)
  const names = [...new Set(columns)].filter(
    (name) => name !== '' && special.every(({ value }) => value !== name),
  )
  return (
    <Panel title="Slices">
      <MultiSelect
        size="xs"
        maw="36rem"
        label="Separate figures for each value of"
        placeholder={chosen.length === 0 ? 'a column, language, model or variant' : ''}
        searchable
        maxValues={5}
        data={[
          { group: 'Of each row', items: special },
          { group: 'Columns of the source', items: names },
        ]}
        value={[...chosen]}
        onChange={onChoose}
      />
      {evaluation.slices.map((slice) => (
        <SliceTable key={slice.column} slice={slice} picked={picked} />
      ))}
    </Panel>
  )
}

function SliceTable({ slice, picked }: { slice: Evaluation['slices'][number]; picked: PickedRule }) {
  const { column, values, further_rows: further } = slice
  const [first] = values
  if (first === undefined) return null
  return (
    <ScrollRegion className="mt-3" label={`By ${column}`}>
      <Table
        look="dense"
        className={styles.table}
        isCaptionShown
        caption={
          <>
            By <SafeText text={column} max={60} />:{' '}
            <SafeText text={findPicked(first, picked).name} max={60} />
          </>
        }
        rows={values.map((value) => ({ ...value, judged: findPicked(value, picked).judged }))}
        toKey={({ value }) => value}
        columns={[
          {
            title: <SafeText text={column} max={60} />,
            cell: ({ value }) => (value === '' ? <em>empty</em> : <SafeText text={value} max={60} />),
          },
          { title: 'Rows', isNumber: true, cell: ({ rows }) => formatCount(rows) },
          {
            title: 'Should trigger',
            isNumber: true,
            cell: ({ judged }) => formatEstimate(judged, countSupport(judged)),
          },
          ...toFigureColumns(({ judged }: { judged: Judged }) => judged),
        ]}
      />
      {further > 0 && <p className="small">{formatCounted(further, 'row')} with further values.</p>}
    </ScrollRegion>
  )
}

interface FigureActionsProps {
  runId: string
  name: string
  question: EvaluateQuestionInput
  evaluation: Evaluation
  picked: PickedRule
}

/** The figures as text to paste elsewhere, and their rows as a file. */
function FigureActions(props: FigureActionsProps) {
  const { evaluation } = props
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <CopyButton label="Copy as CSV" text={() => toFiguresCsv(evaluation)} />
      <CopyButton label="Copy as JSON" text={() => JSON.stringify(evaluation, null, 2)} />
      <PrimaryButton onPress={() => setOpen(true)} icon={<IconDownload size="1rem" />}>
        Export rows…
      </PrimaryButton>
      {isOpen && <ExportDialog {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

type Choice = 'all' | Cell

/** Asks which evaluated rows to write in which format, each with its label and its cell for each rule. */
function ExportDialog(props: FigureActionsProps & { onClose: () => void }) {
  const { runId, question, evaluation, picked } = props
  const close = findPicked(evaluation, picked)
  const [choice, setChoice] = useState<Choice>('all')
  const [format, setFormat] = useState<RowExportFormat>('csv')
  const file = useFileWriter()
  const write = () =>
    file.write({
      describe: ({ rows }) => `${formatCounted(rows, 'row')} written`,
      write: () =>
        saveExport(suggestFileName(props.name, format, 'evaluation'), (target) =>
          bridge.evaluate.export({
            runId,
            question,
            cell: choice === 'all' ? null : { cell: choice, rule: close.rule },
            format,
            ...target,
          }),
        ),
    })
  return (
    <Modal opened onClose={props.onClose} title="Export rows">
      <Stack gap="md">
        <RadioField
          label="Rows"
          value={choice}
          onValue={setChoice}
          choices={[
            { value: 'all', label: `All evaluated rows (${formatCount(evaluation.rows.evaluated)})` },
            ...MATRIX_CELLS.map(({ cell, count }) => ({
              value: cell,
              label: (
                <>
                  <SafeText text={close.name} max={60} />: {CELL_WORDS[cell]} (
                  {formatCount(close.judged.matrix[count])})
                </>
              ),
            })),
          ]}
        />
        <RadioField
          label="Format"
          value={format}
          onValue={setFormat}
          choices={ROW_EXPORT_FORMATS.map(({ ending, label }) => ({ value: ending, label }))}
        />
        <p>Each row has its label and, for each rule, the cell of the matrix that it is in.</p>
        {file.notice}
        <Group justify="flex-end" gap="xs">
          <ActionButton label="Close" onClick={props.onClose} />
          <ActionButton label="Write the file" variant="filled" loading={file.isWriting} onClick={write} />
        </Group>
      </Stack>
    </Modal>
  )
}
