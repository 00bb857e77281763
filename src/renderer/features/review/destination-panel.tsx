import { PasswordInput, Radio, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Panel } from '../../ui/layout/panel.tsx'
import styles from './review.module.css'
import { type Destination, parseBaseUrl } from './settings.ts'

/** Where the rows go: the sandbox inside this app, or a service with its address and key. */
export function DestinationPanel(props: {
  destination: Destination
  environmentHasKey: boolean
  onDestination: (destination: Destination) => void
}) {
  const { destination, onDestination } = props
  return (
    <Panel title="Connection">
      <Radio.Group
        aria-label="Connection"
        value={destination.kind}
        onChange={(kind) =>
          onDestination(
            kind === 'service' ? { kind: 'service', baseUrl: '', apiKey: '' } : { kind: 'sandbox' },
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
      {destination.kind === 'service' && (
        <ServiceFields
          destination={destination}
          environmentHasKey={props.environmentHasKey}
          onDestination={onDestination}
        />
      )}
    </Panel>
  )
}

function ServiceFields(props: {
  destination: Extract<Destination, { kind: 'service' }>
  environmentHasKey: boolean
  onDestination: (destination: Destination) => void
}) {
  const { destination, onDestination } = props
  const [left, setLeft] = useState(false)
  const parsed = parseBaseUrl(destination.baseUrl)
  return (
    <Stack gap="sm" className={styles.service}>
      <TextInput
        label="Base URL"
        placeholder="https://api.example.com"
        value={destination.baseUrl}
        onChange={(event) => onDestination({ ...destination, baseUrl: event.currentTarget.value })}
        onBlur={() => setLeft(true)}
        error={left && parsed.kind === 'bad' ? parsed.message : undefined}
        spellCheck={false}
        autoComplete="off"
      />
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
    </Stack>
  )
}
