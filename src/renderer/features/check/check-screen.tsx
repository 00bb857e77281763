import { Button, Progress, Stack } from '@mantine/core'
import { IconArrowBackUp, IconArrowRight, IconCircleCheck } from '@tabler/icons-react'
import { keepPreviousData, skipToken, useMutation, useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { listNeeded } from '../../../shared/messages/accept-messages.ts'
import { formatBytes, formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { sayCorrected, sayFix } from '../../../shared/messages/fix-messages.ts'
import { sayExpected } from '../../../shared/messages/problem-messages.ts'
import { findNeeds, isHint } from '../../../shared/messages/problem-traits.ts'
import type { Operation } from '../../../shared/operations/operations.ts'
import { addFix, type Fix, getFixedRecord, isOfOneRow } from '../../../shared/plan/fixes.ts'
import type { Mapping } from '../../../shared/plan/plan.ts'
import { sayRow, toRowNumber } from '../../../shared/plan/source-place.ts'
import type { AcceptCode } from '../../../shared/run/accept-code.ts'
import { countSendable } from '../../../shared/run/counts.ts'
import { countLeftOut } from '../../../shared/run/item-state.ts'
import type { ProblemGroup } from '../../../shared/run/problem.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { askRequest } from '../../bridge/asked-request.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { useFollowRun, useLiveRuns } from '../../bridge/live-runs.ts'
import type { NamedPlace } from '../../ui/connection/destination.ts'
import { ServiceMessage } from '../../ui/content/service-message.tsx'
import { ContentSwitch, isFieldContent, MaskedText, useContentShown } from '../../ui/content/user-content.tsx'
import { ActionButton, PrimaryButton, RowButton, ScrollRegion } from '../../ui/controls.tsx'
import { Empty, ErrorNotice, type Figure, Figures, Panel, Screen } from '../../ui/layout/screen.tsx'
import { BeforeSending, useAcceptance } from '../../ui/problems/before-sending.tsx'
import { toGuess } from '../../ui/runs/read-as-line.tsx'
import { useWindowKeys } from '../../ui/shortcuts.ts'
import { RowNumber } from '../../ui/states/row-states.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './check.module.css'
import { RowDialog, ValueDialog } from './edit-dialogs.tsx'
import { listEditable, listGroupFixes, ProblemGroupCard } from './problem-group-card.tsx'

interface CheckProps {
  /** The run that holds the rows; each correction creates another one. */
  runId: string
  operation: Operation
  isLoad: boolean
  columns: readonly string[]
  /** What fills each field, including columns matched by name. */
  mapping: Mapping
  fixes: readonly Fix[]
  /** The run whose rows are resent; null for a new run. */
  parentRunId: string | null
  /** Where rows sent from here go; null for a new run, which is sent from Review. */
  place: NamedPlace | null
  onFixes: (fixes: Fix[]) => Promise<void>
  onBack: () => void | Promise<void>
  /** Continues; for a retry, with the necessary warnings accepted. */
  onContinue: (accept: AcceptCode[]) => Promise<void> | void
  /** Opens a row's request, to change it and send it once by hand. */
  onScratchpad: (runId: string, row: number) => Promise<void>
}

type Opened =
  | { kind: 'row'; row: number; fields: readonly string[] }
  | { kind: 'value'; group: ProblemGroup; field: string }

/**
 * Problems of the rows by cause, before anything is sent: rows with errors are not sent, rows with warnings
 * are. Rows are corrected here, singly or all with one cause, and checked again; the file is unchanged.
 */
export function CheckScreen(props: CheckProps) {
  const { runId, fixes, mapping, parentRunId, operation } = props
  const isRetry = parentRunId !== null
  const check = useQuery({
    queryKey: ['check', runId],
    queryFn: () => readCheck(runId),
    placeholderData: keepPreviousData,
  })
  const fixing = useMutation({ mutationFn: props.onFixes })
  useProblemKeys()
  const [opened, setOpened] = useState<Opened | null>(null)
  const close = () => setOpened(null)
  const last = useRef(check.data)
  last.current = check.data ?? last.current
  const found = last.current
  // A new run asks on Review.
  const acceptance = useAcceptance(isRetry ? (found?.open ?? []) : [], props.place?.kind === 'production')
  const proceed = useMutation({ mutationFn: async () => props.onContinue(acceptance.accepted) })
  const back = useMutation({ mutationFn: async () => props.onBack() })
  const scratch = useMutation({
    mutationFn: (row: number) => props.onScratchpad(found?.runId ?? runId, row),
  })
  const error = check.error ?? fixing.error ?? proceed.error ?? scratch.error
  if (found === undefined && error === null) return <Checking runId={runId} />

  const groups = found?.groups ?? []
  // Rows of the next check can only be viewed after it ends.
  const checkedId = found?.runId ?? runId
  const sendable = found === undefined ? 0 : countSendable(found.summary.rows)
  const isChecking = fixing.isPending || check.isPlaceholderData
  const fix = (next: Fix[]) => fixing.mutate(next)
  const cards = {
    ...props,
    columnOf: (field: string) => {
      const source = mapping[field]
      return source?.kind === 'column' ? String(source.column) : null
    },
    onFixes: fix,
    onOpen: setOpened,
    onScratchpad: (row: number) => scratch.mutate(row),
  }
  return (
    <Screen
      title={isRetry ? 'Correct and retry' : 'Check'}
      subtitle={
        <span aria-live="polite">
          {isChecking ? (
            'Checking the rows again…'
          ) : isRetry && found !== undefined ? (
            <>
              Rows of <SafeText text={found.summary.name} max={80} /> that did not succeed. Nothing has been
              sent yet.
            </>
          ) : (
            'Every row was read and checked. Nothing has been sent yet.'
          )}
        </span>
      }
      actions={
        <>
          <ContentSwitch />
          {(isRetry || error !== null) && (
            <ActionButton
              label={isRetry ? 'Back to the results' : 'Back to the source'}
              loading={back.isPending}
              onClick={() => back.mutate()}
            />
          )}
          <PrimaryButton
            onPress={() => proceed.mutate()}
            busy={proceed.isPending}
            blocked={
              toBlocked({ sendable, isChecking, hasError: check.error !== null }) ?? acceptance.blocked
            }
            icon={<IconArrowRight size="1rem" />}
          >
            {isRetry ? 'Retry' : 'Review'} {formatCounted(sendable, 'row')}
          </PrimaryButton>
        </>
      }
    >
      {error !== null && <ErrorNotice error={error} />}
      {found !== undefined && (
        <Panel title="Rows">
          <Figures figures={toFigures(found.summary, groups)} />
        </Panel>
      )}
      {isRetry && (
        <BeforeSending
          acceptance={acceptance}
          rows={sendable}
          place={props.place}
          guess={found === undefined ? null : toGuess(found.summary)}
        />
      )}
      <FixList runId={parentRunId ?? checkedId} fixes={fixes} onFixes={fix} />
      {found !== undefined && groups.length === 0 && (
        <Empty icon={IconCircleCheck} title="No problems">
          {sayAllRight(found.summary, fixes)}
        </Empty>
      )}
      <Groups title="Errors" note="these rows are not sent" groups={groups} severity="error" {...cards} />
      <Groups
        title="Warnings"
        note={
          listNeeded(groups).length === 0
            ? 'these do not keep a row from being sent'
            : 'rows without errors are sent once you have confirmed what is marked'
        }
        groups={groups}
        severity="warning"
        {...cards}
      />
      {isRetry && sendable > 0 && (
        <RetriedRows
          runId={checkedId}
          rows={sendable}
          fixes={fixes}
          onFixes={fix}
          onScratchpad={cards.onScratchpad}
          onEdit={(row) =>
            setOpened({
              kind: 'row',
              row,
              fields: listEditable(operation).filter((name) => mapping[name] !== undefined),
            })
          }
        />
      )}
      {opened?.kind === 'row' && (
        <RowDialog {...props} {...opened} runId={checkedId} onFixes={fix} onClose={close} />
      )}
      {opened?.kind === 'value' && <ValueDialog {...props} {...opened} onFixes={fix} onClose={close} />}
    </Screen>
  )
}

/** J and K move between causes. */
function useProblemKeys(): void {
  useWindowKeys((event) => {
    const step = { j: 1, k: -1 }[event.key.toLowerCase()]
    if (step === undefined) return
    const causes = [...document.querySelectorAll<HTMLElement>('main article')]
    const at = causes.findIndex((cause) => cause.contains(document.activeElement))
    const cause = causes[at === -1 ? 0 : Math.max(0, at + step)]
    cause?.querySelector('h3')?.focus()
    cause?.scrollIntoView({ block: 'nearest' })
    event.preventDefault()
  })
}

interface Found {
  runId: string
  groups: ProblemGroup[]
  /** Warnings that must be accepted before the rows are sent. */
  open: ProblemGroup[]
  summary: RunSummary
}

async function readCheck(runId: string): Promise<Found> {
  await bridge.runs.awaitReady({ runId })
  const [groups, open, summary] = await Promise.all([
    bridge.check.problems({ runId }),
    bridge.check.openWarnings({ runId }),
    bridge.runs.summarize({ runId }),
  ])
  return { runId, groups, open, summary }
}

function toBlocked(standing: {
  sendable: number
  isChecking: boolean
  hasError: boolean
}): string | undefined {
  if (standing.isChecking) return 'The rows are being checked'
  if (standing.hasError) return 'The rows could not be checked'
  return standing.sendable === 0 ? 'No row can be sent: correct the errors first' : undefined
}

/** Says that no problem is left, and what that means for the rows. */
function sayAllRight({ rows }: RunSummary, fixes: readonly Fix[]): string {
  const leftOut = countLeftOut(rows)
  if (leftOut > 0) {
    return `${formatCounted(countSendable(rows), 'row')} can be sent; ${formatCount(leftOut)} left out.`
  }
  return fixes.length === 0 ? 'Every row can be sent as it is.' : 'Every row can be sent.'
}

function toFigures({ rows, corrected }: RunSummary, groups: readonly ProblemGroup[]): (Figure | false)[] {
  const errors = groups.filter(({ severity }) => severity === 'error').length
  const leftOut = countLeftOut(rows)
  return [
    {
      label: 'Read',
      value: formatCount(rows.read - (corrected?.split ?? 0)),
      ...(corrected !== undefined &&
        corrected.split > 0 && { note: `${formatCount(rows.read)} with both parts of split rows` }),
    },
    { label: 'Will be sent', value: formatCount(countSendable(rows)) },
    { label: 'Have errors, not sent', value: formatCount(rows.invalid) },
    leftOut > 0 && { label: 'Left out', value: formatCount(leftOut) },
    corrected !== undefined && {
      label: 'Corrected',
      value: formatCount(corrected.rows),
      note: sayCorrected(corrected),
    },
    {
      label: 'Causes',
      value: formatCount(groups.length),
      note: `${formatCounted(errors, 'error')}, ${formatCounted(groups.length - errors, 'warning')}`,
    },
  ]
}

function Groups(
  props: Omit<CheckProps, 'onFixes' | 'onScratchpad'> & {
    title: string
    note: string
    groups: readonly ProblemGroup[]
    severity: ProblemGroup['severity']
    columnOf: (field: string) => string | null
    onFixes: (fixes: Fix[]) => void
    onOpen: (opened: Opened) => void
    onScratchpad: (row: number) => void
  },
) {
  const groups = props.groups
    .filter(({ severity }) => severity === props.severity)
    .toSorted((a, b) => toRank(a) - toRank(b))
  if (groups.length === 0) return null
  return (
    <Stack component="section" gap="sm" aria-label={props.title}>
      <h2 className="text-md bold">
        {props.title} <span className="quiet normal">{props.note}</span>
      </h2>
      {groups.map((group) => (
        <ProblemGroupCard
          key={`${group.code} ${group.field ?? ''} ${sayExpected(group, 'window')}`}
          group={group}
          can={listGroupFixes(group, props.operation, props.isLoad)}
          fixes={props.fixes}
          columnOf={props.columnOf}
          onFixes={props.onFixes}
          onEdit={(row, fields) => props.onOpen({ kind: 'row', row, fields })}
          onScratchpad={props.onScratchpad}
          onValue={(field) => props.onOpen({ kind: 'value', group, field })}
        />
      ))}
    </Stack>
  )
}

/** Problems to confirm come first, fields that the source may simply lack come last. */
function toRank(group: ProblemGroup): number {
  return findNeeds(group) !== null ? 0 : isHint(group) ? 2 : 1
}

function Checking({ runId }: { runId: string }) {
  useFollowRun(runId)
  const bytes = useLiveRuns((live) => live.snapshots[runId]?.bytes)
  const read = bytes?.read ?? 0
  const total = bytes?.total ?? 0
  return (
    <Screen title="Check" subtitle="Reading and checking every row">
      <Progress value={total === 0 ? 0 : (read / total) * 100} aria-label="Reading" />
      <p aria-live="polite">
        {formatBytes(read)} of {formatBytes(total)} read
      </p>
    </Screen>
  )
}

/** Corrections listed individually; older ones can be undone all together, or after these. */
const FIXES_SHOWN = 50

/** Longest part of a corrected text that the list shows, in characters. */
const VALUE_SHOWN = 80

/** The corrections so far, newest first, each with a way to undo it. */
function FixList(props: {
  /** The run that has all rows of the source. */
  runId: string
  fixes: readonly Fix[]
  onFixes: (fixes: Fix[]) => void
}) {
  const { runId, fixes, onFixes } = props
  if (fixes.length === 0) return null
  return (
    <Panel
      title="Corrections"
      flush
      aside={
        <Button size="compact-xs" leftSection={<IconArrowBackUp size="1rem" />} onClick={() => onFixes([])}>
          Undo all ({formatCounted(fixes.length, 'correction')})
        </Button>
      }
    >
      <ScrollRegion className={styles.fixes} label="Corrections: list">
        <ul>
          {fixes
            .slice(-FIXES_SHOWN)
            .toReversed()
            .map((fix) => (
              <FixItem
                key={JSON.stringify(fix)}
                runId={runId}
                fix={fix}
                onUndo={() => onFixes(fixes.filter((one) => one !== fix))}
              />
            ))}
        </ul>
        {fixes.length > FIXES_SHOWN && (
          <p className={`quiet border-t ${styles.more}`}>
            and {formatCounted(fixes.length - FIXES_SHOWN, 'earlier correction')}
          </p>
        )}
      </ScrollRegion>
    </Panel>
  )
}

function FixItem({ runId, fix, onUndo }: { runId: string; fix: Fix; onUndo: () => void }) {
  const shown = useContentShown()
  const row = getFixedRecord(fix)
  const found = useQuery(
    ask.results.row.queryOptions({
      input: row === null ? skipToken : { runId, row },
      placeholderData: keepPreviousData,
    }),
  )
  const { where, what, value } = sayFix(fix)
  const isMasked = value !== null && 'field' in fix && isFieldContent(fix.field, value)
  const place = found.data?.result.place
  const isOfOther =
    isOfOneRow(fix) && fix.rowHash !== undefined && (found.data?.rowHash ?? fix.rowHash) !== fix.rowHash
  const rowName = row === null ? [] : [place === undefined ? `Record ${row}` : `Row ${sayRow(place)}`]
  const name = [...rowName, ...(where === '' ? [] : [where])].join(', ')
  return (
    <li className="row gap-3 border-b">
      <span className="flex-1 breaks">
        <strong>{name}</strong> {what}
        {value !== null && (
          <>
            {' '}
            <code>
              {isMasked ? (
                <MaskedText text={value} max={VALUE_SHOWN} revealed={shown} />
              ) : (
                <SafeText text={value} max={VALUE_SHOWN} />
              )}
            </code>
          </>
        )}
        {isOfOther && <span className="quiet"> (not applied, since the row has other cells)</span>}
      </span>
      <ActionButton label="Undo" small icon={IconArrowBackUp} aria-label={`Undo: ${name}`} onClick={onUndo} />
    </li>
  )
}

const PAGE_ROWS = 20

/** The rows that a retry will send, each with its last answer, for correcting them one by one. */
function RetriedRows(props: {
  runId: string
  rows: number
  fixes: readonly Fix[]
  onFixes: (fixes: Fix[]) => void
  onEdit: (row: number) => void
  /** Opens a row's request, to change it and send it once by hand. */
  onScratchpad: (row: number) => void
}) {
  const { runId, rows, fixes, onFixes, onEdit } = props
  const [offset, setOffset] = useState(0)
  const from = offset < rows ? offset : 0
  const page = useQuery(
    ask.results.page.queryOptions({
      input: { runId, filter: { state: 'pending' }, offset: from, limit: PAGE_ROWS },
      placeholderData: keepPreviousData,
    }),
  )
  const shown = page.data?.rows ?? []
  if (shown.length === 0) return null
  return (
    <Panel
      title="Rows of this retry"
      flush
      aside={
        <span className="inline-flex items-center gap-2">
          {rows <= PAGE_ROWS ? (
            formatCounted(rows, 'row')
          ) : (
            <>
              {formatCount(from + 1)} to {formatCount(from + shown.length)} of {formatCounted(rows, 'row')}
              <ActionButton
                label="Previous"
                small
                disabled={from === 0}
                onClick={() => setOffset(Math.max(0, from - PAGE_ROWS))}
              />
              <ActionButton
                label="Next"
                small
                disabled={from + PAGE_ROWS >= rows}
                onClick={() => setOffset(from + PAGE_ROWS)}
              />
            </>
          )}
        </span>
      }
    >
      <div className="overflow-auto">
        <Table
          look="dense"
          className={styles.examples}
          caption="Rows of this retry"
          rows={shown}
          toKey={({ row }) => row}
          columns={[
            {
              title: 'Row',
              isNumber: true,
              className: shown.some(({ place }) => place.file !== undefined) ? styles.fileRow : styles.row,
              cell: ({ row, place }) => <RowNumber record={row} place={place} />,
            },
            {
              title: 'Last answer',
              cell: (row) => (
                <ServiceMessage
                  message={toAnswer(row)}
                  request={
                    row.message === null || row.status === null ? null : askRequest(runId, { row: row.row })
                  }
                >
                  {(text) => <SafeText text={text} max={160} />}
                </ServiceMessage>
              ),
            },
            {
              title: 'Actions',
              isActions: true,
              className: styles.rowActions,
              cell: ({ row, place }) => (
                <>
                  <RowButton
                    label={`Edit row ${toRowNumber(place)}`}
                    name={`Edit row ${sayRow(place)}`}
                    isOutlined
                    onPress={() => onEdit(row)}
                  />{' '}
                  <RowButton
                    label="Leave out"
                    name={`Leave out row ${sayRow(place)}`}
                    isOutlined
                    onPress={() => onFixes(addFix(fixes, { kind: 'leave_out_row', record: row }))}
                  />{' '}
                  <RowButton
                    label="Scratchpad"
                    name={`Open row ${sayRow(place)} in Scratchpad`}
                    isOutlined
                    onPress={() => props.onScratchpad(row)}
                  />
                </>
              ),
            },
          ]}
        />
      </div>
    </Panel>
  )
}

function toAnswer(row: { status: number | null; errorCode: string | null; message: string | null }): string {
  const parts = [row.status, row.errorCode, row.message].filter((part) => part !== null && part !== '')
  return parts.length === 0 ? 'not sent yet' : parts.join(' ')
}
