import { Modal } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useCallback, useState } from 'react'
import type { ConnectionEntry } from '../../shared/bridge/connections.ts'
import type { RunAccess } from '../../shared/bridge/runs.ts'
import { formatCounted } from '../../shared/messages/figure-text.ts'
import { sayDoubleAdds } from '../../shared/messages/outcome-advice.ts'
import { mayAddTwice } from '../../shared/operations/operations.ts'
import { findActiveKey } from '../../shared/plan/stored-connection.ts'
import type { AcceptCode } from '../../shared/run/accept-code.ts'
import { ADD_TWICE, countDoubleAdds, isAddTwice } from '../../shared/run/counts.ts'
import { countRows } from '../../shared/run/item-state.ts'
import type { ProblemGroup } from '../../shared/run/problem.ts'
import { countTrialLeft, isSourceUnread, type RowCounts, type RunSummary } from '../../shared/run/run.ts'
import { isKeyRefusal } from '../../shared/service/errors.ts'
import { ask, bridge } from '../bridge/client.ts'
import { showConnections } from '../bridge/connections.ts'
import { followAgain, useLiveRuns } from '../bridge/live-runs.ts'
import {
  isTypeable,
  type NamedPlace,
  type NamePlace,
  recallTypedKeys,
  rememberTypedKey,
  toAddresses,
} from '../ui/connection/destination.ts'
import { KeepKey, KeyInput, sayKept } from '../ui/connection/key-input.tsx'
import { RadioField, TextField } from '../ui/controls.tsx'
import { Form, FormActions } from '../ui/form.tsx'
import { Notice } from '../ui/layout/screen.tsx'
import { BeforeSending, useAcceptance } from '../ui/problems/before-sending.tsx'
import { beginCorrection } from './correct-run.tsx'
import { goTo } from './route.ts'

/** A run to continue, and how: from where it stopped, or with its unsuccessful rows, perhaps corrected. */
interface ContinueRequest {
  kind: 'resume' | 'retry' | 'correct'
  runId: string
}

/** Asks what must be known before a run continues, continues it, and shows it. */
export function ContinueRun(props: {
  request: ContinueRequest
  connections: readonly ConnectionEntry[]
  namePlace: NamePlace
  onClose: () => void
}) {
  const { request, onClose } = props
  const { kind, runId } = request
  const summary = useLiveRuns((live) => live.summaries[runId])
  const [otherKey, setOtherKey] = useState<string | null>(null)
  const taking = useMutation({
    mutationFn: async ({ replaces, apiKey, ...rest }: ContinueChoice) => {
      // Replacing a refused key with a different one is intended.
      if (
        apiKey !== undefined &&
        apiKey !== otherKey &&
        summary !== undefined &&
        countRefused(summary) === 0
      ) {
        const { matches } = await bridge.runs.matchKeys({ runId, apiKeys: [apiKey] })
        if (matches[0] === false) return setOtherKey(apiKey)
      }
      if (apiKey !== undefined && replaces !== undefined) {
        showConnections(await bridge.connections.setKey({ ...replaces, apiKey }))
      } else if (apiKey !== undefined && summary !== undefined) {
        rememberTypedKey(toAddresses(summary), apiKey)
      }
      const choice = { ...rest, ...(apiKey !== undefined && replaces === undefined && { apiKey }) }
      if (kind === 'correct') {
        await beginCorrection(runId, choice)
        return onClose()
      }
      const taken =
        kind === 'retry'
          ? await bridge.runs.retryRun({ runId, ...choice })
          : await bridge.runs.resumeRun({ runId, ...choice })
      onClose()
      followAgain(taken.runId)
      goTo({ kind: 'run', runId: taken.runId })
    },
  })
  const access = useQuery(ask.runs.readAccess.queryOptions({ input: { runId } }))
  const open = useQuery(ask.check.openWarnings.queryOptions({ input: { runId } }))
  const ownKey = useOwnKey(runId, summary)
  if (summary === undefined || access.isPending || open.isPending || ownKey === null) return null
  // A retry sends what is left of the whole run, even if only a part of it is shown.
  const rows = kind === 'resume' ? summary.rows : (summary.whole_run?.rows ?? summary.rows)
  const addsTwice = mayAddTwice(summary.operation)
  const unknown = addsTwice ? countDoubleAdds(rows, kind === 'resume' ? 'resume' : 'retry') : rows.unknown
  return (
    <ContinueDialog
      kind={kind}
      rows={toCertain(kind, summary, rows) - (kind === 'resume' ? 0 : unknown)}
      left={rows.not_sent + (kind === 'resume' ? countRefused(summary) : 0)}
      unknown={unknown}
      mayAddTwice={addsTwice}
      awaiting={rows.awaiting}
      isTrial={kind === 'resume' && countTrialLeft(summary) !== null}
      isUnread={kind === 'resume' && isSourceUnread(summary)}
      // A correction checks its rows again, and asks after that.
      open={kind === 'correct' ? [] : (open.data ?? [])}
      keySituation={{
        isNeeded: access.data?.needsKey ?? true,
        refusedRows: access.data?.canChangeKey === false ? 0 : countRefused(summary),
        stored: findSentKey(props.connections.find(({ name }) => name === access.data?.keyConnection)),
        own: ownKey,
      }}
      otherKey={otherKey}
      place={toPlace(props.namePlace(summary.base_url, summary.connection), access.data)}
      busy={taking.isPending}
      error={taking.error}
      onConfirm={(choice) => taking.mutate(choice)}
      onClose={onClose}
    />
  )
}

/** The key typed in this window with which the run was sent; empty for none, null while that is unknown. */
function useOwnKey(runId: string, summary: RunSummary | undefined): string | null {
  const apiKeys = summary === undefined ? [] : recallTypedKeys(toAddresses(summary))
  const { data, isPending } = useQuery({
    queryKey: ['own key', runId],
    queryFn: async () => {
      const { matches } = await bridge.runs.matchKeys({ runId, apiKeys: [...apiKeys] })
      return apiKeys[matches.indexOf(true)] ?? ''
    },
    enabled: apiKeys.length > 0,
  })
  if (apiKeys.length === 0) return ''
  return isPending ? null : (data ?? '')
}

/**
 * The current request, if any, with functions to set and drop it. Leaving the screens of its run, for example
 * with the Back button, drops it: its question would appear over another run.
 */
export function useContinueRequest(shownRunId: string | null) {
  const [request, setRequest] = useState<ContinueRequest | null>(null)
  const drop = useCallback(() => setRequest(null), [])
  if (request !== null && request.runId !== shownRunId) setRequest(null)
  return { request: request?.runId === shownRunId ? request : null, make: setRequest, drop }
}

/** Rows sent whatever is chosen, unknown outcomes included; `rows` are those of the run or the whole. */
export function toCertain(
  kind: ContinueRequest['kind'],
  summary: Parameters<typeof countRefused>[0] & Parameters<typeof countTrialLeft>[0],
  rows: RowCounts,
): number {
  // Resuming also resends what was refused only because of the key, and ends an interrupted trial as one.
  if (kind === 'resume') return (countTrialLeft(summary) ?? rows.not_sent) + countRefused(summary)
  // Both go on with the run, such as behind a trial of its first rows. What an earlier run sent stays as it
  // is.
  const unsent = kind === 'correct' ? countRows(rows, 'unsent') - (rows.skipped ?? 0) : 0
  return countRows(rows, 'unsuccessful') + rows.not_sent + unsent
}

/** A run's own connection is more specific than its address. */
function toPlace(place: NamedPlace, access: RunAccess | undefined): NamedPlace {
  const name = access?.connectionName ?? null
  if (access === undefined || name === null) return place
  return { name, kind: access.isProduction ? 'production' : 'other' }
}

/** A person's choices before a run continues. */
interface ContinueChoice {
  onUnknown: 'resend' | 'skip'
  resendIndexAdds?: boolean
  apiKey?: string
  accept?: AcceptCode[]
  /** The stored key that `apiKey` replaces. */
  replaces?: { name: string; label: string }
}

/**
 * Asks what must be known before an interrupted run resumes or unsuccessful rows are resent: what to do with
 * rows with an unknown outcome, and the key if none is available or the service refused it.
 */
function ContinueDialog(props: {
  kind: ContinueRequest['kind']
  /** Rows that are sent whatever is chosen. */
  rows: number
  /** Of these, those that were not sent yet. */
  left: number
  unknown: number
  /** Whether resending those may add items to an index twice. */
  mayAddTwice: boolean
  /** Rows whose callbacks are awaited; they are not sent again. */
  awaiting: number
  /** Whether only the rest of an interrupted trial is sent. */
  isTrial: boolean
  /** Whether the source is read again, so that the number of rows is not known. */
  isUnread: boolean
  /** Warnings that must be accepted before the rows are sent. */
  open: readonly ProblemGroup[]
  keySituation: KeySituation
  /** A typed key that differs from the run's, which a person must confirm. */
  otherKey: string | null
  /** Where the rows go; production is named with a warning. */
  place: NamedPlace
  busy: boolean
  error: unknown
  onConfirm: (choice: ContinueChoice) => void
  onClose: () => void
}) {
  const { kind, rows, unknown, awaiting, isTrial, isUnread, keySituation } = props
  const [onUnknown, setOnUnknown] = useState<ContinueChoice['onUnknown']>('skip')
  const [key, setKey] = useState(() => toFirstKeyChoice(keySituation))
  const [typed, setTyped] = useState('')
  const acceptance = useAcceptance(props.open, props.place.kind === 'production')
  const mustConfirm = props.mayAddTwice && onUnknown === 'resend'
  const total = rows + (onUnknown === 'resend' ? unknown : 0)
  const verb = kind === 'retry' && props.left > 0 ? 'Send' : VERBS[kind]
  const verbAlone =
    kind !== 'resume' || isUnread ? verb : awaiting > 0 ? 'Await the callbacks' : 'End the run'
  const isOther = props.otherKey !== null && key.typed?.trim() === props.otherKey
  return (
    <Modal opened onClose={props.onClose} title={TITLES[kind]}>
      <Form
        onSubmit={() =>
          props.onConfirm({
            onUnknown,
            ...(mustConfirm && { resendIndexAdds: true }),
            ...(acceptance.accepted.length > 0 && { accept: acceptance.accepted }),
            ...toKeyOptions(key, keySituation),
          })
        }
      >
        <p>{describeContinuation(kind, { rows, left: props.left, awaiting, isTrial, isUnread })}</p>
        {unknown > 0 && (
          <RadioField
            label={`${formatCounted(unknown, 'row')} with an unknown outcome`}
            description="There is no usable answer for them, and the service may have accepted them."
            value={onUnknown}
            onValue={setOnUnknown}
            choices={[
              {
                value: 'skip',
                label: 'Leave them as they are',
                description: 'Nothing is delivered twice; some may be missing.',
              },
              {
                value: 'resend',
                label: 'Send them again',
                description: props.mayAddTwice
                  ? `Nothing is missing; up to ${formatCounted(unknown, 'item')} may be in the index twice.`
                  : 'Nothing is missing; the service may refuse some as duplicates, or take them twice.',
              },
            ]}
          />
        )}
        {mustConfirm && (
          <TextField
            label={`Type “${ADD_TWICE}” to send them again`}
            description={sayDoubleAdds(unknown)}
            value={typed}
            onValue={setTyped}
            isLiteral
          />
        )}
        <ContinueKey situation={keySituation} choice={key} onChoice={setKey} />
        {isOther && (
          <Notice kind="warning" title="The run was sent with another key">
            If this one belongs to another project, the rows go to that project.
          </Notice>
        )}
        <BeforeSending acceptance={acceptance} rows={total} place={props.place} />
        <FormActions
          submit={`${total > 0 && !isUnread ? `${verb} ${formatCounted(total, 'row')}` : verbAlone}${isOther ? ' with this key' : ''}`}
          onCancel={props.onClose}
          sent={{ error: props.error, isPending: props.busy }}
          isBlocked={
            (total === 0 && kind !== 'resume') ||
            acceptance.blocked !== undefined ||
            (mustConfirm && !isAddTwice(typed)) ||
            key.typed?.trim() === ''
          }
          title={acceptance.blocked}
          hasFocus={key.typed === null}
        />
      </Form>
    </Modal>
  )
}

function toKeyOptions(
  { typed, isKept }: KeyChoice,
  { stored }: KeySituation,
): Pick<ContinueChoice, 'apiKey' | 'replaces'> {
  if (typed === null) return {}
  const replaces = isKept && stored !== null && { replaces: { name: stored.connection, label: stored.label } }
  return { apiKey: typed.trim(), ...replaces }
}

const VERBS = { resume: 'Resume', retry: 'Retry', correct: 'Check' } as const
const TITLES = {
  resume: 'Resume the run',
  retry: 'Retry what did not succeed',
  correct: 'Correct and retry',
} as const

/**
 * What a dialog asks; of the `rows` of a retry, or of the whole run for a trial, `left` were not sent yet.
 */
export function describeContinuation(
  kind: ContinueRequest['kind'],
  {
    rows,
    left,
    awaiting,
    isTrial = false,
    isUnread = false,
  }: { rows: number; left: number; awaiting: number; isTrial?: boolean; isUnread?: boolean },
): string {
  if (kind === 'correct') {
    const [were, are, them] = rows === 1 ? ['was', 'is', 'it'] : ['were', 'are', 'them']
    return `${formatCounted(rows, 'row')} that did not succeed or ${were} not sent ${are} checked again. You correct ${them} next; nothing is sent before that.`
  }
  if (kind === 'retry') {
    const again = rows - left
    const sentences = [
      again === 0
        ? 'Every row that did not succeed may have been accepted.'
        : `${formatCounted(again, 'row')} ${again === 1 ? 'is' : 'are'} sent again with the same body. New results take the place of the old ones; every try is kept.`,
      ...(left === 0 ? [] : [`${sayUnsent(left)} The run sends ${left === 1 ? 'it' : 'them'}, too.`]),
    ]
    return sentences.join(' ')
  }
  if (isUnread) return 'The source is read again, as it is now, and then sent.'
  if (isTrial && left > rows) return describeTrial(rows, left, awaiting)
  if (awaiting === 0 && rows === 0) return 'Nothing is left to send or to await. Resuming only ends the run.'
  if (awaiting === 0) {
    return `${sayUnsent(rows)} The run continues where it stopped.`
  }
  const waits = awaiting === 1 ? 'awaits its callback, and is' : 'await their callbacks, and are'
  const others = `${formatCounted(awaiting, rows === 0 ? 'row' : 'more row')} ${waits} not sent again.`
  if (rows === 0) return `Everything was sent. ${others}`
  return `${sayUnsent(rows)} The run continues where it stopped. ${others}`
}

/** Of the `left` rows of a run, what of an interrupted trial is sent. */
function describeTrial(rows: number, left: number, awaiting: number): string {
  const sent = rows === 0 ? 'Nothing of the trial is left to send.' : sayUnsent(rows, ' of the trial')
  const waits = awaiting === 0 ? '' : ` The run awaits ${formatCounted(awaiting, 'callback')}.`
  return `${sent}${waits} Resuming ends with the trial; resume again to send the ${formatCounted(left - rows, 'other row')}.`
}

function sayUnsent(rows: number, of = ''): string {
  return `${formatCounted(rows, 'row')}${of} ${rows === 1 ? 'has' : 'have'} not been sent yet.`
}

/** The choices about the key that a run continues with. */
export interface KeySituation {
  /** Whether no stored key is available, so that one must be typed. */
  isNeeded: boolean
  /** Rows whose newest answer refuses the key. */
  refusedRows: number
  /** The stored key that is sent unless another is typed. */
  stored: { connection: string; label: string; isTypeable: boolean } | null
  /** The key typed in this window with which the run was sent; empty if there is none. */
  own: string
}

interface KeyChoice {
  /** Null for the stored key. */
  typed: string | null
  /** Whether the typed key replaces the stored one. */
  isKept: boolean
}

/** Rows that ended because the service refused the key. */
function countRefused({ errors }: Pick<RunSummary, 'errors'>): number {
  return errors
    .filter(({ status, error_code }) => isKeyRefusal(status, error_code))
    .reduce((sum, { rows }) => sum + rows, 0)
}

function findSentKey(entry: ConnectionEntry | undefined): KeySituation['stored'] {
  const key = entry === undefined ? null : findActiveKey(entry)
  if (entry === undefined || key === null) return null
  return { connection: entry.name, label: key.label, isTypeable: isTypeable(key) }
}

/** The initial choice: a refused key is not sent again without asking. */
export function toFirstKeyChoice({ isNeeded, refusedRows, stored, own }: KeySituation): KeyChoice {
  const isRefused = refusedRows > 0
  return {
    typed: isRefused ? '' : isNeeded ? own : null,
    isKept: isRefused && !isNeeded && stored?.isTypeable === true,
  }
}

/** Takes the key for continuing a run, if none is available or the service refused the earlier one. */
function ContinueKey(props: {
  situation: KeySituation
  choice: KeyChoice
  onChoice: (choice: KeyChoice) => void
}) {
  const { situation, choice, onChoice } = props
  const { isNeeded, refusedRows, stored, own } = situation
  const storage = useQuery(ask.connections.readStorage.queryOptions())
  if (!isNeeded && refusedRows === 0) return null
  const { typed } = choice
  return (
    <>
      {refusedRows > 0 && (
        <Notice
          kind="warning"
          title={`The service refused the API key for ${formatCounted(refusedRows, 'row')}`}
        />
      )}
      {!isNeeded && (
        <RadioField
          label="Send with"
          value={typed === null ? 'stored' : 'typed'}
          onValue={(value) => onChoice({ ...choice, typed: value === 'typed' ? '' : null })}
          choices={[
            { value: 'typed', label: 'Type another key' },
            {
              value: 'stored',
              label:
                stored === null
                  ? 'Use the stored key'
                  : `Use the key “${stored.label}” of ${stored.connection}`,
              description: 'If you have replaced it, or the service accepts it now.',
            },
          ]}
        />
      )}
      {typed !== null && (
        <KeyInput
          hasFocus
          value={typed}
          onValue={(value) => onChoice({ ...choice, typed: value })}
          description={
            choice.isKept
              ? sayKept(storage.data ?? null)
              : isNeeded && typed !== '' && typed === own
                ? 'The one you typed that the run was sent with. It is kept in memory until this window closes.'
                : undefined
          }
        />
      )}
      {typed !== null && !isNeeded && stored?.isTypeable && (
        <KeepKey
          connection={stored.connection}
          label={stored.label}
          value={choice.isKept}
          onValue={(isKept) => onChoice({ ...choice, isKept })}
        />
      )}
    </>
  )
}
