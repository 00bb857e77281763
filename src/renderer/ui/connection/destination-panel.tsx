import { Radio, Stack } from '@mantine/core'
import { IconAlertTriangle, IconFlask, IconPlugConnected, type TablerIcon } from '@tabler/icons-react'
import { useState } from 'react'
import type { ConnectionEntry } from '../../../shared/bridge/connections.ts'
import { findActiveKey } from '../../../shared/plan/stored-connection.ts'
import { bindFields, TextField } from '../controls.tsx'
import { Notice, Panel } from '../layout/screen.tsx'
import { SafeText } from '../text/safe-text.tsx'
import styles from './connection.module.css'
import {
  type Destination,
  findEntry,
  isAtHand,
  type NamedPlace,
  parseBaseUrl,
  parseServiceUrl,
  recallDestination,
  rememberDestination,
  type ServiceDestination,
  sayActiveKey,
  toChoice,
} from './destination.ts'
import { KeyInput } from './key-input.tsx'

interface DestinationPanelProps {
  destination: Destination
  connections: readonly ConnectionEntry[]
  needsKey: boolean
  offersSecondHost: boolean
  /** The initial address after choosing a service. */
  lastBaseUrl: string | null
  onDestination: (destination: Destination) => void
}

/** Where the rows go: the app's own sandbox, a stored connection, or a service with its address and key. */
export function DestinationPanel(props: DestinationPanelProps) {
  const { destination, connections, lastBaseUrl } = props
  const onDestination = (changed: Destination) => {
    rememberDestination(changed, connections)
    props.onDestination(changed)
  }
  const offered: readonly Destination[] = [
    { kind: 'sandbox' },
    ...connections.map(({ name }) => ({ kind: 'stored', name, apiKey: '' }) as const),
    { kind: 'service', baseUrl: lastBaseUrl ?? '', taskBaseUrl: '', apiKey: '' },
  ]
  const choose = (value: string) => {
    rememberDestination(destination, connections)
    const chosen = offered.find((one) => toChoice(one) === value)
    if (chosen !== undefined) onDestination(recallDestination(chosen, connections))
  }
  const entry = findEntry(destination, connections)
  return (
    <Panel title="Connection">
      <Radio.Group aria-label="Connection" value={toChoice(destination)} onChange={choose}>
        <Stack gap="xs">
          <Radio
            value="sandbox"
            label="The sandbox"
            description="A small moderation service inside this app. Nothing leaves this machine; its verdicts are no moderation decision."
          />
          {connections.map(({ name, isProduction, connection }) => (
            <Radio
              key={name}
              value={toChoice({ kind: 'stored', name, apiKey: '' })}
              aria-label={name}
              label={<ConnectionChip place={{ name, kind: isProduction ? 'production' : 'other' }} />}
              description={<SafeText text={connection.baseUrl} max={120} />}
            />
          ))}
          <Radio
            value="service"
            label={connections.length === 0 ? 'A service' : 'Another service'}
            description="A deployment you have an address and an API key for."
          />
        </Stack>
      </Radio.Group>
      {destination.kind === 'service' && (
        <ServiceFields {...props} destination={destination} onDestination={onDestination} />
      )}
      {destination.kind === 'stored' && entry !== null && props.needsKey && (
        <Stack gap="sm" className="mt-3 pt-3 border-t">
          <p className="quiet">{sayActiveKey(entry)}</p>
          {!isAtHand(findActiveKey(entry)) && (
            <KeyInput
              value={destination.apiKey}
              onValue={(apiKey) => onDestination({ ...destination, apiKey })}
            />
          )}
        </Stack>
      )}
    </Panel>
  )
}

function ServiceFields(props: DestinationPanelProps & { destination: ServiceDestination }) {
  const { destination, onDestination } = props
  const field = bindFields(destination, (part) => onDestination({ ...destination, ...part }))
  return (
    <Stack gap="sm" className="mt-3 pt-3 border-t">
      <AddressInput label="Base URL" placeholder="https://api.example.com" {...field('baseUrl')} />
      {props.offersSecondHost && (
        <AddressInput
          label="Second host for v2"
          placeholder="the same"
          isOptional
          {...field('taskBaseUrl')}
        />
      )}
      {props.needsKey && <KeyInput {...field('apiKey')} />}
    </Stack>
  )
}

/** A field for an address, which says at once which part is not used, and after leaving it what is wrong. */
export function AddressInput(props: {
  label: string
  placeholder: string
  /** What the address belongs to (default: a service). */
  of?: 'service' | 'proxy'
  isOptional?: boolean
  /** Whether mistakes are shown before the field is left. */
  isChecked?: boolean
  value: string
  onValue: (value: string) => void
}) {
  const [left, setLeft] = useState(false)
  const parsed =
    props.of === 'proxy' ? { ...parseBaseUrl(props.value), note: null } : parseServiceUrl(props.value)
  const isBad = parsed.kind === 'bad' && !(props.isOptional && props.value.trim() === '')
  return (
    <TextField
      label={props.label}
      placeholder={props.placeholder}
      description={parsed.kind === 'url' ? parsed.note : undefined}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      value={props.value}
      onValue={props.onValue}
      onBlur={() => setLeft(true)}
      error={(left || props.isChecked) && isBad ? parsed.message : undefined}
      isLiteral
    />
  )
}

const LOOKS: Record<NamedPlace['kind'], { icon: TablerIcon; className: string | undefined; word: string }> = {
  sandbox: { icon: IconFlask, className: styles.sandbox, word: '' },
  production: { icon: IconAlertTriangle, className: styles.production, word: 'production' },
  other: { icon: IconPlugConnected, className: 'bg-accent accent', word: '' },
}

/** Where rows go or went, with a colour and an icon that distinguish production. */
export function ConnectionChip({ place }: { place: NamedPlace }) {
  const { icon: Icon, className, word } = LOOKS[place.kind]
  return (
    <span className={`inline-flex items-center max-w-full text-xs medium nowrap ${styles.chip} ${className}`}>
      <Icon size="1em" stroke={2} className="flex-none" aria-hidden />
      <SafeText text={place.name} max={80} />
      {word !== '' && <strong>{word}</strong>}
    </span>
  )
}

/** Says that rows go to production, and where the question about that will appear: not in this page. */
export function ProductionNotice({ place }: { place: NamedPlace }) {
  return (
    <Notice kind="warning" title="This is production">
      <ProductionWords place={place} />
    </Notice>
  )
}

/** What happens before rows go to production. */
export function ProductionWords({ place }: { place: NamedPlace }) {
  return (
    <>
      The rows go to <ConnectionChip place={place} />. Before anything is sent, Sluice asks you to confirm it
      outside of this page: in a dialog, or in a browser tab of its own.
    </>
  )
}
