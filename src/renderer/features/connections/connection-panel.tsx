import { Button, Group, Menu, Modal } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type {
  ConnectionEntry,
  ConnectionFile,
  ConnectionKeyEntry,
} from '../../../shared/bridge/connections.ts'
import { dropZeros, formatCount, formatMs } from '../../../shared/messages/figure-text.ts'
import { findNameFault, type KeyPlace } from '../../../shared/plan/stored-connection.ts'
import { type SystemRoute, saySystemRoute } from '../../../shared/plan/system-route.ts'
import { quoteForShell } from '../../../shared/shell-command.ts'
import { ask, bridge, findDesktopApi } from '../../bridge/client.ts'
import { isAtHand, isTypeable } from '../../ui/connection/destination.ts'
import { ConnectionChip } from '../../ui/connection/destination-panel.tsx'
import { KeyInput, sayKept } from '../../ui/connection/key-input.tsx'
import { ActionButton, RowButton, TextField } from '../../ui/controls.tsx'
import { Form, FormActions, useTriedForm } from '../../ui/form.tsx'
import { ErrorNotice } from '../../ui/layout/screen.tsx'
import { showToast } from '../../ui/layout/toasts.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { CheckNotice } from './check-notice.tsx'
import styles from './connections.module.css'

/** One connection: its addresses, its keys, and its actions. */
export function ConnectionPanel(props: {
  entry: ConnectionEntry
  onEntries: (entries: ConnectionEntry[]) => void
  /** Like `onEntries`, after the connection was put in use. */
  onUse: (entries: ConnectionEntry[]) => void
  onChange: () => void
  onRemove: () => Promise<void>
}) {
  const { entry, onEntries } = props
  const { name, keys, activeKey, isInUse, isProduction, connection } = entry
  /** The key being typed; `new` for a key that the connection does not have yet. */
  const [typing, setTyping] = useState<{ key: ConnectionKeyEntry | 'new' } | null>(null)
  const change = useMutation({
    mutationFn: async (make: () => Promise<ConnectionEntry[]>) => onEntries(await make()),
  })
  const test = useMutation({ mutationFn: () => bridge.connections.test({ name }) })
  const act = (make: () => Promise<ConnectionEntry[]>) => {
    test.reset()
    change.mutate(make)
  }
  const use = useMutation({ mutationFn: async () => props.onUse(await bridge.connections.use({ name })) })
  const remove = useMutation({ mutationFn: props.onRemove })
  return (
    <section className="stack gap-3 p-4 border rounded-large bg-surface" aria-label={name}>
      <Group component="header" gap="xs" justify="space-between">
        <h2 className={`row gap-2 min-w-0 text-lg bold ${styles.name}`}>
          <ConnectionChip place={{ name, kind: isProduction ? 'production' : 'other' }} />
          {isInUse && <span className={`rounded text-xs medium ${styles.inUse}`}>in use</span>}
        </h2>
        <Group gap="xs">
          <ActionButton label="Test" size="xs" loading={test.isPending} onClick={() => test.mutate()} />
          {!isInUse && (
            <ActionButton label="Use" size="xs" loading={use.isPending} onClick={() => use.mutate()} />
          )}
          <ActionButton
            label="Edit"
            size="xs"
            onClick={() => {
              test.reset()
              props.onChange()
            }}
          />
          <ActionButton
            label={isProduction ? 'Remove…' : 'Remove'}
            size="xs"
            loading={remove.isPending}
            onClick={() => remove.mutate()}
          />
        </Group>
      </Group>
      {/* Right under the button that asked for it, so that it is in view. */}
      {test.error !== null && <ErrorNotice error={test.error} onDismiss={test.reset} />}
      {test.data !== undefined && (
        <CheckNotice check={test.data} label={activeKey} hasOtherKeys={keys.length > 1} />
      )}
      <dl className={`facts ${styles.facts}`}>
        <dt>Address</dt>
        <dd>
          <SafeText text={connection.baseUrl} max={300} />
        </dd>
        {connection.taskBaseUrl !== undefined && (
          <>
            <dt>Second host for v2</dt>
            <dd>
              <SafeText text={connection.taskBaseUrl} max={300} />
            </dd>
          </>
        )}
        <dt>Timeout</dt>
        <dd>{dropZeros(formatMs(connection.timeoutMs))}</dd>
        {connection.deliveredCodes.length > 0 && (
          <>
            <dt>Counts as delivered</dt>
            <dd>
              <SafeText text={connection.deliveredCodes.join(', ')} max={300} />
            </dd>
          </>
        )}
        {connection.rewritesIds === true && (
          <>
            <dt>Ids of answers</dt>
            <dd>rewritten by the service, not compared</dd>
          </>
        )}
        <ConnectionFiles entry={entry} act={act} />
      </dl>
      <Table
        look="dense"
        className={styles.keys}
        caption={`API keys of ${name}`}
        rows={keys}
        toKey={({ label }) => label}
        columns={[
          {
            title: 'API key',
            width: '26%',
            cell: ({ label }) => (
              <>
                {label}{' '}
                {label === activeKey && (
                  <span className={`ml-2 rounded good text-xs medium ${styles.active}`}>active</span>
                )}
              </>
            ),
          },
          { title: 'From', width: '26%', cell: sayOrigin },
          { title: 'State', toCell: (key) => ({ 'data-set': isAtHand(key) }), cell: sayState },
          {
            title: 'Actions',
            isTitleHidden: true,
            width: '9rem',
            cell: (key) => (
              <KeyMenu
                keyEntry={key}
                isActive={key.label === activeKey}
                isOnly={keys.length === 1}
                onActivate={() => act(() => bridge.connections.use({ name, key: key.label }))}
                onType={() => setTyping({ key })}
                onRemove={() => act(() => removeKey(name, key, onEntries))}
              />
            ),
          },
        ]}
      />
      <div>
        <ActionButton
          label="Add an API key"
          variant="subtle"
          small
          onClick={() => setTyping({ key: 'new' })}
        />
      </div>
      {change.error !== null && <ErrorNotice error={change.error} onDismiss={change.reset} />}
      {use.error !== null && <ErrorNotice error={use.error} onDismiss={use.reset} />}
      {remove.error !== null && <ErrorNotice error={remove.error} onDismiss={remove.reset} />}
      {typing !== null && (
        <KeyDialog
          connection={name}
          known={typing.key === 'new' ? null : typing.key.label}
          labels={keys.map(({ label }) => label)}
          onEntries={(entries) => {
            setTyping(null)
            test.reset()
            onEntries(entries)
          }}
          onClose={() => setTyping(null)}
        />
      )}
    </section>
  )
}

async function removeKey(
  name: string,
  key: ConnectionKeyEntry,
  onEntries: (entries: ConnectionEntry[]) => void,
): Promise<ConnectionEntry[]> {
  const { label } = key
  const entries = await bridge.connections.removeKey({ name, label })
  showToast({
    key: `key-removed ${name} ${label}`,
    kind: 'good',
    title: (
      <>
        Removed the API key <SafeText text={label} max={120} /> of <SafeText text={name} max={120} />
      </>
    ),
    ...(key.place !== undefined &&
      isAtHand(key) && { text: 'Undo restores it within ten minutes; later you have to type it again.' }),
    undo: async () => onEntries(await bridge.connections.restoreKey({ name, label })),
  })
  return entries
}

const KEPT_IN = {
  keyring: 'keyring of this system',
  profile: 'your profile, encrypted',
  session: 'memory of Sluice',
} satisfies Record<KeyPlace, string>

function sayOrigin({ env, place, state }: ConnectionKeyEntry): string {
  if (place !== undefined) return KEPT_IN[place]
  if (env !== undefined) return `variable ${env}`
  return state === 'missing' ? '–' : 'typed here'
}

function sayState({ env, place, state }: ConnectionKeyEntry): string {
  if (state === 'asking') return 'waiting: the system may ask you to unlock it'
  if (state === 'locked') return 'cannot be read: unlock it, or type it again'
  if (state === 'ready') return place === 'session' ? 'ready until Sluice is stopped' : 'ready'
  // It was typed for another address or in another session, or is gone from its store.
  if (place !== undefined) return 'missing: type it again'
  return env === undefined ? 'not typed yet' : 'variable not set'
}

function KeyMenu(props: {
  keyEntry: ConnectionKeyEntry
  isActive: boolean
  isOnly: boolean
  onActivate: () => void
  onType: () => void
  onRemove: () => void
}) {
  const { keyEntry } = props
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      {isTypeable(keyEntry) && (
        <ActionButton
          label={isAtHand(keyEntry) ? 'Replace' : 'Type it'}
          variant="subtle"
          small
          onClick={props.onType}
        />
      )}
      {!(props.isActive && props.isOnly) && (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="subtle" size="compact-sm" aria-label={`More for key ${keyEntry.label}`}>
              <IconDots size="1rem" aria-hidden />
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {!props.isActive && <Menu.Item onClick={props.onActivate}>Make it the active key</Menu.Item>}
            {!props.isOnly && (
              <Menu.Item color="danger" onClick={props.onRemove}>
                Remove this key
              </Menu.Item>
            )}
          </Menu.Dropdown>
        </Menu>
      )}
    </Group>
  )
}

/** Takes a key for a connection: another text for a known label, or a new label with a key. */
function KeyDialog(props: {
  connection: string
  /** Label of the key being typed; null for a new key. */
  known: string | null
  labels: readonly string[]
  onEntries: (entries: ConnectionEntry[]) => void
  onClose: () => void
}) {
  const { connection, known, labels } = props
  const [label, setLabel] = useState(known ?? '')
  const [apiKey, setApiKey] = useState('')
  const storage = useQuery(ask.connections.readStorage.queryOptions())
  const { place, isTried, showFirst } = useTriedForm()
  const tidy = label.trim().normalize('NFC')
  const labelFault = known === null ? findLabelFault(tidy, labels) : null
  const isKeyMissing = apiKey.trim() === ''
  const save = useMutation({
    mutationFn: async () => {
      const entries = await bridge.connections.setKey({ name: connection, label: known ?? tidy, apiKey })
      props.onEntries(entries)
    },
  })
  return (
    <Modal
      opened
      onClose={props.onClose}
      title={known === null ? `Add an API key to ${connection}` : `API key ${known} of ${connection}`}
    >
      <Form
        ref={place}
        onSubmit={() => {
          if (labelFault === null && !isKeyMissing) save.mutate()
          else showFirst()
        }}
      >
        {known === null && (
          <TextField
            data-autofocus
            label="Label"
            description="A name for the key, such as new or 2027."
            value={label}
            onValue={setLabel}
            error={labelFault !== null && (isTried || label !== '') ? labelFault : undefined}
            isLiteral
          />
        )}
        <KeyInput
          value={apiKey}
          onValue={setApiKey}
          hasFocus={known !== null}
          description={sayKept(storage.data ?? null)}
          error={isTried && isKeyMissing ? 'Type the key.' : undefined}
        />
        <FormActions submit="Save" onCancel={props.onClose} sent={save} />
      </Form>
    </Modal>
  )
}

/** What is wrong with the label of a new key, as a sentence; null if it is valid. */
function findLabelFault(label: string, known: readonly string[]): string | null {
  if (known.includes(label)) return 'The connection has a key with this label.'
  const fault = findNameFault(label)
  return fault === null ? null : `The label ${fault}.`
}

/**
 * A connection's certificate authorities, client certificate and proxy. Files are chosen in a dialog of the
 * system; a browser has none, and shows the command to type instead.
 */
function ConnectionFiles(props: {
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
            in a terminal: <code>sluice connection set {quoteForShell(name)} --ca FILE</code>,{' '}
            <code>--no-system-ca</code>, <code>--client-cert</code>, <code>--client-key</code> and{' '}
            <code>--proxy-credentials-env</code>
          </dd>
        </>
      )}
    </>
  )
}

/** Which system proxy requests use, or why none. */
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
