import { Group, Modal, Stack } from '@mantine/core'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ConnectionEntry, ConnectionSettings, ProxyChoice } from '../../../shared/bridge/connections.ts'
import { DEFAULT_KEY_LABEL, findNameFault } from '../../../shared/plan/stored-connection.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { isAtHand, parseBaseUrl, parseServiceUrl } from '../../ui/connection/destination.ts'
import { AddressInput } from '../../ui/connection/destination-panel.tsx'
import { KeyInput, sayKept } from '../../ui/connection/key-input.tsx'
import {
  ActionButton,
  bindFields,
  NumberField,
  SelectField,
  SwitchField,
  TextField,
} from '../../ui/controls.tsx'
import { useTriedForm } from '../../ui/form.tsx'
import { ErrorNotice } from '../../ui/layout/screen.tsx'
import { CheckNotice } from './check-notice.tsx'
import styles from './connections.module.css'

/** Typed texts, including those not valid yet. */
interface Form {
  name: string
  baseUrl: string
  taskBaseUrl: string
  timeoutSeconds: number | null
  /** Separated by commas or spaces. */
  deliveredCodes: string
  proxy: ProxyChoice['kind']
  /** Address of the proxy, if the person names one. */
  proxyUrl: string
  rewritesIds: boolean
  isProduction: boolean
  apiKey: string
}

/** A form for a new connection, or for changing a known one. */
export function ConnectionDialog(props: {
  /** Null for a new one. */
  entry: ConnectionEntry | null
  onEntries: (entries: ConnectionEntry[]) => void
  onClose: () => void
}) {
  const { entry } = props
  const [form, setForm] = useState(() => toForm(entry))
  const [showsMore, setShowsMore] = useState(entry !== null)
  const { place, isTried, showFirst } = useTriedForm()
  const storage = useQuery(ask.connections.readStorage.queryOptions())
  const settings = toSettings(form)
  const name = tidyName(form.name)
  const nameFault = entry === null ? findNameFault(name) : null
  const apiKey = form.apiKey.trim()
  const save = useMutation({
    mutationFn: async (ready: ConnectionSettings) => {
      const { add, change: changeStored } = bridge.connections
      props.onEntries(
        entry === null
          ? await add({
              name,
              settings: ready,
              label: DEFAULT_KEY_LABEL,
              ...(apiKey !== '' && { apiKey }),
            })
          : await changeStored({ name: entry.name, settings: ready }),
      )
    },
  })
  const test = useMutation({
    mutationFn: (ready: ConnectionSettings) =>
      bridge.connections.testSettings({
        name: entry?.name ?? null,
        settings: ready,
        ...(apiKey !== '' && { apiKey }),
      }),
  })
  const change = (part: Partial<Form>) => {
    setForm((known) => ({ ...known, ...part }))
    test.reset()
    save.reset()
  }
  const go = (act: (ready: ConnectionSettings) => void, needsName: boolean) => {
    if (settings !== null && !(needsName && nameFault !== null)) return act(settings)
    if (hasFaultBelow(form)) setShowsMore(true)
    showFirst()
  }
  // A key from a variable is not bound to an address.
  const isKeyTyped = entry?.keys.some((key) => key.place !== undefined && isAtHand(key)) ?? false
  const isRerouted =
    isKeyTyped &&
    settings?.proxy !== undefined &&
    (settings.proxy.kind === 'named' ? settings.proxy.url : undefined) !== entry?.connection.proxy?.url
  const isMoved = isKeyTyped && settings !== null && settings.baseUrl !== entry?.connection.baseUrl
  const field = bindFields(form, change)
  return (
    <Modal opened onClose={props.onClose} title={entry === null ? 'Add a connection' : `Edit ${entry.name}`}>
      <form
        noValidate
        className={`stack ${styles.form}`}
        ref={place}
        onSubmit={(event) => {
          event.preventDefault()
          go(save.mutate, true)
        }}
      >
        <Stack gap="md" className={styles.fields ?? ''}>
          {entry === null && (
            <TextField
              data-autofocus
              label="Name"
              description="What you call this service, such as Staging EU."
              {...field('name')}
              error={
                nameFault !== null && (isTried || form.name !== '') ? `The name ${nameFault}.` : undefined
              }
              isLiteral
            />
          )}
          <AddressInput
            label="Base URL"
            placeholder="https://api.example.com"
            isChecked={isTried}
            {...field('baseUrl')}
          />
          {isMoved && <p>A key belongs to one address: type it again after you save.</p>}
          {entry === null && (
            <KeyInput
              label="API key (optional)"
              description={sayKept(storage.data ?? null)}
              {...field('apiKey')}
            />
          )}
          <SwitchField
            label="This is production"
            description="Sluice asks you to confirm before anything is sent there."
            {...field('isProduction')}
          />
          {entry?.isProduction && !form.isProduction && (
            <p>Before the mark goes, Sluice asks you to confirm it outside of this page.</p>
          )}
          <ActionButton
            label="More settings"
            variant="subtle"
            small
            className="self-start"
            aria-expanded={showsMore}
            leftSection={
              showsMore ? (
                <IconChevronDown size="1rem" aria-hidden />
              ) : (
                <IconChevronRight size="1rem" aria-hidden />
              )
            }
            onClick={() => setShowsMore(!showsMore)}
          />
          {showsMore && (
            <MoreFields form={form} isChecked={isTried} isRerouted={isRerouted} onChange={change} />
          )}
        </Stack>
        <div className="stack gap-3 border-t flex-none pt-3">
          {save.error !== null && <ErrorNotice error={save.error} />}
          {test.error !== null && <ErrorNotice error={test.error} onDismiss={test.reset} />}
          {test.data !== undefined && (
            <CheckNotice
              check={test.data}
              label={entry?.activeKey ?? null}
              hasOtherKeys={false}
              unchecked={
                isMoved || isRerouted
                  ? 'The stored key belongs to the address and proxy as they were, so it was not sent.'
                  : 'No key yet.'
              }
            />
          )}
          <Group justify="space-between" gap="xs">
            <ActionButton label="Test" loading={test.isPending} onClick={() => go(test.mutate, false)} />
            <Group gap="xs">
              <ActionButton label="Cancel" onClick={props.onClose} />
              <ActionButton label="Save" variant="filled" type="submit" loading={save.isPending} />
            </Group>
          </Group>
        </div>
      </form>
    </Modal>
  )
}

/** Settings that few connections need. */
function MoreFields(props: {
  form: Form
  isChecked: boolean
  /** Whether a typed key no longer belongs to the proxy. */
  isRerouted: boolean
  onChange: (part: Partial<Form>) => void
}) {
  const { form, isChecked, onChange } = props
  const field = bindFields(form, onChange)
  return (
    <>
      <AddressInput
        label="Second host for v2 (optional)"
        placeholder="the same"
        isOptional
        isChecked={isChecked}
        {...field('taskBaseUrl')}
      />
      <NumberField
        label="Timeout (s)"
        description="How long an answer is awaited."
        min={1}
        max={3_600}
        placeholder="60"
        {...field('timeoutSeconds')}
      />
      <TextField
        label="Delivered codes (optional)"
        description="Error codes that mean that the service already has the post. Such a row counts as succeeded."
        placeholder="DUPLICATE_POST_ID"
        {...field('deliveredCodes')}
        isLiteral
      />
      <SwitchField
        label="The service answers with other ids than were sent"
        description="Ids of its answers are then not compared with what was sent."
        {...field('rewritesIds')}
      />
      <SelectField
        label="Proxy"
        description={PROXY_WORDS[form.proxy]}
        data={PROXY_CHOICES}
        {...field('proxy')}
      />
      {form.proxy === 'named' && (
        <AddressInput
          label="Address of the proxy"
          of="proxy"
          placeholder="http://proxy.example.com:3128"
          isChecked={isChecked}
          {...field('proxyUrl')}
        />
      )}
      {props.isRerouted && <p>A key belongs to one proxy: type it again after you save.</p>}
    </>
  )
}

const PROXY_CHOICES = [
  { value: 'system', label: "The system's" },
  { value: 'none', label: 'None' },
  { value: 'named', label: 'Custom' },
] as const satisfies { value: ProxyChoice['kind']; label: string }[]

const PROXY_WORDS = {
  system: "HTTPS requests use the system's proxy, if there is one.",
  none: 'Requests go directly to the service.',
  named: 'Requests go through this proxy. With an http address, it can read the key.',
} satisfies Record<ProxyChoice['kind'], string>

function toForm(entry: ConnectionEntry | null): Form {
  if (entry === null) {
    return {
      name: '',
      baseUrl: '',
      taskBaseUrl: '',
      timeoutSeconds: null,
      deliveredCodes: '',
      proxy: 'system',
      proxyUrl: '',
      rewritesIds: false,
      isProduction: false,
      apiKey: '',
    }
  }
  const { baseUrl, taskBaseUrl = '', timeoutMs, deliveredCodes, proxy, systemProxy = true } = entry.connection
  const { rewritesIds = false } = entry.connection
  return {
    name: entry.name,
    baseUrl,
    taskBaseUrl,
    timeoutSeconds: timeoutMs / 1000,
    deliveredCodes: deliveredCodes.join(', '),
    proxy: proxy !== undefined ? 'named' : systemProxy ? 'system' : 'none',
    proxyUrl: proxy?.url ?? '',
    rewritesIds,
    isProduction: entry.isProduction,
    apiKey: '',
  }
}

/** The settings to store; null while the form is not valid. */
function toSettings({ deliveredCodes, proxy: choice, ...form }: Form): ConnectionSettings | null {
  const { baseUrl, taskBaseUrl, timeoutSeconds, rewritesIds, isProduction } = form
  const address = parseServiceUrl(baseUrl)
  const second = taskBaseUrl.trim() === '' ? null : parseServiceUrl(taskBaseUrl)
  if (address.kind === 'bad' || second?.kind === 'bad') return null
  const proxy = choice === 'named' ? parseBaseUrl(form.proxyUrl) : null
  if (proxy?.kind === 'bad') return null
  return {
    baseUrl: address.url,
    taskBaseUrl: second?.url ?? null,
    timeoutMs: timeoutSeconds === null ? null : Math.round(timeoutSeconds * 1000),
    deliveredCodes: deliveredCodes.split(/[\s,]+/).filter((code) => code !== ''),
    proxy:
      proxy === null ? { kind: choice === 'none' ? 'none' : 'system' } : { kind: 'named', url: proxy.url },
    rewritesIds,
    isProduction,
  }
}

/** Whether one of the rarely needed settings is wrong. */
function hasFaultBelow({ taskBaseUrl, proxy, proxyUrl }: Form): boolean {
  const isBad = (text: string) => parseBaseUrl(text).kind === 'bad'
  return (taskBaseUrl.trim() !== '' && isBad(taskBaseUrl)) || (proxy === 'named' && isBad(proxyUrl))
}

/** The name without surrounding spaces, and with single spaces inside. */
function tidyName(text: string): string {
  return text.trim().replaceAll(/\s+/gu, ' ').normalize('NFC')
}
