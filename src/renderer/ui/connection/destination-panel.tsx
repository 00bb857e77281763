import { PasswordInput, Radio, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Panel } from '../layout/panel.tsx'
import styles from './connection.module.css'
import { type Destination, parseBaseUrl, type ServiceDestination } from './destination.ts'

/** What the choice of a destination depends on. */
export interface DestinationPanelProps {
  destination: Destination
  environmentHasKey: boolean
  /** Whether the operation is sent with a key at all. */
  needsKey: boolean
  /** Whether the operation has a second host it may go to. */
  offersSecondHost: boolean
  /** The address to begin with where a service is chosen. */
  lastBaseUrl: string | null
  onDestination: (destination: Destination) => void
}

/** Where the rows go: the sandbox inside this app, or a service with its address and key. */
export function DestinationPanel(props: DestinationPanelProps) {
  const { destination, onDestination, lastBaseUrl } = props
  return (
    <Panel title="Connection">
      <Radio.Group
        aria-label="Connection"
        value={destination.kind}
        onChange={(kind) =>
          onDestination(
            kind === 'service'
              ? { kind: 'service', baseUrl: lastBaseUrl ?? '', taskBaseUrl: '', apiKey: '' }
              : { kind: 'sandbox' },
          )
        }
      >
        <Stack gap="xs">
          <Radio
            value="sandbox"
            label="The sandbox"
            description="A small moderation service inside this app. Nothing leaves this machine; its verdicts are no moderation decision."
          />
          <Radio
            value="service"
            label="A service"
            description="A deployment you have an address and an API key for."
          />
        </Stack>
      </Radio.Group>
      {destination.kind === 'service' && <ServiceFields {...props} destination={destination} />}
    </Panel>
  )
}

function ServiceFields(props: DestinationPanelProps & { destination: ServiceDestination }) {
  const { destination, onDestination } = props
  return (
    <Stack gap="sm" className={styles.service}>
      <AddressInput
        label="Base URL"
        placeholder="https://api.example.com"
        value={destination.baseUrl}
        onValue={(baseUrl) => onDestination({ ...destination, baseUrl })}
      />
      {props.offersSecondHost && (
        <AddressInput
          label="Second host for v2"
          placeholder="the same"
          isOptional
          value={destination.taskBaseUrl}
          onValue={(taskBaseUrl) => onDestination({ ...destination, taskBaseUrl })}
        />
      )}
      {props.needsKey && (
        <PasswordInput
          label="API key"
          placeholder={props.environmentHasKey ? 'the one in SLUICE_API_KEY' : ''}
          description="Kept in memory until this window closes; written to no file."
          value={destination.apiKey}
          onChange={(event) => onDestination({ ...destination, apiKey: event.currentTarget.value })}
          visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the key' }}
          spellCheck={false}
          autoComplete="off"
        />
      )}
    </Stack>
  )
}

function AddressInput(props: {
  label: string
  placeholder: string
  isOptional?: boolean
  value: string
  onValue: (value: string) => void
}) {
  const [left, setLeft] = useState(false)
  const parsed = parseBaseUrl(props.value)
  const isBad = parsed.kind === 'bad' && !(props.isOptional && props.value.trim() === '')
  return (
    <TextInput
      label={props.label}
      placeholder={props.placeholder}
      value={props.value}
      onChange={(event) => props.onValue(event.currentTarget.value)}
      onBlur={() => setLeft(true)}
      error={left && isBad ? parsed.message : undefined}
      spellCheck={false}
      autoComplete="off"
    />
  )
}
