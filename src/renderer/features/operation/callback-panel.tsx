import { Group, Stack } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { formatDuration } from '../../../shared/messages/figure-text.ts'
import { ask } from '../../bridge/client.ts'
import { useSettings } from '../../bridge/settings.ts'
import { parseBaseUrl } from '../../ui/connection/destination.ts'
import { ActionButton, TextField, WholeNumber } from '../../ui/controls.tsx'
import { ErrorNotice, Notice, Panel } from '../../ui/layout/screen.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import {
  type CallbackSettings,
  findCallbackGap,
  isOutOfReach,
  OVERDUE_MAX_MINUTES,
} from './operation-settings.ts'

/** Where callbacks are received, whether that can be reached, and how long they are awaited. */
export function CallbackPanel(props: {
  callback: CallbackSettings
  /** Base URL of the service; null for the sandbox, which is on this machine. */
  serviceUrl: string | null
  onCallback: (callback: CallbackSettings) => void
  /** Chooses sync instead. */
  onSync: () => void
}) {
  const { callback, onCallback } = props
  const receiver = useQuery(ask.receiver.open.queryOptions())
  const [left, setLeft] = useState(false)
  useStoredAddress(props)
  const gap = findCallbackGap(callback)
  const parsed = parseBaseUrl(callback.publicUrl)
  const address = parsed.kind === 'url' ? parsed.url : (receiver.data?.baseUrl ?? null)
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
          value={callback.publicUrl}
          onValue={(publicUrl) => onCallback({ ...callback, publicUrl })}
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
          value={callback.overdueMinutes}
          max={OVERDUE_MAX_MINUTES}
          onValue={(overdueMinutes) => onCallback({ ...callback, overdueMinutes })}
        />
      </Stack>
    </Panel>
  )
}

/** Begins with the public address of the workspace, which the sandbox does not need. */
function useStoredAddress(props: Parameters<typeof CallbackPanel>[0]) {
  const { callback, serviceUrl, onCallback } = props
  const stored = useSettings().data?.settings.publicUrl ?? null
  const isOffered = stored !== null && serviceUrl !== null
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, so that a person can empty the field
  useEffect(() => {
    if (isOffered && callback.publicUrl === '') onCallback({ ...callback, publicUrl: stored })
  }, [isOffered])
}

/** Posts to an address and waits for the arrival; recreated for another address. */
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
