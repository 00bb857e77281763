import { Modal, Select, Stack } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ConnectionEntry } from '../../../shared/bridge/connections.ts'
import type { PlannedAgain } from '../../../shared/bridge/history.ts'
import type { ChosenSource } from '../../../shared/bridge/source.ts'
import { findActiveKey } from '../../../shared/plan/stored-connection.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { useFileChoice } from '../../bridge/file-choice.tsx'
import { useWaitingRun } from '../../bridge/waiting-run.ts'
import {
  isAtHand,
  isProductionAddress,
  type NamedPlace,
  sayActiveKey,
} from '../../ui/connection/destination.ts'
import { ConnectionChip, ProductionNotice } from '../../ui/connection/destination-panel.tsx'
import { KeyInput } from '../../ui/connection/key-input.tsx'
import { ActionButton, bindFields, CheckField, TextField } from '../../ui/controls.tsx'
import { Form, FormActions } from '../../ui/form.tsx'
import { ErrorNotice, Notice } from '../../ui/layout/screen.tsx'
import { WaitingRun } from '../../ui/runs/waiting-run.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'

/** A person's choices before a run is sent again. */
interface AgainChoice {
  place: string
  name: string
  keepPostIds: boolean
  /** Null for the choice of the earlier run. */
  legacy: boolean | null
  apiKey: string
}

/**
 * Sends a run again with the same plan: shows what is different now, reads and checks the source, and sends
 * it once the person has seen that. A new run that is not sent is deleted.
 */
export function RunAgainDialog(props: {
  run: RunSummary
  connections: readonly ConnectionEntry[]
  onOpen: (runId: string) => void
  onClose: () => void
}) {
  const { onClose } = props
  const [source, setSource] = useState<ChosenSource | null>(null)
  const [choice, setChoice] = useState<AgainChoice>({
    place: AS_BEFORE,
    name: props.run.name,
    keepPostIds: false,
    legacy: null,
    apiKey: '',
  })
  const plan = useQuery({
    ...ask.history.planAgain.queryOptions({
      input: { runId: props.run.run_id, ...(source !== null && { sourceId: source.sourceId }) },
    }),
    placeholderData: keepPreviousData,
  })
  const { waiting, read, send, isUnclear, open } = useWaitingRun({
    start: () =>
      bridge.history.runAgain({
        runId: props.run.run_id,
        ...(source !== null && { sourceId: source.sourceId }),
        ...(choice.place !== AS_BEFORE && { destination: toDestination(choice.place) }),
        ...(choice.keepPostIds && { keepPostIds: true }),
        ...(choice.legacy !== null && { legacy: choice.legacy }),
        ...(choice.name.trim() !== '' && { name: choice.name.trim() }),
        ...(choice.apiKey.trim() !== '' && { apiKey: choice.apiKey.trim() }),
      }),
    onOpen: props.onOpen,
  })
  const goesTo = plan.data === undefined ? null : toAgainPlace(plan.data, choice.place, props.connections)
  return (
    <Modal opened size="lg" onClose={onClose} title="Run again">
      {plan.error !== null && <ErrorNotice error={plan.error} />}
      {plan.data !== undefined && waiting === null && (
        <AgainForm
          plan={plan.data}
          connections={props.connections}
          source={source}
          choice={choice}
          onChoice={(part) => setChoice({ ...choice, ...part })}
          onSource={setSource}
          busy={read.isPending}
          error={read.error}
          onSubmit={() => read.mutate()}
          onClose={onClose}
        />
      )}
      {plan.data !== undefined && waiting !== null && (
        <Stack gap="md">
          {goesTo !== null && <GoesTo to={goesTo} />}
          <WaitingRun
            waiting={waiting}
            isProduction={goesTo?.place.kind === 'production'}
            before={plan.data.rows}
            isLoadTest={plan.data.isLoadTest}
            busy={send.isPending}
            error={send.error}
            isUnclear={isUnclear}
            onGiveUp={onClose}
            onOpen={open}
            onSend={send.mutate}
          />
        </Stack>
      )}
    </Modal>
  )
}

/** What is different now, and the choices. */
function AgainForm(props: {
  plan: PlannedAgain
  connections: readonly ConnectionEntry[]
  source: ChosenSource | null
  choice: AgainChoice
  onChoice: (part: Partial<AgainChoice>) => void
  onSource: (source: ChosenSource) => void
  busy: boolean
  error: unknown
  onSubmit: () => void
  onClose: () => void
}) {
  const { plan, connections, choice, onChoice } = props
  const isMissing = plan.source.change === 'missing'
  const isKeyMissing = needsKey(plan, choice.place, connections)
  const blocked = isMissing
    ? 'Choose the file first'
    : isKeyMissing && choice.apiKey.trim() === ''
      ? 'Enter the API key first'
      : undefined
  const field = bindFields(choice, onChoice)
  return (
    <Form onSubmit={props.onSubmit}>
      <p>
        A new run with the plan of{' '}
        <strong>
          <SafeText text={plan.name} max={80} />
        </strong>
        . The earlier run stays as it is.
      </p>
      {/* Disabled once reading has begun with the choices. */}
      <fieldset disabled={props.busy} className="stack gap-4 min-w-0 m-0 p-0 border-0">
        <SourceNotice plan={plan} isOther={props.source !== null} onSource={props.onSource} />
        <Select
          label="Connection"
          data={[
            { value: AS_BEFORE, label: `As before: ${namePlace(plan)}` },
            ...(plan.isSandbox ? [] : [{ value: SANDBOX, label: 'The sandbox' }]),
            ...connections
              .filter(({ name }) => name !== plan.connectionName)
              .map(({ name, isProduction }) => ({
                value: STORED + name,
                label: isProduction ? `${name} (production)` : name,
              })),
          ]}
          value={choice.place}
          onChange={(place) => onChoice({ place: place ?? AS_BEFORE, apiKey: '' })}
        />
        {choice.place !== AS_BEFORE && (
          <p>The rows went to {namePlace(plan)} before. Nothing else in the plan changes.</p>
        )}
        <GoesTo to={toAgainPlace(plan, choice.place, connections)} />
        {isKeyMissing && <KeyInput value={choice.apiKey} onValue={(apiKey) => onChoice({ apiKey })} />}
        {plan.postIds === 'own' && (
          <CheckField
            label="Send the post_ids of the source again"
            description="Otherwise each row gets a new one. The service may refuse post_ids that it knows as duplicates."
            {...field('keepPostIds')}
          />
        )}
        {plan.legacy !== null && (
          <CheckField
            label="Legacy answer, with scores"
            description="The long form, with class scores, the language and what the text filters found."
            value={choice.legacy ?? plan.legacy}
            onValue={(legacy) => onChoice({ legacy })}
          />
        )}
        <TextField label="Name of the new run" maxLength={200} {...field('name')} />
      </fieldset>
      <FormActions
        submit="Read and check the source"
        onCancel={props.onClose}
        sent={{ error: props.error, isPending: props.busy }}
        isBlocked={blocked !== undefined}
        title={blocked}
      />
    </Form>
  )
}

/** Where the rows go and with which key, shown before anything is sent. */
function GoesTo({ to: { place, addresses, key } }: { to: AgainPlace }) {
  return (
    <>
      <p>
        Goes to: <ConnectionChip place={place} />{' '}
        {addresses.length > 0 && <SafeText text={addresses.join(' and ')} max={300} />}
        <br />
        {key}
      </p>
      {place.kind === 'production' && <ProductionNotice place={place} />}
    </>
  )
}

const SOURCE_TITLES: Record<PlannedAgain['source']['change'], string> = {
  same: 'The source is read again',
  changed: 'The source has changed',
  unknown: 'The source may have changed',
  missing: 'The source is missing',
}

/** Whether the source is as the earlier run read it, and a control for another source. */
function SourceNotice(props: {
  plan: PlannedAgain
  isOther: boolean
  onSource: (source: ChosenSource) => void
}) {
  const { plan, onSource } = props
  const { change, description, name } = plan.source
  const file = useFileChoice('source-again', onSource)
  const isWarning = change === 'changed' || change === 'unknown'
  return (
    <>
      <Notice
        kind={change === 'missing' ? 'error' : isWarning ? 'warning' : 'info'}
        title={SOURCE_TITLES[props.isOther ? 'same' : change]}
        actions={
          <ActionButton label="Choose another file" small loading={file.isBusy} onClick={file.choose} />
        }
      >
        <SafeText
          text={props.isOther ? `${name} is read instead. ${description}` : description}
          max={500}
          lines
        />
      </Notice>
      {file.error !== null && <ErrorNotice error={file.error} />}
      {file.input}
    </>
  )
}

function namePlace({ isSandbox, connectionName, baseUrl }: PlannedAgain): string {
  return isSandbox ? 'the sandbox' : (connectionName ?? baseUrl.replace(/^https?:\/\//, ''))
}

function toDestination(place: string) {
  if (place === SANDBOX) return { kind: 'sandbox' as const }
  return { kind: 'stored' as const, name: place.slice(STORED.length) }
}

/** The choice of the earlier run's destination. */
export const AS_BEFORE = 'before'
export const SANDBOX = 'sandbox'
/** Prefix of a stored connection's name as a choice. */
export const STORED = 'stored:'

/** The destination and key of a run again, for a person to know before anything is sent. */
interface AgainPlace {
  place: NamedPlace
  /** Empty for the sandbox, which is on this machine. */
  addresses: string[]
  /** A sentence. */
  key: string
}

/** The destination of a run again, for a choice of connection. */
export function toAgainPlace(
  plan: PlannedAgain,
  choice: string,
  connections: readonly ConnectionEntry[],
): AgainPlace {
  if (choice === SANDBOX || (choice === AS_BEFORE && plan.isSandbox)) {
    const key = plan.sendsKey ? 'No stored key is sent.' : 'No API key is sent.'
    return { place: { name: 'the sandbox', kind: 'sandbox' }, addresses: [], key }
  }
  const name = choice === AS_BEFORE ? plan.connectionName : choice.slice(STORED.length)
  const entry = connections.find((one) => one.name === name)
  const { baseUrl, taskBaseUrl } = choice === AS_BEFORE ? plan : (entry?.connection ?? plan)
  const addresses = [baseUrl, ...(taskBaseUrl == null || taskBaseUrl === baseUrl ? [] : [taskBaseUrl])]
  const isProduction = entry?.isProduction === true || isProductionAddress(addresses, connections)
  return {
    place: { name: name ?? baseUrl.replace(/^https?:\/\//, ''), kind: isProduction ? 'production' : 'other' },
    addresses,
    key: sayKey(plan, entry, needsKey(plan, choice, connections)),
  }
}

/** Whether a person has to enter the key. */
function needsKey(plan: PlannedAgain, choice: string, connections: readonly ConnectionEntry[]): boolean {
  if (choice === AS_BEFORE) return plan.needsKey
  if (choice === SANDBOX || !plan.sendsKey) return false
  const entry = connections.find(({ name }) => STORED + name === choice)
  return entry === undefined || !isAtHand(findActiveKey(entry))
}

function sayKey(plan: PlannedAgain, entry: ConnectionEntry | undefined, isNeeded: boolean): string {
  if (!plan.sendsKey) return 'No API key is sent.'
  return isNeeded || entry === undefined ? 'The key that you enter here is sent.' : sayActiveKey(entry)
}
