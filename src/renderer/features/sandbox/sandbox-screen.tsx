import { Group, SegmentedControl } from '@mantine/core'
import { IconFlask, IconInbox, IconPlayerPlay } from '@tabler/icons-react'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { SandboxArrived, SandboxSetup, SandboxState } from '../../../shared/bridge/sandbox.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { prettyJson } from '../../../shared/messages/pretty-json.ts'
import type { Arrival } from '../../../shared/sandbox/arrivals.ts'
import { ask, bridge, queryClient } from '../../bridge/client.ts'
import { ContentSwitch, maskJson, useContentShown } from '../../ui/content/user-content.tsx'
import {
  ActionButton,
  bindFields,
  CheckField,
  CopyButton,
  NumberField,
  Pager,
  PrimaryButton,
  RowButton,
  SwitchField,
  TextField,
  toChoices,
} from '../../ui/controls.tsx'
import { formatTimestamp } from '../../ui/format-time.ts'
import { Columns, Empty, ErrorNotice, Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { Table } from '../../ui/table/table.tsx'
import { LongText, SafeText } from '../../ui/text/safe-text.tsx'
import { BehaviourPanels, useSandbox, useSandboxChange } from './behaviour-panels.tsx'
import { ListPanels } from './list-panels.tsx'
import { RulesPanel } from './rules-panel.tsx'
import styles from './sandbox.module.css'

const PARTS = {
  arrived: 'What arrived',
  behaviour: 'Latency and faults',
  rules: 'Rules',
  lists: 'Lists',
  address: 'Address and start',
} as const

type Part = keyof typeof PARTS

/** The service that comes with Sluice, for trying things out: its behaviour, contents, and what arrived. */
export function SandboxScreen(props: { onRuns: () => void }) {
  const sandbox = useSandbox()
  const change = useSandboxChange()
  const [part, setPart] = useState<Part>('arrived')
  const state = sandbox.data ?? null
  const running = state?.running ?? null
  const start = () =>
    change.mutate(async () => {
      await bridge.sandbox.start()
      return bridge.sandbox.read()
    })
  return (
    <Screen
      title="Sandbox"
      subtitle={saySubtitle(state)}
      actions={
        running !== null && (
          <>
            <ContentSwitch />
            <StopButton runsGoing={state?.runsGoing ?? 0} change={change} />
            <ActionButton label="Go to Runs" size="xs" onClick={props.onRuns} />
          </>
        )
      }
    >
      {sandbox.error !== null && <ErrorNotice error={sandbox.error} onRetry={sandbox.refetch} />}
      {change.error !== null && <ErrorNotice error={change.error} onDismiss={change.reset} />}
      {state !== null && running === null && (
        <>
          <Empty
            icon={IconFlask}
            title="The sandbox is not running"
            actions={
              <PrimaryButton onPress={start} busy={change.isPending} icon={<IconPlayerPlay size="1rem" />}>
                Start the sandbox
              </PrimaryButton>
            }
          >
            It is a small moderation service on this machine, for trying things without an account. Its scores
            come from a word list and test phrases: they are not moderation decisions.
          </Empty>
          <SetupPanel setup={state.setup} isRunning={false} runsGoing={0} />
        </>
      )}
      {state !== null && running !== null && (
        <>
          {part !== 'behaviour' &&
            (running.behaviour.faults.length > 0 || running.behaviour.ratePerSecond !== null) && (
              <Notice
                kind="warning"
                title="The sandbox fails on purpose"
                actions={
                  <ActionButton
                    label="Turn faults off"
                    small
                    onClick={() =>
                      change.mutate(() => bridge.sandbox.behave({ faults: [], ratePerSecond: null }))
                    }
                  />
                }
              >
                {[
                  ...running.behaviour.faults,
                  ...(running.behaviour.ratePerSecond === null
                    ? []
                    : [`at most ${running.behaviour.ratePerSecond} requests a second`]),
                ].join(' · ')}
              </Notice>
            )}
          <SegmentedControl
            aria-label="Parts of the sandbox"
            w="auto"
            className="self-start"
            data={toChoices(PARTS)}
            value={part}
            onChange={setPart}
          />
          {part === 'arrived' && <ArrivedPanel />}
          {part === 'behaviour' && <BehaviourPanels behaviour={running.behaviour} />}
          {part === 'rules' && <RulesPanel />}
          {part === 'lists' && <ListPanels />}
          {part === 'address' && (
            <Columns least="48rem" areApart>
              <AddressPanel running={running} />
              <SetupPanel setup={state.setup} isRunning runsGoing={state.runsGoing} />
            </Columns>
          )}
        </>
      )}
    </Screen>
  )
}

function saySubtitle(state: SandboxState | null): string {
  if (state === null) return 'Asking for its state'
  if (state.running === null) return 'Stopped'
  const { runsGoing, running } = state
  const runs =
    runsGoing === 0 ? '' : `, ${formatCounted(runsGoing, 'run')} ${runsGoing === 1 ? 'uses' : 'use'} it`
  return `Running at ${running.baseUrl}${runs}`
}

/** Stops the sandbox; asks first if a run would fail because of that. */
function StopButton(props: { runsGoing: number; change: ReturnType<typeof useSandboxChange> }) {
  const { runsGoing, change } = props
  const stop = () =>
    change.mutate(async () => {
      await bridge.sandbox.stop()
      return bridge.sandbox.read()
    })
  return (
    <AskFirst
      label="Stop"
      question={runsGoing === 0 ? null : `${formatCounted(runsGoing, 'run')} will lose the sandbox.`}
      confirm="Stop anyway"
      busy={change.isPending}
      onConfirm={stop}
    />
  )
}

type Running = NonNullable<SandboxState['running']>

/** The sandbox's address, and keys for other programs on this machine. */
function AddressPanel({ running }: { running: Running }) {
  const { baseUrl, taskBaseUrl, keys } = running
  const [label, setLabel] = useState('')
  const refresh = () => queryClient.invalidateQueries({ queryKey: ask.sandbox.read.queryKey() })
  const add = useMutation({
    mutationFn: async () => ({ label, ...(await bridge.sandbox.addKey({ label: label.trim() })) }),
    onSuccess: async () => {
      setLabel('')
      await refresh()
    },
  })
  const remove = useMutation({
    mutationFn: (keyId: number) => bridge.sandbox.removeKey({ keyId }),
    onSuccess: async () => {
      add.reset()
      await refresh()
    },
  })
  return (
    <Panel title="Address">
      <dl className="facts">
        <dt>Address</dt>
        <dd>
          <code>{baseUrl}</code> <CopyButton label="Copy address" text={() => baseUrl} />
        </dd>
        <dt>Second host for v2</dt>
        <dd>
          <code>{taskBaseUrl}</code> <CopyButton label="Copy second host" text={() => taskBaseUrl} />
        </dd>
        <dt>API key of Sluice</dt>
        <dd>random for each start, never shown</dd>
      </dl>
      <h3 className="mt-4 bold">API keys for other programs</h3>
      <p className={`quiet max-w-text ${styles.note}`}>
        Runs of this window need none. Another program on this machine, such as curl, needs a key. It works
        only with this sandbox and can be copied only once.
      </p>
      {keys.length > 0 && (
        <Table
          className={styles.table}
          caption="API keys for other programs"
          rows={keys}
          toKey={(key) => key.key_id}
          columns={[
            {
              title: 'API key',
              cell: ({ label }) => <SafeText text={label === '' ? 'no name' : label} max={80} />,
            },
            { title: 'Created', cell: (key) => formatTimestamp(key.created_at) },
            {
              title: 'Actions',
              isActions: true,
              cell: (key) => (
                <RowButton
                  label="Remove"
                  name={`Remove key ${key.label}`}
                  onPress={() => remove.mutate(key.key_id)}
                />
              ),
            },
          ]}
        />
      )}
      <form
        className={`flex flex-wrap items-end gap-3 p-0 border-0 ${styles.fields}`}
        onSubmit={(event) => {
          event.preventDefault()
          add.mutate()
        }}
      >
        <TextField label="Name of the new key" placeholder="curl" value={label} onValue={setLabel} />
        <ActionButton
          label="Create a key"
          type="submit"
          disabled={label.trim() === ''}
          loading={add.isPending}
        />
      </form>
      {add.data !== undefined && (
        <Notice
          kind="good"
          title={`Key “${add.data.label}” created`}
          actions={<CopyButton label="Copy key" text={() => add.data.key} />}
        >
          {'•'.repeat(12)} Copy it now: it cannot be shown again.
        </Notice>
      )}
      {(add.error ?? remove.error) !== null && <ErrorNotice error={add.error ?? remove.error} />}
    </Panel>
  )
}

/** How the sandbox starts: its ports, its seed, and whether its contents are kept. */
function SetupPanel(props: { setup: SandboxSetup; isRunning: boolean; runsGoing: number }) {
  const { isRunning, runsGoing } = props
  const [setup, setSetup] = useState(props.setup)
  const change = useSandboxChange()
  const set = (part: Partial<SandboxSetup>) => setSetup((known) => ({ ...known, ...part }))
  const isChanged = JSON.stringify(setup) !== JSON.stringify(props.setup)
  const isForgotten = props.setup.isKept && !setup.isKept
  const port = (label: string, name: 'port' | 'taskPort') => (
    <NumberField
      label={label}
      description="0 for a free one"
      min={0}
      max={65_535}
      allowDecimal={false}
      value={setup[name]}
      onValue={(value) => value !== null && set({ [name]: value })}
    />
  )
  const field = bindFields(setup, set)
  return (
    <Panel title="Start settings">
      <div className={`flex flex-wrap items-end gap-3 p-0 border-0 ${styles.fields}`}>
        {port('Port', 'port')}
        {port('Port of the second host', 'taskPort')}
        <TextField label="Seed" description="For delays, faults and ids" {...field('seed')} maxLength={200} />
      </div>
      <CheckField
        label="Keep rules, lists, settings and requests when Sluice closes"
        description="In the workspace, in sandbox.db. Otherwise the sandbox starts fresh each time."
        {...field('isKept')}
      />
      {((isRunning && isChanged) || isForgotten) && (
        <Notice
          kind="warning"
          title={
            isRunning ? 'Applying this restarts the sandbox' : 'Saving this deletes what the sandbox kept'
          }
        >
          {props.setup.isKept && setup.isKept
            ? 'Its rules, lists and requests stay.'
            : 'Its rules, lists and requests are lost.'}
          {runsGoing > 0 &&
            ` ${formatCounted(runsGoing, 'run')} that ${runsGoing === 1 ? 'uses' : 'use'} it will fail.`}
        </Notice>
      )}
      <Group gap="xs" mt="md">
        <ActionButton
          label={isRunning ? 'Apply and restart' : 'Save'}
          size="xs"
          disabled={!isChanged || setup.seed.trim() === ''}
          loading={change.isPending}
          onClick={() => change.mutate(() => bridge.sandbox.setUp(setup))}
        />
        <AskFirst
          label="Reset everything…"
          question="All requests and your changes to rules, lists, latency and faults will be lost."
          confirm="Reset"
          busy={change.isPending}
          onConfirm={() => change.mutate(() => bridge.sandbox.reset())}
        />
      </Group>
      {change.error !== null && <ErrorNotice error={change.error} onDismiss={change.reset} />}
    </Panel>
  )
}

/** A button for an action that cannot be undone: asks in place, unless nothing is lost (`question` null). */
function AskFirst(props: {
  label: string
  question: string | null
  confirm: string
  busy?: boolean
  onConfirm: () => void
}) {
  const { question, onConfirm } = props
  const [isAsking, setAsking] = useState(false)
  if (!isAsking || question === null) {
    return (
      <ActionButton
        label={props.label}
        size="xs"
        loading={props.busy ?? false}
        onClick={() => (question === null ? onConfirm() : setAsking(true))}
      />
    )
  }
  return (
    <Group gap="xs">
      <span>{question}</span>
      <ActionButton label="Cancel" size="xs" onClick={() => setAsking(false)} />
      <ActionButton
        label={props.confirm}
        variant="filled"
        color="danger"
        size="xs"
        onClick={() => {
          setAsking(false)
          onConfirm()
        }}
      />
    </Group>
  )
}

const PAGE_ARRIVALS = 50

const EVERY_MS = 1_000

interface Chosen {
  endpoint: string | null
  outcome: string | null
}

const ALL: Chosen = { endpoint: null, outcome: null }

/** What arrived at the sandbox: counts by route and outcome, and the requests themselves, newest first. */
function ArrivedPanel() {
  const [chosen, setChosen] = useState(ALL)
  const [offset, setOffset] = useState(0)
  const [isLive, setLive] = useState(true)
  const arrived = useQuery({
    ...ask.sandbox.arrived.queryOptions({ input: { ...chosen, offset, limit: PAGE_ARRIVALS } }),
    placeholderData: keepPreviousData,
    refetchInterval: isLive ? EVERY_MS : false,
  })
  const act = useMutation({
    mutationFn: (work: () => Promise<unknown>) => work(),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ask.sandbox.arrived.key() }),
  })
  const choose = (now: Chosen) => {
    setChosen(now)
    setOffset(0)
  }
  const { counts = [], arrivals = [], total = 0, callbacks } = arrived.data ?? {}
  return (
    <>
      {arrived.error !== null && <ErrorNotice error={arrived.error} onRetry={arrived.refetch} />}
      {act.error !== null && <ErrorNotice error={act.error} onDismiss={act.reset} />}
      {arrived.data !== undefined && counts.length === 0 && (
        <Empty icon={IconInbox} title="Nothing has arrived yet">
          Start a run with the sandbox as its destination, or send one request from the Scratchpad. Every
          request shows up here, refused ones included.
        </Empty>
      )}
      {counts.length > 0 && (
        <Panel
          title="By route and outcome"
          aside={
            <ActionButton
              label="Forget what arrived"
              variant="subtle"
              small
              onClick={() => act.mutate(() => bridge.sandbox.forgetArrived())}
            />
          }
          flush
        >
          <Counts counts={counts} chosen={chosen} onChoose={choose} />
          {callbacks !== undefined && (
            <Callbacks
              callbacks={callbacks}
              onSend={() => act.mutate(() => bridge.sandbox.sendCallbacks())}
            />
          )}
        </Panel>
      )}
      {counts.length > 0 && (
        <Panel
          title={sayTotal(total, chosen)}
          aside={<SwitchField label="Live" size="xs" value={isLive} onValue={setLive} />}
          flush
        >
          <ArrivalTable arrivals={arrivals} />
          <Pager offset={offset} limit={PAGE_ARRIVALS} total={total} noun="request" onOffset={setOffset} />
        </Panel>
      )}
    </>
  )
}

function sayTotal(total: number, { endpoint, outcome }: Chosen): string {
  const of = [endpoint, outcome].filter((part) => part !== null)
  return `${formatCounted(total, 'request')}${of.length === 0 ? '' : `: ${of.join(', ')}`}, newest first`
}

function Counts(props: {
  counts: SandboxArrived['counts']
  chosen: Chosen
  onChoose: (chosen: Chosen) => void
}) {
  const { chosen, onChoose } = props
  return (
    <Table
      className={styles.table}
      caption="Requests by route and outcome; choose one to see its requests"
      rows={props.counts}
      toKey={({ endpoint, outcome }) => `${endpoint} ${outcome}`}
      columns={[
        {
          title: 'Route',
          cell: ({ endpoint, outcome }) => {
            const isChosen = chosen.endpoint === endpoint && chosen.outcome === outcome
            return (
              <button
                type="button"
                className={`link ${styles.choice}`}
                aria-pressed={isChosen}
                onClick={() => onChoose(isChosen ? ALL : { endpoint, outcome })}
              >
                {endpoint}
              </button>
            )
          },
        },
        { title: 'Outcome', cell: ({ outcome }) => <OutcomeWord outcome={outcome} /> },
        { title: 'Requests', isNumber: true, cell: ({ requests }) => formatCount(requests) },
      ]}
    />
  )
}

/** `rejected:DUPLICATE_POST_ID` and `fault:5xx` in words. */
function OutcomeWord({ outcome }: { outcome: string }) {
  const [kind = '', ...rest] = outcome.split(':')
  const of = rest.join(':')
  return (
    <span data-outcome={kind} className={styles.outcome}>
      <SafeText text={of === '' ? kind : `${kind}, ${of}`} max={80} />
    </span>
  )
}

function Callbacks(props: { callbacks: SandboxArrived['callbacks']; onSend: () => void }) {
  const { pending, delivered, failed, dropped } = props.callbacks
  if (pending + delivered + failed + dropped === 0) return null
  return (
    <p className="p-3-4">
      Callbacks: {formatCount(delivered)} delivered, {formatCount(pending)} pending, {formatCount(failed)}{' '}
      given up, {formatCount(dropped)} dropped.{' '}
      {pending > 0 && <ActionButton label="Send the pending ones now" small onClick={props.onSend} />}
    </p>
  )
}

/** The requests; a body is shown on request, with user content masked as usual. */
function ArrivalTable({ arrivals }: { arrivals: readonly Arrival[] }) {
  const isShown = useContentShown()
  const [opened, setOpened] = useState<number | null>(null)
  return (
    <Table
      className={styles.table}
      caption="Requests that arrived"
      rows={arrivals}
      toKey={({ number }) => number}
      below={({ number, body }) =>
        opened === number && body !== null ? (
          <LongText text={prettyJson(isShown ? body : maskJson(body))} label={`Body of request ${number}`} />
        ) : null
      }
      columns={[
        { title: 'No.', isNumber: true, isRowHead: false, cell: ({ number }) => formatCount(number) },
        { title: 'Arrived', cell: (arrival) => formatTimestamp(arrival.arrived_on) },
        { title: 'Route', cell: ({ endpoint }) => endpoint },
        {
          title: 'About',
          cell: ({ subject }) => (subject === '' ? '–' : <SafeText text={subject} max={80} />),
        },
        { title: 'Outcome', cell: ({ outcome }) => <OutcomeWord outcome={outcome} /> },
        {
          title: 'Actions',
          isActions: true,
          cell: ({ number, body }) =>
            body !== null && (
              <RowButton
                label="Body"
                name={`Body of request ${number}`}
                isExpanded={opened === number}
                onPress={() => setOpened(opened === number ? null : number)}
              />
            ),
        },
      ]}
    />
  )
}
