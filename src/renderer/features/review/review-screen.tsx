import { Group, Modal, Stack } from '@mantine/core'
import { IconArrowLeft, IconChevronLeft, IconChevronRight, IconSend } from '@tabler/icons-react'
import { keepPreviousData, skipToken, useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ConnectionEntry } from '../../../shared/bridge/connections.ts'
import { toShownError } from '../../../shared/bridge/errors.ts'
import type { PageRow, RequestReview } from '../../../shared/bridge/results.ts'
import {
  type CapacityBounds,
  planCapacity,
  toCapacityThresholds,
} from '../../../shared/load/capacity-plan.ts'
import { CAPACITY_WARNING, describeCapacityPlan } from '../../../shared/load/capacity-view.ts'
import { describeLoad, type Load, toMeasuredMs, toPlannedRequests } from '../../../shared/load/load.ts'
import { formatCount, formatCounted, formatMs, formatSpan } from '../../../shared/messages/figure-text.ts'
import { nameAnswer } from '../../../shared/messages/name-code.ts'
import { findMendingStep, type MendingStep } from '../../../shared/messages/outcome-advice.ts'
import { prettyJson } from '../../../shared/messages/pretty-json.ts'
import { sayExpected } from '../../../shared/messages/problem-messages.ts'
import { type Operation, sendsKey, subjectOf, toRowsPerItem } from '../../../shared/operations/operations.ts'
import { RETRY_OPTIONS } from '../../../shared/options/retry-options.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { nameRow, toRowAndRecord, toRowNumber } from '../../../shared/plan/source-place.ts'
import type { AcceptCode } from '../../../shared/run/accept-code.ts'
import { countSettled } from '../../../shared/run/counts.ts'
import type { RowCounts } from '../../../shared/run/run.ts'
import type { RunSnapshot } from '../../../shared/run/snapshot.ts'
import { askRequest } from '../../bridge/asked-request.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { useFollowRun, useLiveRuns } from '../../bridge/live-runs.ts'
import { saveExport, suggestFileName } from '../../bridge/save-export.ts'
import { findDestinationGap, type NamedPlace, nameDestination } from '../../ui/connection/destination.ts'
import { ConnectionChip, DestinationPanel, ProductionNotice } from '../../ui/connection/destination-panel.tsx'
import { ServiceMessage } from '../../ui/content/service-message.tsx'
import { ContentSwitch, maskJson, useContentShown } from '../../ui/content/user-content.tsx'
import {
  ActionButton,
  bindFields,
  IconButton,
  PrimaryButton,
  TextField,
  WholeNumber,
} from '../../ui/controls.tsx'
import { ErrorNotice, type Figure, Figures, Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { OperationNotice } from '../../ui/operations/operation-looks.tsx'
import { OptionInputs } from '../../ui/options/option-inputs.tsx'
import { readTyped } from '../../ui/options/typed-options.ts'
import { BeforeSending, useAcceptance } from '../../ui/problems/before-sending.tsx'
import { type KeyNames, SentBefore } from '../../ui/problems/sent-before.tsx'
import { toGuess } from '../../ui/runs/read-as-line.tsx'
import { AnswerLabel, describePlace, RowNumber, StateLabel } from '../../ui/states/row-states.tsx'
import { FactList, FactTable, Table } from '../../ui/table/table.tsx'
import { LongText, SafeText, Sentence } from '../../ui/text/safe-text.tsx'
import { useFileWriter } from '../../ui/written-file.tsx'
import { describeSendingTo, isBeyondTrial } from './beyond-trial.ts'
import styles from './review.module.css'
import {
  estimateDurationMs,
  type Settings,
  useNewestFor,
  useSettingsDraft,
  withDestination,
} from './settings.ts'

const FIRST_ROWS = 10

/** A trial: ten rows, or the one request with the first of many rows. */
function toTrial(rowsPerItem: number): { requests: number; label: string } {
  if (rowsPerItem > 1) return { requests: 1, label: 'Send the first request' }
  return { requests: FIRST_ROWS, label: `Send the first ${FIRST_ROWS}` }
}

/** The last review before sending: exact requests, destination, pace, and a first few rows as a trial. */
export function ReviewScreen(props: {
  runId: string
  /** Whether the rows are being read again, so that those of `runId` are outdated. */
  isChecking: boolean
  operation: Operation
  load: Load | null
  /** The limits of a capacity search with the load test; null if none is asked for. */
  bounds: CapacityBounds | null
  settings: Settings
  connections: readonly ConnectionEntry[]
  lastBaseUrl: string | null
  onSettings: (settings: Settings) => Promise<void>
  /** Restricts sending to rows that were not sent before; null to send all. */
  onlyNew: NonNullable<Plan['onlyNew']> | null
  onOnlyNew: (onlyNew: NonNullable<Plan['onlyNew']> | null) => Promise<void>
  /** Names by which rows sent before may be recognized. */
  keyNames: KeyNames
  /** Sends, with the necessary warnings accepted. */
  onSendFirst: (limit: number, accept: AcceptCode[]) => Promise<void>
  onSendAll: (accept: AcceptCode[]) => Promise<void>
  /** Shows the run, once more of it than a trial was sent. */
  onOpenRun: () => void
  onSearch: (accept: AcceptCode[]) => Promise<void>
  /** Goes back to the step that decides what rows contain. */
  onMend: (step: MendingStep) => void
  /** Opens a row's request, to change it and send it once by hand. */
  onScratchpad: (runId: string, row: number) => Promise<void>
}) {
  const { runId, operation, load, bounds, connections } = props
  const needsKey = sendsKey(operation)
  const findGap = ({ destination }: Settings) => findDestinationGap(destination, { needsKey, connections })
  useFollowRun(runId)
  const snapshot = useLiveRuns((live) => live.snapshots[runId])
  const [firstRunId] = useState(runId)
  const [record, setRecord] = useState(1)
  const [isAsking, setAsking] = useState(false)
  const scratch = useMutation({ mutationFn: () => props.onScratchpad(runId, record) })
  const {
    settings,
    change,
    isApplying,
    error: applyingError,
  } = useSettingsDraft(props.settings, props.onSettings, (settled) => findGap(settled) === null)
  const open = useQuery(
    ask.check.openWarnings.queryOptions({
      input: isHeld(snapshot) ? { runId } : skipToken,
      placeholderData: keepPreviousData,
    }),
  )
  const problems = useQuery(
    ask.check.problems.queryOptions({
      input: isHeld(snapshot) ? { runId } : skipToken,
      placeholderData: keepPreviousData,
    }),
  )
  const summary = useLiveRuns((live) => live.summaries[runId])
  const place = nameDestination(settings.destination, connections)
  // A capacity search asks before it begins.
  const isAskedOutside = place.kind === 'production' && bounds === null
  const acceptance = useAcceptance(open.data ?? [], isAskedOutside)
  const first = useMutation({ mutationFn: (limit: number) => props.onSendFirst(limit, acceptance.accepted) })
  const all = useMutation({ mutationFn: () => props.onSendAll(acceptance.accepted) })
  const name = summary?.name ?? 'load test'
  const k6 = useFileWriter()
  const request = useQuery(
    ask.review.readRequest.queryOptions({
      input: isHeld(snapshot) ? { runId, row: record } : skipToken,
    }),
  )
  // Rows are held for the applied destination, which may not be the typed one yet.
  const destination = JSON.stringify(settings.destination)
  const isApplied = destination === JSON.stringify(props.settings.destination) && !props.isChecking
  const isThere = isApplied && snapshot !== undefined && snapshot.phase !== 'intake'
  const counts = useNewestFor(destination, isThere ? snapshot.rows : null)
  const shownRequest = useNewestFor(destination, isThere ? (request.data ?? null) : null)
  const settled = counts === null ? 0 : countSettled(counts)
  const sent = settled + (counts?.awaiting ?? 0)
  const rowsPerItem = toRowsPerItem(operation)
  const trial = toTrial(rowsPerItem)
  const tried = useQuery(
    ask.results.page.queryOptions({
      input: sent === 0 ? skipToken : { runId, filter: {}, offset: 0, limit: FIRST_ROWS * 5 },
      // Read again whenever a row is sent or settled.
      queryKey: ['first rows', runId, sent, settled],
      placeholderData: (rows, query) => (query?.queryKey.includes(runId) ? rows : undefined),
    }),
  )

  const left = counts?.not_sent ?? 0
  const gap = findGap(settings)
  const isReading =
    isApplying || props.isChecking || !isHeld(snapshot) || (open.data === undefined && open.error === null)
  const blocked =
    gap ??
    (applyingError !== null
      ? 'The rows could not be checked for these settings'
      : isReading
        ? 'The rows are being read'
        : acceptance.blocked)
  // Typed settings are applied a moment later. For another destination, the rows are first checked and shown.
  const isSoon =
    gap === null &&
    applyingError === null &&
    (isApplying || (runId !== firstRunId && isReading && !props.isChecking)) &&
    counts !== null &&
    destination === JSON.stringify(props.settings.destination)
  const refused = load !== null || counts === null || left === 0 ? null : findRefusedTrial(counts)
  const step = snapshot === undefined ? null : findMendingStep(snapshot.rows, snapshot.errors, operation.kind)
  const isSent =
    snapshot !== undefined &&
    !props.isChecking &&
    isBeyondTrial(snapshot, load !== null, trial.requests * rowsPerItem)
  const isTrying = snapshot?.phase === 'running'
  const others = isTrying ? Math.max(0, left + sent - trial.requests * rowsPerItem) : left
  const sendLabel =
    counts === null
      ? 'Send the rows'
      : `Send ${isTrying || sent > 0 ? 'the other ' : ''}${formatCounted(others, 'row')}`
  const noTrial =
    blocked ??
    (isTrying
      ? 'The first rows are being sent'
      : sent > 0
        ? 'The first rows were sent: their answers are below'
        : left === 0
          ? 'Nothing is left to send'
          : undefined)
  const error = applyingError ?? first.error ?? all.error ?? scratch.error ?? open.error ?? request.error
  return (
    <Screen
      title="Review"
      subtitle={
        gap === null ? (
          <>
            {counts !== null
              ? isSent
                ? describeSendingTo(snapshot, load !== null)
                : `${formatCounted(left, 'row')} ${acceptance.blocked === undefined ? 'ready to send' : 'to confirm and send'} to `
              : applyingError === null
                ? 'The rows are being read, to be sent to '
                : 'The rows could not be checked for '}
            <ConnectionChip place={place} />
          </>
        ) : (
          <span className="warned">{gap}</span>
        )
      }
      actions={
        <>
          <ContentSwitch />
          {load !== null && bounds === null && (
            <ActionButton
              label="Save as k6 project"
              disabled={gap !== null || isReading || left === 0}
              loading={k6.isWriting}
              onClick={() =>
                k6.write({
                  write: () =>
                    saveExport(suggestFileName(name, 'k6.zip', 'load'), (target) =>
                      bridge.exports.create({ runId, format: 'k6.zip', ...target }),
                    ),
                })
              }
            />
          )}
          {load === null && !isSent && (
            <ActionButton
              label={trial.label}
              disabled={noTrial !== undefined}
              title={noTrial}
              loading={first.isPending}
              onClick={() => first.mutate(trial.requests)}
            />
          )}
          {isSent ? (
            <PrimaryButton onPress={props.onOpenRun}>Open the run</PrimaryButton>
          ) : refused === null ? (
            <PrimaryButton
              onPress={() => (bounds === null ? all.mutate() : setAsking(true))}
              busy={all.isPending}
              soon={isSoon}
              blocked={counts !== null && others === 0 ? 'Nothing is left to send' : blocked}
              icon={<IconSend size="1rem" />}
            >
              {load === null
                ? sendLabel
                : bounds === null
                  ? 'Start the load test'
                  : 'Start the capacity search…'}
            </PrimaryButton>
          ) : (
            <>
              <ActionButton
                label={sendLabel}
                disabled={blocked !== undefined}
                title={blocked}
                loading={all.isPending}
                onClick={() => all.mutate()}
              />
              <PrimaryButton
                onPress={() => props.onMend(step ?? 'mapping')}
                icon={<IconArrowLeft size="1rem" />}
              >
                {step === 'operation' ? 'Change the operation' : 'Change the mapping'}
              </PrimaryButton>
            </>
          )}
        </>
      }
    >
      {error !== null && <ErrorNotice error={error} />}
      {refused !== null && (
        <Notice kind="warning" title={refused}>
          The other {formatCounted(others, 'row')} would probably be rejected, too. The answers are in the
          table below. Change the mapping, or the operation and its options, and try again.
        </Notice>
      )}
      {k6.notice}
      <OperationNotice kind={operation.kind} isLast />
      <BeforeSending
        acceptance={acceptance}
        rows={left}
        place={place}
        counts={counts}
        groups={problems.data ?? []}
        guess={toGuess(summary)}
        sentBefore={
          load === null &&
          counts !== null &&
          (summary?.sent_before !== undefined || props.onlyNew !== null) ? (
            <SentBefore
              summary={summary}
              operation={operation}
              onlyNew={props.onlyNew}
              names={props.keyNames}
              onOnlyNew={props.onOnlyNew}
              disabled={isTrying || sent > 0}
            />
          ) : null
        }
      />
      <div className={`grid gap-4 items-start ${styles.columns}`}>
        <Stack gap="md" miw={0}>
          <DestinationPanel
            destination={settings.destination}
            connections={connections}
            needsKey={needsKey}
            offersSecondHost={operation.kind === 'task' && operation.api === 'v2'}
            lastBaseUrl={props.lastBaseUrl}
            onDestination={(destination) => change(withDestination(settings, destination, connections))}
          />
          {load !== null ? (
            <LoadPanel
              load={load}
              bounds={bounds}
              rows={counts === null ? null : left}
              settings={settings}
              onSettings={change}
            />
          ) : (
            <PacePanel
              settings={settings}
              requests={counts === null ? null : Math.ceil(left / rowsPerItem)}
              rowsPerItem={rowsPerItem}
              measuredMs={snapshot?.latencyMs?.mean ?? null}
              onSettings={change}
            />
          )}
        </Stack>
        <Stack gap="md" miw={0}>
          {tried.data !== undefined && sent > 0 && (
            <FirstRows
              runId={runId}
              operation={operation.kind}
              rows={tried.data.rows.filter((known) => known.attempts > 0).slice(0, FIRST_ROWS)}
            />
          )}
          <RequestPanel
            runId={runId}
            record={record}
            rows={counts?.read ?? 0}
            request={shownRequest}
            gap={gap}
            onRecord={setRecord}
            onScratchpad={() => scratch.mutate()}
          />
        </Stack>
      </div>
      {isAsking && load !== null && bounds !== null && (
        <CapacityDialog
          load={load}
          bounds={bounds}
          place={place}
          onStart={() => props.onSearch(acceptance.accepted)}
          onClose={() => setAsking(false)}
        />
      )}
    </Screen>
  )
}

function isHeld(snapshot: RunSnapshot | undefined): snapshot is RunSnapshot {
  return snapshot !== undefined && snapshot.phase !== 'intake' && snapshot.phase !== 'ended'
}

/** Says before a capacity search begins what it does to the service. */
function CapacityDialog(props: {
  load: Load
  bounds: CapacityBounds
  place: NamedPlace
  onStart: () => Promise<void>
  onClose: () => void
}) {
  const { load, bounds, place } = props
  const start = useMutation({ mutationFn: props.onStart })
  const planned = planCapacity(load, bounds)
  if (!planned.ok) return null
  const { probes, atMost } = describeCapacityPlan(planned.plan, load)
  return (
    <Modal opened onClose={props.onClose} title="Start the capacity search?">
      <Stack gap="md">
        <p>
          <strong>{CAPACITY_WARNING}</strong>
        </p>
        <FactList
          facts={[
            ['Service', <ConnectionChip key="place" place={place} />],
            ['Probes', probes],
            ['At most', atMost],
            [
              'Thresholds',
              <ul key="thresholds">
                {toCapacityThresholds(load).map(({ expression }) => (
                  <li key={expression}>
                    <code>
                      <SafeText text={expression} max={120} />
                    </code>
                  </li>
                ))}
              </ul>,
            ],
          ]}
        />
        {place.kind === 'production' && <ProductionNotice place={place} />}
        {start.error !== null && <ErrorNotice error={start.error} />}
        <Group justify="flex-end" gap="xs">
          <ActionButton label="Cancel" data-autofocus onClick={props.onClose} />
          <ActionButton
            label="Start the search"
            variant="filled"
            loading={start.isPending}
            onClick={() => start.mutate()}
          />
        </Group>
      </Stack>
    </Modal>
  )
}

/** Says that the service rejected every row of the trial; null if it did not, or has not answered yet. */
export function findRefusedTrial(rows: RowCounts): string | null {
  const { rejected, awaiting } = rows
  if (rejected === 0 || awaiting > 0 || rejected < countSettled(rows)) return null
  return `The service rejected ${rejected === 1 ? 'the first row' : `all of the first ${formatCount(rejected)} rows`}`
}

function FirstRows(props: { runId: string; operation: string; rows: readonly PageRow[] }) {
  const { runId, operation, rows } = props
  const { outcome } = subjectOf(operation)
  return (
    <Panel title="The first rows, as the service answered" flush scrolls>
      <Table
        look="dense"
        className={styles.first}
        rows={rows}
        toKey={({ row }) => row}
        columns={[
          {
            title: 'Row',
            isNumber: true,
            cell: ({ row, place }) => <RowNumber record={row} place={place} />,
          },
          { title: 'State', cell: ({ state, attempts }) => <StateLabel state={state} attempts={attempts} /> },
          { title: outcome, cell: (row) => <RowOutcome operation={operation} row={row} /> },
          {
            title: 'Answer',
            cell: ({ row, status, errorCode, message }) => (
              <ServiceMessage
                message={nameAnswer(status, errorCode ?? message)}
                request={
                  errorCode === null && message !== null && status !== null
                    ? askRequest(runId, { row })
                    : null
                }
              >
                {(text) => <SafeText text={text} max={80} />}
              </ServiceMessage>
            ),
          },
          {
            title: 'Latency',
            isNumber: true,
            cell: ({ durationMs }) => (durationMs === null ? '–' : formatMs(durationMs)),
          },
        ]}
      />
    </Panel>
  )
}

function RowOutcome({ operation, row }: { operation: string; row: PageRow }) {
  // Only a row that the service judged can have triggered no rule.
  const none = <span className="quiet">{row.state === 'succeeded' ? 'none' : '–'}</span>
  if (operation !== 'task') {
    if (row.answer !== null) return <AnswerLabel answer={row.answer} />
    return row.customIndexItemId === null ? none : <SafeText text={row.customIndexItemId} max={60} />
  }
  if (row.triggeredRules.length === 0) return none
  return <SafeText text={row.triggeredRules.map((rule) => rule.ruleName).join(', ')} max={80} />
}

function RequestPanel(props: {
  runId: string
  record: number
  rows: number
  request: RequestReview | null
  /** What is missing in the connection, so that there is no request to show; null if nothing. */
  gap: string | null
  onRecord: (record: number) => void
  /** Opens the row's request, to change it and send it once by hand. */
  onScratchpad: () => void
}) {
  const { record, rows, request, gap, onRecord } = props
  const isRead = request?.row === record
  return (
    <Panel
      title="Exact request"
      aside={
        <ActionButton
          label="Open in Scratchpad"
          small
          disabled={gap !== null || !isRead}
          onClick={props.onScratchpad}
        />
      }
    >
      <div className="row gap-1 mb-3 quiet nowrap">
        <IconButton
          icon={IconChevronLeft}
          label="Previous row"
          disabled={record <= 1}
          onClick={() => onRecord(record - 1)}
        />
        <span>Row</span>
        <RowField
          key={record}
          runId={props.runId}
          shown={isRead ? nameRow(toRowAndRecord(request.row, request.place)) : ''}
          onRecord={onRecord}
        />
        <IconButton
          icon={IconChevronRight}
          label="Next row"
          disabled={record >= rows}
          onClick={() => onRecord(record + 1)}
        />
      </div>
      {gap !== null && <p className="quiet">The request is shown once the connection is complete.</p>}
      {gap === null && request === null && <p className="quiet">The rows are being read.</p>}
      {gap === null && request !== null && <RequestText request={request} />}
    </Panel>
  )
}

/** Takes a row's number as in its spreadsheet. */
function RowField(props: { runId: string; shown: string; onRecord: (record: number) => void }) {
  const { shown } = props
  const [typed, setTyped] = useState<string | null>(null)
  const find = useMutation({
    mutationFn: (row: string) => bridge.review.findRow({ runId: props.runId, row }),
    onSuccess: (record) => {
      setTyped(null)
      props.onRecord(record)
    },
  })
  const go = () => {
    if (typed !== null && typed.trim() !== shown) find.mutate(typed)
  }
  return (
    <TextField
      aria-label="Row"
      size="xs"
      w={shown.includes(':') ? '12rem' : '5rem'}
      value={typed ?? shown}
      error={find.error === null ? undefined : toShownError(find.error).message}
      onValue={(next) => {
        find.reset()
        setTyped(next)
      }}
      onBlur={go}
      onKeyDown={(event) => {
        if (event.key === 'Enter') go()
      }}
    />
  )
}

function RequestText({ request }: { request: RequestReview }) {
  const shown = useContentShown()
  if (request.unsentBecause !== null) {
    return (
      <Notice kind="warning" title="This row is not sent">
        {request.problems.every(({ severity }) => severity !== 'error') && (
          <SafeText text={request.unsentBecause} max={300} lines />
        )}
        <ul>
          {request.problems.map((problem) => (
            <li key={`${problem.code} ${problem.field ?? ''}`}>
              <Sentence text={`${problem.field ?? 'row'}: ${sayExpected(problem, 'window')}`} />
            </li>
          ))}
        </ul>
      </Notice>
    )
  }
  return (
    <Stack gap="xs">
      <FactTable
        look="plain"
        className={styles.headers}
        facts={[
          ['row', `${toRowNumber(request.place)}, ${describePlace(request.row, request.place)}`],
          [request.method, <SafeText key="url" text={request.url} max={2_000} lines />],
          ...request.headers.map(
            ([name, value]) => [name, <SafeText key={name} text={value} max={200} />] as const,
          ),
        ]}
      />
      {request.body === null ? (
        <p className="quiet">no body</p>
      ) : (
        <LongText text={prettyJson(shown ? request.body : maskJson(request.body))} label="Request body" />
      )}
    </Stack>
  )
}

/** Assumed time of an answer before one was measured, milliseconds. */
const ASSUMED_ANSWER_MS = 250

/** Longest time to wait for an answer. */
const TIMEOUT_MAX_S = 3_600

/** How fast to send, and the result: the number of requests and the expected duration. */
function PacePanel(props: {
  settings: Settings
  /** Null while the rows are being read. */
  requests: number | null
  /** Most rows that one request carries. */
  rowsPerItem: number
  /** Mean of the answers so far in milliseconds; null before the first. */
  measuredMs: number | null
  onSettings: (settings: Settings) => void
}) {
  const { settings, requests, rowsPerItem, measuredMs, onSettings } = props
  const answerMs = measuredMs ?? ASSUMED_ANSWER_MS
  const field = bindFields(settings, (part) => onSettings({ ...settings, ...part }))
  return (
    <Panel title="Pace">
      <Group gap="md" align="end" mb="md">
        <WholeNumber w="6.5rem" label="In flight" {...field('concurrency')} max={1000} />
        <OptionInputs
          table={RETRY_OPTIONS}
          section="pace"
          values={settings.retry}
          mistakes={readTyped(RETRY_OPTIONS, settings.retry).mistakes}
          onChange={(change) => onSettings({ ...settings, retry: { ...settings.retry, ...change } })}
        />
        <WholeNumber w="6.5rem" label="Timeout (s)" {...field('timeoutS')} max={TIMEOUT_MAX_S} />
      </Group>
      <Figures
        figures={[
          {
            label: 'Requests in all',
            value: requests === null ? '–' : formatCount(requests),
            note: rowsPerItem === 1 ? 'one per row' : `up to ${formatCount(rowsPerItem)} rows in each`,
          },
          {
            label: 'Estimated time',
            value:
              requests === null
                ? '–'
                : formatSpan(estimateDurationMs(requests, settings.concurrency, answerMs)),
            note:
              measuredMs === null
                ? `if an answer takes ${ASSUMED_ANSWER_MS} ms`
                : `at the ${Math.round(measuredMs)} ms measured`,
          },
        ]}
      />
      <p className="mt-3 quiet">
        Sluice retries what the service did not accept or what is safe to repeat, and honours Retry-After.
      </p>
    </Panel>
  )
}

/** What a load test will do, in words, and the result. */
function LoadPanel(props: {
  load: Load
  /** Limits of a capacity search with the load test; null if the load test runs once. */
  bounds: CapacityBounds | null
  /** Rows that are sent in turn; null while they are being read. */
  rows: number | null
  settings: Settings
  onSettings: (settings: Settings) => void
}) {
  const { load, bounds, settings, onSettings } = props
  const planned = bounds === null ? null : planCapacity(load, bounds)
  const search = planned?.ok ? describeCapacityPlan(planned.plan, load) : null
  // A search adds a threshold for failed requests if the load test has none.
  const probed = search === null ? load : { ...load, thresholds: toCapacityThresholds(load) }
  return (
    <Panel title={search === null ? 'Load' : 'Each probe'}>
      {search !== null && (
        <p>
          Capacity search: {search.probes}; at most {search.atMost}.
        </p>
      )}
      <ul className={`grid gap-1 mb-3 ${styles.load}`}>
        {describeLoad(probed, settings.timeoutS * 1000).map((phrase) => (
          <li key={phrase}>{phrase}</li>
        ))}
      </ul>
      {search === null && <Figures figures={toFigures(load, props.rows)} />}
      <WholeNumber
        label="Timeout (s)"
        w="6.5rem"
        mt="sm"
        value={settings.timeoutS}
        max={TIMEOUT_MAX_S}
        onValue={(timeoutS) => onSettings({ ...settings, timeoutS })}
      />
    </Panel>
  )
}

function toFigures(load: Load, rows: number | null): (Figure | false)[] {
  const requests = toPlannedRequests(load)
  const measuredMs = toMeasuredMs(load)
  return [
    {
      label: 'Requests',
      value: requests === null ? 'as many as return' : formatCount(requests),
      note: `${rows === null ? 'the rows' : formatCounted(rows, 'row')} in turn, each time under a new post_id`,
    },
    measuredMs !== null && { label: 'Measured for', value: formatSpan(measuredMs) },
  ]
}
