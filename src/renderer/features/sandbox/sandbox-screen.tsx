import { Group, SegmentedControl } from '@mantine/core'
import { IconFlask, IconPlayerPlay } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { SandboxSetup, SandboxState } from '../../../shared/bridge/sandbox.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { ask, bridge, queryClient } from '../../bridge/client.ts'
import { ContentSwitch } from '../../ui/content/user-content.tsx'
import {
  ActionButton,
  CheckField,
  CopyButton,
  NumberField,
  PrimaryButton,
  RowButton,
  TextField,
} from '../../ui/controls.tsx'
import { formatTimestamp } from '../../ui/format-time.ts'
import { Columns, Empty, ErrorNotice, Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { ArrivedPanel } from './arrived-panel.tsx'
import { AskFirst } from './ask-first.tsx'
import { BehaviourPanels } from './behaviour-panels.tsx'
import { ListPanels } from './list-panels.tsx'
import { RulesPanel } from './rules-panel.tsx'
import styles from './sandbox.module.css'
import { useSandbox, useSandboxChange } from './use-sandbox.ts'

const PARTS = {
  arrived: 'What arrived',
  behaviour: 'Latency and faults',
  rules: 'Rules',
  lists: 'Lists',
  address: 'Address and start',
} as const

type Part = keyof typeof PARTS

const PART_NAMES = Object.keys(PARTS) as Part[]

/** The service that Sluice brings along, to try things on: what it does, what it holds, and what arrived. */
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
            data={PART_NAMES.map((value) => ({ value, label: PARTS[value] }))}
            value={part}
            onChange={(value) => setPart(PART_NAMES.find((one) => one === value) ?? 'arrived')}
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
  const runs = runsGoing === 0 ? '' : `, ${formatCounted(runsGoing, 'run')} sending to it`
  return `Running at ${running.baseUrl}${runs}`
}

/** Stops the sandbox; asks first where a run would fail for it. */
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

/** Where the sandbox is, and keys with which other programs on this machine reach it. */
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

/** How the sandbox is started: its ports, its seed, and whether it is kept. */
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
  return (
    <Panel title="Start settings">
      <div className={`flex flex-wrap items-end gap-3 p-0 border-0 ${styles.fields}`}>
        {port('Port', 'port')}
        {port('Port of the second host', 'taskPort')}
        <TextField
          label="Seed"
          description="For delays, faults and ids"
          value={setup.seed}
          maxLength={200}
          onValue={(seed) => set({ seed })}
        />
      </div>
      <CheckField
        label="Keep rules, lists, settings and requests when Sluice closes"
        description="In the workspace, in sandbox.db. Otherwise the sandbox starts fresh each time."
        checked={setup.isKept}
        onValue={(isKept) => set({ isKept })}
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
          {runsGoing > 0 && ` ${formatCounted(runsGoing, 'run')} sending to it will fail.`}
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
