import { Group, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { formatDuration } from '../../../shared/messages/figure-text.ts'
import type { ReceiverState, ReceiverTest } from '../../../shared/run/callback-overview.ts'
import { ask, queryClient } from '../../bridge/client.ts'
import { useChangeSettings, useSettings } from '../../bridge/settings.ts'
import { parseBaseUrl } from '../../ui/connection/destination.ts'
import { ActionButton, CopyButton, TextField } from '../../ui/controls.tsx'
import { ErrorNotice, Notice, Panel } from '../../ui/layout/screen.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './callbacks.module.css'

/** Where the receiver listens, by which public address it is reached, and whether that works. */
export function ReceiverPanel(props: {
  /** Null while this process has not opened it. */
  receiver: ReceiverState | null
  /** Where any process of the workspace listens; null where none does. */
  elsewhere: string | null
}) {
  const { receiver, elsewhere } = props
  const stored = useSettings().data?.settings.publicUrl
  const open = useMutation({
    ...ask.receiver.open.mutationOptions(),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ask.receiver.key() }),
  })
  const baseUrl = receiver?.baseUrl ?? elsewhere
  return (
    <Panel title="Receiver" aside={<State receiver={receiver} elsewhere={elsewhere} />}>
      <Stack gap="md">
        {baseUrl === null ? (
          <Stack gap="sm" align="flex-start">
            <p className="shrink max-w-text breaks">
              Runs that need callbacks start it. Start it now to test its address, or to take in callbacks of
              runs that have ended.
            </p>
            <ActionButton
              label="Start listening"
              variant="filled"
              loading={open.isPending}
              onClick={() => open.mutate(undefined)}
            />
          </Stack>
        ) : (
          <div className={styles.line}>
            <p className="shrink max-w-text breaks">
              <span className="small block">Address on this machine</span>
              <code>
                <SafeText text={baseUrl} max={300} />
              </code>
            </p>
            <CopyButton label="Copy the address" text={() => baseUrl} />
          </div>
        )}
        {open.error !== null && <ErrorNotice error={open.error} onDismiss={open.reset} />}
        {stored !== undefined && <PublicAddress stored={stored} baseUrl={baseUrl} />}
        <p className="quiet">
          The port stays the same for this workspace. To listen on another address or port, use{' '}
          <code className="nowrap">sluice receiver</code> with <code className="nowrap">--callback-host</code>{' '}
          and <code className="nowrap">--callback-port</code>.
        </p>
      </Stack>
    </Panel>
  )
}

function State({ receiver, elsewhere }: { receiver: ReceiverState | null; elsewhere: string | null }) {
  if (receiver?.role === 'listening') return <span className={styles.listening}>listening</span>
  if (receiver !== null) return <span>another process listens; this one takes over when it ends</span>
  return <span>{elsewhere === null ? 'not listening' : 'another process listens'}</span>
}

/** The address of a reverse proxy or tunnel that leads here, and a test of it. */
function PublicAddress({ stored, baseUrl }: { stored: string | null; baseUrl: string | null }) {
  const [changed, setChanged] = useState<string | null>(null)
  const typed = changed ?? stored ?? ''
  const [hasLeft, setLeft] = useState(false)
  const change = useChangeSettings()
  const test = useMutation(ask.receiver.test.mutationOptions())
  const isEmpty = typed.trim() === ''
  const parsed = parseBaseUrl(typed)
  const mistake = isEmpty || parsed.kind === 'url' ? null : parsed.message
  const wanted = isEmpty || parsed.kind !== 'url' ? null : parsed.url
  const address = wanted ?? baseUrl
  return (
    <>
      <div className={styles.public}>
        <TextField
          flex="1 1 24rem"
          maw="48rem"
          label="Public address"
          description="The address of a reverse proxy or tunnel that leads here. New async runs begin with it. If empty, services get the address on this machine."
          placeholder="https://callbacks.example.com"
          value={typed}
          error={hasLeft && mistake !== null ? mistake : undefined}
          onValue={setChanged}
          onBlur={() => setLeft(true)}
          isLiteral
        />
        <Group gap="xs">
          <ActionButton
            label={stored !== null && wanted === stored ? 'Saved' : 'Save'}
            disabled={mistake !== null || wanted === stored}
            loading={change.isPending}
            onClick={() => change.mutate({ publicUrl: wanted })}
          />
          <ActionButton
            label="Test the address"
            disabled={mistake !== null || address === null}
            loading={test.isPending}
            onClick={() => address !== null && test.mutate({ publicUrl: address })}
          />
        </Group>
      </div>
      {change.error !== null && <ErrorNotice error={change.error} onDismiss={change.reset} />}
      {test.error !== null && <ErrorNotice error={test.error} onDismiss={test.reset} />}
      {test.data !== undefined && (
        <TestResult result={test.data} address={test.variables.publicUrl} baseUrl={baseUrl} />
      )}
    </>
  )
}

function TestResult(props: { result: ReceiverTest; address: string; baseUrl: string | null }) {
  const { result, address, baseUrl } = props
  const { status, answeredMs, arrivedMs } = result
  return (
    <Notice kind="good" title={`A signed callback came back after ${formatDuration(arrivedMs)}`}>
      {address === baseUrl ? (
        <>It went straight to the receiver, which answered {status}.</>
      ) : (
        <>
          It went to <SafeText text={address} max={300} />, which answered {status} after{' '}
          {formatDuration(answeredMs)}, and from there to{' '}
          <SafeText text={baseUrl ?? 'the receiver'} max={300} />.
        </>
      )}{' '}
      It was sent from this machine: the service's own network may still not reach the address.
    </Notice>
  )
}
