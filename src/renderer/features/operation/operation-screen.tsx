import { Group, Radio, Select, Stack, TagsInput } from '@mantine/core'
import { IconArrowRight } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { ConnectionEntry } from '../../../shared/bridge/connections.ts'
import type { SandboxOffers } from '../../../shared/bridge/sandbox.ts'
import { formatDuration } from '../../../shared/messages/figure-text.ts'
import {
  hasEmptyNotes,
  hasModes,
  isAbout,
  isAsync,
  isOperationKind,
  OPERATION_KINDS,
  type Operation,
  sendsKey,
  type TaskOperation,
} from '../../../shared/operations/operations.ts'
import { TERMS_PER_REQUEST_MAX } from '../../../shared/operations/watchlist.ts'
import { findModel, MODELS } from '../../../shared/service/models.ts'
import { ask } from '../../bridge/client.ts'
import { useSettings } from '../../bridge/settings.ts'
import { type Destination, parseBaseUrl, toServiceUrl } from '../../ui/connection/destination.ts'
import { DestinationPanel } from '../../ui/connection/destination-panel.tsx'
import {
  ActionButton,
  bindFields,
  PrimaryButton,
  RadioField,
  SelectField,
  SwitchField,
  TextField,
  WholeNumber,
} from '../../ui/controls.tsx'
import { ErrorNotice, Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { type Activity, OperationNotice, toLook } from '../../ui/operations/operation-looks.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { LoadOptions } from './load-options.tsx'
import type { LoadSettings } from './load-settings.ts'
import styles from './operation.module.css'
import {
  type CallbackSettings,
  chooseVersion,
  findCallbackGap,
  isOutOfReach,
  OVERDUE_MAX_MINUTES,
} from './operation-settings.ts'

/** What to do with each row, and where: the first step of a new run. */
export function OperationScreen(props: {
  operation: Operation
  /** The column with the models of each row; null if there is none. */
  modelsColumn: string | null
  load: LoadSettings | null
  callback: CallbackSettings
  destination: Destination
  connections: readonly ConnectionEntry[]
  lastBaseUrl: string | null
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

/** All operations of the service and a load test, as cards to choose from. */
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

/** Where callbacks are received, whether that is reachable, and how long to wait for them. */
function CallbackPanel(props: {
  callback: CallbackSettings
  /** Base URL of the service; null for the sandbox, which is on this machine. */
  serviceUrl: string | null
  onCallback: (callback: CallbackSettings) => void
  /** Switches to sync instead. */
  onSync: () => void
}) {
  const { callback, onCallback } = props
  const receiver = useQuery(ask.receiver.open.queryOptions())
  const [left, setLeft] = useState(false)
  useStoredAddress(props)
  const gap = findCallbackGap(callback)
  const parsed = parseBaseUrl(callback.publicUrl)
  const address = parsed.kind === 'url' ? parsed.url : (receiver.data?.baseUrl ?? null)
  const field = bindFields(callback, (part) => onCallback({ ...callback, ...part }))
  return (
    <Panel
      title="Callbacks"
      aside={receiver.data?.role === 'standby' ? 'another window of this workspace receives them' : undefined}
    >
      <Stack gap="md">
        {receiver.error !== null && <ErrorNotice error={receiver.error} onRetry={receiver.refetch} />}
        {address !== null && (
          <div className="grid gap-1 p-2-3 rounded bg-sunken">
            <span className="small">Received at</span>
            <code className="breaks">
              <SafeText text={`${address}/callback/…`} max={300} />
            </code>
          </div>
        )}
        <TextField
          label="Public address"
          description="The address of a reverse proxy or tunnel that leads here. If empty, the service gets the address above."
          placeholder="https://callbacks.example.com"
          {...field('publicUrl')}
          onBlur={() => setLeft(true)}
          error={left && gap !== null ? gap : undefined}
          isLiteral
        />
        {address !== null && isOutOfReach(props.serviceUrl, address) && (
          <Notice
            kind="warning"
            title="The service cannot reach this machine by that address"
            actions={<ActionButton label="Use sync instead" onClick={props.onSync} />}
          >
            This address only works on this machine, so callbacks would not arrive. Enter a public address or
            use sync.
          </Notice>
        )}
        {address !== null && gap === null && <AddressTest key={address} address={address} />}
        <WholeNumber
          label="Overdue after (minutes)"
          description="A row whose callback has not come by then is overdue; a late one still settles it."
          maw="18rem"
          {...field('overdueMinutes')}
          max={OVERDUE_MAX_MINUTES}
        />
      </Stack>
    </Panel>
  )
}

/** Starts with the workspace's public address, which the sandbox does not need. */
function useStoredAddress(props: Parameters<typeof CallbackPanel>[0]) {
  const { callback, serviceUrl, onCallback } = props
  const stored = useSettings().data?.settings.publicUrl ?? null
  const isOffered = stored !== null && serviceUrl !== null
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, so that a person can empty the field
  useEffect(() => {
    if (isOffered && callback.publicUrl === '') onCallback({ ...callback, publicUrl: stored })
  }, [isOffered])
}

/** Posts to an address and waits for the arrival; mounted anew for another address. */
function AddressTest({ address }: { address: string }) {
  const test = useMutation(ask.receiver.test.mutationOptions())
  return (
    <Stack gap="xs">
      <Group>
        <ActionButton
          label="Test the address"
          loading={test.isPending}
          onClick={() => test.mutate({ publicUrl: address })}
        />
      </Group>
      {test.isSuccess && (
        <Notice
          kind="good"
          title={`A callback to this address came back after ${formatDuration(test.data.arrivedMs)}`}
        >
          It was sent from this machine. The service's own network may still not reach it.
        </Notice>
      )}
      {test.error !== null && <ErrorNotice error={test.error} onDismiss={test.reset} />}
    </Stack>
  )
}

/** Version of the interface, models, and form of the answer; the defaults suit text. */
function TaskOptions(props: {
  operation: TaskOperation
  /** The column with the models of each row; null if there is none. */
  modelsColumn: string | null
  onOperation: (operation: TaskOperation) => void
}) {
  const { operation, onOperation } = props
  const { api, mode, models } = operation
  const { modelsColumn } = props
  // A row's cell wins over the models chosen here.
  const usedFor = modelsColumn !== null && (
    <>
      Used for rows without a model in the “<SafeText text={modelsColumn} max={60} />” column.
    </>
  )
  return (
    <Stack gap="md">
      <ModeChoice mode={mode} onMode={(chosen) => onOperation({ ...operation, mode: chosen })} />
      <SelectField
        label="Version"
        value={api}
        onValue={(version) => onOperation(chooseVersion(operation, version))}
        data={[
          { value: 'v1', label: 'v1: one model per request' },
          { value: 'v2', label: 'v2: several models, custom indexes' },
        ]}
      />
      {api === 'v1' ? (
        <Select
          label="Model"
          description={usedFor}
          clearable
          allowDeselect
          placeholder="text for text_data, visual for url"
          value={models[0] ?? null}
          onChange={(model) => onOperation({ ...operation, models: model === null ? [] : [model] })}
          data={toModelOptions(mode, models)}
        />
      ) : (
        <TagsInput
          label="Models"
          size="xs"
          description={<>Pick models, or type the id of a custom index and press Enter. {usedFor}</>}
          placeholder={models.length === 0 ? 'as the service decides' : ''}
          value={models}
          onChange={(chosen) => onOperation({ ...operation, models: chosen })}
          acceptValueOnBlur
          data={toModelOptions(mode, [])}
        />
      )}
      {api === 'v1' && (
        <SwitchField
          label="Legacy answer"
          description="The long form, with the language, what the text filters found, and class scores, which Evaluate needs to try thresholds."
          value={operation.legacy}
          onValue={(legacy) => onOperation({ ...operation, legacy })}
        />
      )}
    </Stack>
  )
}

/**
 * The models to choose from. Models that the interface does not list for the mode are marked, a reason to
 * look twice. Chosen models that it does not list at all, such as those of a plan, are included, so that
 * everything sent is shown.
 */
function toModelOptions(mode: TaskOperation['mode'], chosen: readonly string[]) {
  const unlisted = chosen.filter((name) => findModel(name) === null)
  return [
    ...unlisted.map((name) => ({ value: name, label: `${name}, not a listed model` })),
    ...MODELS.map((model) => ({
      value: model.value,
      label: `${model.label} (${model.value})${model[mode] ? '' : `, not listed for ${mode}`}`,
    })),
  ]
}

function ModeChoice(props: { mode: 'sync' | 'async'; onMode: (mode: 'sync' | 'async') => void }) {
  return (
    <RadioField
      label="Answers"
      value={props.mode}
      onValue={props.onMode}
      choices={[
        {
          value: 'sync',
          label: 'At once (sync)',
          description: 'Each request stays open until its result is there.',
        },
        {
          value: 'async',
          label: 'Later, by callback (async)',
          description:
            'The service takes each row at once and posts its result to this app: for large batches and long videos.',
        },
      ]}
    />
  )
}

interface OptionProps<Of extends Operation> {
  offers: SandboxOffers | null
  operation: Of
  onOperation: (operation: Of) => void
}

type IndexOperation = Extract<Operation, { indexId: string }>
type WatchlistOperation = Extract<Operation, { watchlist: string }>

function IndexOptions({ operation, offers, onOperation }: OptionProps<IndexOperation>) {
  return (
    <Stack gap="md">
      <TargetField
        label="Custom index id"
        about="As the dashboard of the service shows it."
        offered={offers?.indexId}
        value={operation.indexId}
        onValue={(indexId) => onOperation({ ...operation, indexId })}
      />
      <ModeChoice mode={operation.mode} onMode={(mode) => onOperation({ ...operation, mode })} />
      <OperationNotice kind={operation.kind} />
    </Stack>
  )
}

/** The watchlist, the number of terms per request, and the effect of empty notes in an update. */
function WatchlistOptions({ operation, offers, onOperation }: OptionProps<WatchlistOperation>) {
  return (
    <Stack gap="md">
      <TargetField
        label="Watchlist"
        about="Its API field name, as the dashboard of the service shows it. The watchlist must exist."
        offered={offers?.watchlist}
        value={operation.watchlist}
        onValue={(watchlist) => onOperation({ ...operation, watchlist })}
      />
      <WholeNumber
        label="Terms in one request, at most"
        description="A request that the service finds too large is split and sent again."
        maw="18rem"
        value={operation.termsPerRequest}
        onValue={(termsPerRequest) => onOperation({ ...operation, termsPerRequest })}
        max={TERMS_PER_REQUEST_MAX}
      />
      {hasEmptyNotes(operation) && (
        <RadioField
          label="Where the notes are empty"
          value={operation.emptyNotes}
          onValue={(emptyNotes) => onOperation({ ...operation, emptyNotes })}
          choices={[
            {
              value: 'keep',
              label: 'Leave the term’s notes alone',
              description: 'An empty cell changes nothing.',
            },
            {
              value: 'clear',
              label: 'Clear the term’s notes',
              description: 'An empty cell empties the notes in the watchlist.',
            },
          ]}
        />
      )}
      <OperationNotice kind={operation.kind} />
    </Stack>
  )
}

/** The index or watchlist; a button fills in the one that the sandbox has. */
function TargetField(props: {
  label: string
  about: string
  offered: string | undefined
  value: string
  onValue: (value: string) => void
}) {
  const { about, offered, ...field } = props
  const offer = offered !== undefined && (
    <>
      The sandbox has{' '}
      <button type="button" className="link" onClick={() => field.onValue(offered)}>
        {offered}
      </button>
    </>
  )
  return <TextField {...field} description={offer || about} isLiteral />
}
