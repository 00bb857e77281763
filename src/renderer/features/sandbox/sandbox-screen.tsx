import { SegmentedControl } from '@mantine/core'
import { IconFlask, IconPlayerPlay } from '@tabler/icons-react'
import { useState } from 'react'
import type { SandboxState } from '../../../shared/bridge/sandbox.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { bridge } from '../../bridge/client.ts'
import { ContentSwitch } from '../../ui/content/user-content.tsx'
import { ActionButton, PrimaryButton } from '../../ui/controls.tsx'
import { Columns, Empty, ErrorNotice, Notice, Screen } from '../../ui/layout/screen.tsx'
import { AddressPanel, SetupPanel } from './address-panel.tsx'
import { ArrivedPanel } from './arrived-panel.tsx'
import { AskFirst } from './ask-first.tsx'
import { BehaviourPanels } from './behaviour-panels.tsx'
import { ListPanels } from './list-panels.tsx'
import { RulesPanel } from './rules-panel.tsx'
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
