import { Group, Radio } from '@mantine/core'
import { IconArrowRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ConnectionEntry } from '../../../shared/bridge/connections.ts'
import type { SandboxOffers } from '../../../shared/bridge/sandbox.ts'
import {
  hasModes,
  isAbout,
  isAsync,
  isOperationKind,
  OPERATION_KINDS,
  type Operation,
  sendsKey,
} from '../../../shared/operations/operations.ts'
import { ask } from '../../bridge/client.ts'
import { type Destination, toServiceUrl } from '../../ui/connection/destination.ts'
import { DestinationPanel } from '../../ui/connection/destination-panel.tsx'
import { PrimaryButton } from '../../ui/controls.tsx'
import { Panel, Screen } from '../../ui/layout/screen.tsx'
import { type Activity, toLook } from '../../ui/operations/operation-looks.tsx'
import { CallbackPanel } from './callback-panel.tsx'
import { LoadOptions } from './load-options.tsx'
import type { LoadSettings } from './load-settings.ts'
import styles from './operation.module.css'
import { IndexOptions, TaskOptions, WatchlistOptions } from './operation-options.tsx'
import type { CallbackSettings } from './operation-settings.ts'

/** What is done with each row, and where: the first step of a new run. */
export function OperationScreen(props: {
  operation: Operation
  /** The column that names the models of each row; null where none does. */
  modelsColumn: string | null
  /** Null where this is not a load test. */
  load: LoadSettings | null
  callback: CallbackSettings
  destination: Destination
  connections: readonly ConnectionEntry[]
  lastBaseUrl: string | null
  /** What is still missing, or null. */
  todo: string | null
  onActivity: (activity: Activity) => void
  onOperation: (operation: Operation) => void
  onLoad: (load: LoadSettings) => void
  onCallback: (callback: CallbackSettings) => void
  onDestination: (destination: Destination) => void
  onContinue: () => void
}) {
  const { operation, load, callback, destination, onOperation } = props
  const activity = load === null ? operation.kind : 'load'
  const isSandbox = destination.kind === 'sandbox'
  const sandbox = useQuery(
    ask.sandbox.describe.queryOptions({ enabled: isSandbox && operation.kind !== 'task' }),
  )
  const awaitsCallbacks = isAsync(operation)
  const needsKey = sendsKey(operation)
  return (
    <Screen
      title="Operation"
      subtitle={
        props.todo === null ? (
          'What is done with each row, and where'
        ) : (
          <span className="warned">{props.todo}</span>
        )
      }
      actions={
        <PrimaryButton
          onPress={props.onContinue}
          blocked={props.todo ?? undefined}
          icon={<IconArrowRight size="1rem" />}
        >
          Continue
        </PrimaryButton>
      }
    >
      <OperationCards chosen={activity} onChoose={props.onActivity} />
      {load !== null && <LoadOptions load={load} onLoad={props.onLoad} />}
      <div className={styles.columns}>
        <div className={styles.stack}>
          <Panel title={toLook(operation.kind).title}>
            <Options
              operation={operation}
              modelsColumn={props.modelsColumn}
              offers={(isSandbox && sandbox.data) || null}
              onOperation={onOperation}
            />
          </Panel>
        </div>
        <div className={styles.side}>
          <DestinationPanel
            destination={destination}
            connections={props.connections}
            needsKey={needsKey}
            offersSecondHost={operation.kind === 'task' && operation.api === 'v2'}
            lastBaseUrl={props.lastBaseUrl}
            onDestination={props.onDestination}
          />
          {awaitsCallbacks && hasModes(operation) && (
            <CallbackPanel
              callback={callback}
              serviceUrl={toServiceUrl(destination, props.connections)}
              onCallback={props.onCallback}
              onSync={() => onOperation({ ...operation, mode: 'sync' })}
            />
          )}
        </div>
      </div>
    </Screen>
  )
}

function Options(props: {
  operation: Operation
  modelsColumn: string | null
  offers: SandboxOffers | null
  onOperation: (operation: Operation) => void
}) {
  const { operation, offers, onOperation } = props
  if (isAbout(operation, 'content')) {
    return <TaskOptions operation={operation} modelsColumn={props.modelsColumn} onOperation={onOperation} />
  }
  if (isAbout(operation, 'item')) {
    return <IndexOptions offers={offers} operation={operation} onOperation={onOperation} />
  }
  if (isAbout(operation, 'term')) {
    return <WatchlistOptions offers={offers} operation={operation} onOperation={onOperation} />
  }
  return (
    <p className="quiet">
      One request for each appeal_id. It needs no API key, and changes nothing at the service.
    </p>
  )
}

/** Everything the service offers and a test of its load, a card each, one of them chosen. */
function OperationCards(props: { chosen: Activity; onChoose: (activity: Activity) => void }) {
  return (
    <Panel title="What to do with each row">
      <Radio.Group
        aria-label="Operation"
        value={props.chosen}
        onChange={(value) => {
          if (value === 'load' || isOperationKind(value)) props.onChoose(value)
        }}
      >
        <div className={styles.cards}>
          {OPERATION_KINDS.map((kind) => (
            <OperationCard key={kind} kind={kind} />
          ))}
          <OperationCard kind="load" />
        </div>
      </Radio.Group>
    </Panel>
  )
}

function OperationCard({ kind }: { kind: Activity }) {
  const { title, meaning, icon: Icon } = toLook(kind)
  return (
    <Radio.Card
      value={kind}
      className={`grid gap-1 bg-surface ${styles.card}`}
      aria-label={title}
      aria-description={meaning}
    >
      <Group component="span" gap="xs" wrap="nowrap">
        <Icon size="1.25rem" stroke={1.5} aria-hidden />
        <span className="flex-1 text-md bold">{title}</span>
        <Radio.Indicator size="xs" />
      </Group>
      <span className="text-sm quiet">{meaning}</span>
    </Radio.Card>
  )
}
