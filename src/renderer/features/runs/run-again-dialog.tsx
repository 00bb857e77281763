import { Button, Checkbox, Group, Modal, Select, Stack, TextInput } from '@mantine/core'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { ConnectionEntry } from '../../../shared/bridge/connections.ts'
import type { PlannedAgain } from '../../../shared/bridge/history.ts'
import type { ChosenSource } from '../../../shared/bridge/source.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { ACCEPTED_SOURCES } from '../../../shared/plan/source-formats.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { ask, bridge, findDesktopApi } from '../../bridge/client.ts'
import { takeFile } from '../../bridge/take-files.ts'
import { hasActiveKey } from '../../ui/connection/destination.ts'
import { ProductionNotice } from '../../ui/connection/destination-panel.tsx'
import { KeyInput } from '../../ui/connection/key-input.tsx'
import { ErrorNotice, Notice } from '../../ui/layout/notice.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'

const AS_BEFORE = 'before'
const SANDBOX = 'sandbox'
const STORED = 'stored:'

/** What a person decides before a run is sent again. */
interface AgainChoice {
  place: string
  name: string
  keepPostIds: boolean
  apiKey: string
}

/** A run that was started again and waits, and what its source came to. */
interface WaitingRun {
  runId: string
  run: RunSummary
}

/** Deletes what was read and not sent; where that fails, the run stays in the list, and waits. */
async function deleteUnsent(runId: string): Promise<void> {
  await bridge.runs.deleteRun({ runId }).catch(() => {})
}

/**
 * Sends a run again with the same plan: says what is different now, reads and checks the source, and sends it once the
 * person has seen that. A new run that is not sent is deleted.
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
    apiKey: '',
  })
  const plan = useQuery({
    ...ask.history.planAgain.queryOptions({
      input: { runId: props.run.run_id, ...(source !== null && { sourceId: source.sourceId }) },
    }),
    placeholderData: keepPreviousData,
  })
  const [waiting, setWaiting] = useState<WaitingRun | null>(null)
  const isOpen = useRef(true)
  const read = useMutation({
    mutationFn: async () => {
      const { runId } = await bridge.history.runAgain({
        runId: props.run.run_id,
        ...(source !== null && { sourceId: source.sourceId }),
        ...(choice.place !== AS_BEFORE && { destination: toDestination(choice.place) }),
        ...(choice.keepPostIds && { keepPostIds: true }),
        ...(choice.name.trim() !== '' && { name: choice.name.trim() }),
        ...(choice.apiKey.trim() !== '' && { apiKey: choice.apiKey.trim() }),
      })
      try {
        await bridge.runs.awaitReady({ runId })
        const run = await bridge.runs.summarize({ runId })
        if (isOpen.current) setWaiting({ runId, run })
        else await deleteUnsent(runId)
      } catch (error) {
        await deleteUnsent(runId)
        throw error
      }
    },
  })
  const send = useMutation({
    mutationFn: async (runId: string) => {
      await bridge.runs.begin({ runId })
      props.onOpen(runId)
    },
  })
  const giveUp = () => {
    isOpen.current = false
    if (waiting !== null) void deleteUnsent(waiting.runId)
    onClose()
  }
  return (
    <Modal opened size="lg" onClose={giveUp} title="Run again" closeButtonProps={{ 'aria-label': 'Close' }}>
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
          onClose={giveUp}
        />
      )}
      {plan.data !== undefined && waiting !== null && (
        <Stack gap="md">
          <WaitingRows waiting={waiting} plan={plan.data} />
          {send.error !== null && <ErrorNotice error={send.error} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={giveUp}>
              Do not send
            </Button>
            <Button variant="default" onClick={() => props.onOpen(waiting.runId)}>
              Open the run first
            </Button>
            <Button
              data-autofocus
              loading={send.isPending}
              disabled={countSendable(waiting.run) === 0}
              onClick={() => send.mutate(waiting.runId)}
            >
              {plan.data.isLoadTest
                ? 'Start the load test'
                : `Send ${formatCounted(countSendable(waiting.run), 'row')}`}
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}

/** What is different now, and what a person may choose. */
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
  const chosenName = choice.place === AS_BEFORE ? plan.connectionName : namePlaceOf(choice.place)
  const isProduction = connections.some((entry) => entry.isProduction && entry.name === chosenName)
  return (
    <Stack
      component="form"
      gap="md"
      onSubmit={(event) => {
        event.preventDefault()
        props.onSubmit()
      }}
    >
      <p>
        A new run with the plan of{' '}
        <strong>
          <SafeText text={plan.name} max={80} />
        </strong>
        . The earlier run stays as it is.
      </p>
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
        <p>
          The rows go to {namePlaceOf(choice.place)} instead of {namePlace(plan)}. Everything else in the plan
          stays.
        </p>
      )}
      {isProduction && chosenName !== null && (
        <ProductionNotice place={{ name: chosenName, kind: 'production' }} />
      )}
      {isKeyMissing && <KeyInput value={choice.apiKey} onValue={(apiKey) => onChoice({ apiKey })} />}
      {plan.postIds === 'own' && (
        <Checkbox
          label="Send the post_ids of the source again"
          description="Otherwise each row gets a new one. The service may refuse post_ids that it knows as duplicates."
          checked={choice.keepPostIds}
          onChange={(event) => onChoice({ keepPostIds: event.currentTarget.checked })}
        />
      )}
      <TextInput
        label="Name of the new run"
        maxLength={200}
        value={choice.name}
        onChange={(event) => onChoice({ name: event.currentTarget.value })}
      />
      {props.error !== null && <ErrorNotice error={props.error} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={props.onClose}>
          Cancel
        </Button>
        <Button
          type="submit"
          loading={props.busy}
          disabled={isMissing || (isKeyMissing && choice.apiKey.trim() === '')}
        >
          Read and check the source
        </Button>
      </Group>
    </Stack>
  )
}

/** Whether the source is still as the earlier run read it, and the way to another one. */
function SourceNotice(props: {
  plan: PlannedAgain
  isOther: boolean
  onSource: (source: ChosenSource) => void
}) {
  const { plan, onSource } = props
  const { change, description, name } = plan.source
  const input = useRef<HTMLInputElement>(null)
  const take = useMutation({
    mutationFn: async (file: File | null) => {
      const chosen =
        file === null
          ? await findDesktopApi()?.chooseSource()
          : await takeFile(file, () => {}, new AbortController().signal)
      if (chosen) onSource(chosen)
    },
  })
  const choose = () => {
    if (findDesktopApi() === null) input.current?.click()
    else take.mutate(null)
  }
  const isWarning = change === 'changed' || change === 'unknown'
  return (
    <>
      <Notice
        kind={change === 'missing' ? 'error' : isWarning ? 'warning' : 'info'}
        title={change === 'missing' ? 'The source is missing' : 'The source is read again'}
        actions={
          <Button variant="default" size="compact-sm" loading={take.isPending} onClick={choose}>
            Choose another file
          </Button>
        }
      >
        <SafeText
          text={props.isOther ? `${name} is read instead. ${description}` : description}
          max={500}
          lines
        />
      </Notice>
      {take.error !== null && <ErrorNotice error={take.error} />}
      <input
        ref={input}
        type="file"
        accept={ACCEPTED_SOURCES}
        hidden
        data-testid="source-again"
        onChange={(event) => {
          const file = event.currentTarget.files?.[0]
          if (file) take.mutate(file)
          event.currentTarget.value = ''
        }}
      />
    </>
  )
}

/** What reading the source came to, next to what it was. */
function WaitingRows({ waiting: { run }, plan }: { waiting: WaitingRun; plan: PlannedAgain }) {
  const { read, invalid } = run.rows
  const before = read === plan.rows ? 'as before' : `${formatCounted(plan.rows, 'row')} before`
  return (
    <Notice
      kind={countSendable(run) === 0 ? 'error' : invalid > 0 ? 'warning' : 'good'}
      title={`${formatCounted(read, 'row')} read and checked, ${before}`}
    >
      {invalid === 0
        ? 'Every row can be sent. Nothing has been sent yet.'
        : `${formatCounted(invalid, 'row')} with errors will not be sent. Open the run to see why. Nothing has been sent yet.`}
    </Notice>
  )
}

function countSendable({ rows }: RunSummary): number {
  return rows.not_sent
}

function needsKey(plan: PlannedAgain, place: string, connections: readonly ConnectionEntry[]): boolean {
  if (place === AS_BEFORE) return plan.needsKey
  if (place === SANDBOX || !plan.sendsKey) return false
  const entry = connections.find(({ name }) => STORED + name === place)
  return entry === undefined || !hasActiveKey(entry)
}

function namePlace({ isSandbox, connectionName, baseUrl }: PlannedAgain): string {
  return isSandbox ? 'the sandbox' : (connectionName ?? baseUrl.replace(/^https?:\/\//, ''))
}

function namePlaceOf(place: string): string {
  return place === SANDBOX ? 'the sandbox' : place.slice(STORED.length)
}

function toDestination(place: string) {
  if (place === SANDBOX) return { kind: 'sandbox' as const }
  return { kind: 'stored' as const, name: place.slice(STORED.length) }
}
