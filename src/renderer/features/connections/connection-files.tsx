import { useQuery } from '@tanstack/react-query'
import type { ConnectionEntry, ConnectionFile } from '../../../shared/bridge/connections.ts'
import { formatCount } from '../../../shared/messages/figure-text.ts'
import { type SystemRoute, saySystemRoute } from '../../../shared/plan/system-route.ts'
import { ask, bridge, findDesktopApi } from '../../bridge/client.ts'
import { RowButton } from '../../ui/controls.tsx'
import { ErrorNotice } from '../../ui/layout/screen.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './connections.module.css'

/**
 * Whom a connection trusts, what it shows of itself, and its proxy. Files are chosen in a dialog of the system; a browser
 * has none, and says what to type instead.
 */
export function ConnectionFiles(props: {
  entry: ConnectionEntry
  act: (make: () => Promise<ConnectionEntry[]>) => void
}) {
  const { name, connection } = props.entry
  const { caFile, certFile, keyFile, systemAuthorities = true } = connection.tls ?? {}
  const system = useQuery(ask.connections.countSystemAuthorities.queryOptions())
  const { proxy } = connection
  const route = useQuery(ask.connections.findSystemRoute.queryOptions({ input: { name } }))
  const controls = (file: ConnectionFile, label: string, isChosen: boolean) => (
    <FileControls
      label={label}
      isChosen={isChosen}
      onChoose={() => props.act(() => bridge.connections.chooseFile({ name, file }))}
      onRemove={() => props.act(() => bridge.connections.removeFile({ name, file }))}
    />
  )
  return (
    <>
      <dt>Trusts</dt>
      <dd>
        the authorities built into Sluice
        {systemAuthorities &&
          system.data !== undefined &&
          `, ${formatCount(system.data)} more from this system`}
        {!systemAuthorities && ', none from this system'}
        {caFile !== undefined && (
          <>
            , and those in <SafeText text={caFile} max={300} />
          </>
        )}
        {controls('authorities', 'certificate authorities', caFile !== undefined)}
      </dd>
      <dt>Client certificate</dt>
      <dd>
        {certFile === undefined || keyFile === undefined ? (
          'none'
        ) : (
          <>
            <SafeText text={certFile} max={300} />, key <SafeText text={keyFile} max={300} />
          </>
        )}
        {controls('client', 'client certificate', certFile !== undefined)}
      </dd>
      <dt>Proxy</dt>
      <dd>
        {proxy === undefined ? (
          <SystemRouteText data={route.data} error={route.error} />
        ) : (
          <>
            <SafeText text={proxy.url} max={300} />
            {proxy.credentialsEnv !== undefined && `, credentials from the variable ${proxy.credentialsEnv}`}
          </>
        )}
      </dd>
      {findDesktopApi() === null && (
        <>
          <dt>To change these</dt>
          <dd>
            in a terminal: <code>sluice connection set {name} --ca FILE</code>, <code>--no-system-ca</code>,{' '}
            <code>--client-cert</code>, <code>--client-key</code> and <code>--proxy-credentials-env</code>
          </dd>
        </>
      )}
    </>
  )
}

/** By which proxy of the system requests go, or why by none. */
function SystemRouteText({ data, error }: { data: SystemRoute | undefined; error: Error | null }) {
  if (error !== null) return <ErrorNotice error={error} />
  return data === undefined ? 'asking the system' : <SafeText text={saySystemRoute(data)} max={400} />
}

function FileControls(props: {
  label: string
  isChosen: boolean
  onChoose: () => void
  onRemove: () => void
}) {
  return (
    <span className={styles.fileControls}>
      {findDesktopApi() !== null && (
        <RowButton label="Choose…" name={`Choose ${props.label}`} onPress={props.onChoose} />
      )}
      {props.isChosen && <RowButton label="Remove" name={`Remove ${props.label}`} onPress={props.onRemove} />}
    </span>
  )
}
