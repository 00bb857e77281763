import { Group, Loader } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ConnectionEntry } from '../../../shared/bridge/connections.ts'
import { formatBytes, formatMs } from '../../../shared/messages/figure-text.ts'
import { nameCode } from '../../../shared/messages/name-code.ts'
import { prettyJson } from '../../../shared/messages/pretty-json.ts'
import { sendsKey } from '../../../shared/operations/operations.ts'
import type { ScratchExchange, ScratchVerdict } from '../../../shared/service/scratchpad.ts'
import { toCurl } from '../../../shared/shell-command.ts'
import { ask } from '../../bridge/client.ts'
import { maskJson, useContentShown } from '../../ui/content/user-content.tsx'
import { CopyButton } from '../../ui/controls.tsx'
import { formatTimestamp } from '../../ui/format-time.ts'
import { Empty, ErrorNotice, Figures, Panel } from '../../ui/layout/screen.tsx'
import { ScrollRegion } from '../../ui/layout/scroll-region.tsx'
import { StateLabel } from '../../ui/states/row-states.tsx'
import { FactTable } from '../../ui/table/table.tsx'
import { LongText, MarkedText, SafeText } from '../../ui/text/safe-text.tsx'
import { findRuleMarks } from './request-text.ts'
import styles from './scratchpad.module.css'
import { type SentRequest, takeCallback } from './scratchpad.ts'

/** What came of a request: figures, headers, body, and its callback. */
export function AnswerPanels(props: {
  request: SentRequest | null
  connections: readonly ConnectionEntry[]
  isSending: boolean
}) {
  const { request } = props
  if (request === null) {
    return (
      <Empty icon={IconSend} title={props.isSending ? 'Waiting for the answer' : 'Nothing sent yet'}>
        Status, times, headers and body of the answer are shown here.
      </Empty>
    )
  }
  const { exchange } = request
  return (
    <>
      <Panel
        title={nameAnswer(request)}
        aside={<CopyButton label="Copy as curl" text={() => toCurlCommand(request, props.connections)} />}
      >
        {request.callback === null && <VerdictLine verdict={exchange.verdict} />}
        <Timings exchange={exchange} />
        <p className={`flex flex-wrap quiet breaks ${styles.line}`}>
          <span>{exchange.request.method}</span>
          <SafeText text={exchange.request.url} max={2_000} lines />
          <span>sent {formatTimestamp(exchange.sentAt)}</span>
        </p>
        {exchange.answer !== null && (
          <Body body={exchange.answer.body} verdict={exchange.verdict} label="Body of the answer" />
        )}
      </Panel>
      {exchange.awaitsCallback && <CallbackPanel request={request} />}
      {exchange.answer !== null && (
        <Headers title="Headers of the answer" headers={exchange.answer.headers} />
      )}
      <Headers title="Headers of the request" headers={exchange.request.headers} />
    </>
  )
}

/** What came back, in two words. */
export function nameAnswer({ exchange: { answer } }: SentRequest): string {
  return answer === null ? 'No answer' : `Answer ${answer.status}`
}

function toCurlCommand(
  { exchange, endpoint, destination }: SentRequest,
  connections: readonly ConnectionEntry[],
): string {
  const entry =
    destination.kind === 'stored' ? connections.find(({ name }) => name === destination.name) : undefined
  const env = entry?.keys.find(({ label }) => label === entry.activeKey)?.env
  const { headers } = entry?.connection ?? {}
  return toCurl({
    ...exchange.request,
    hasKey: sendsKey(endpoint),
    apiKeyEnv: env ?? 'SLUICE_API_KEY',
    headers,
  })
}

function VerdictLine({ verdict }: { verdict: ScratchVerdict }) {
  const { outcome, errorCode, message, rules, isAcknowledgement } = verdict
  return (
    <div className="row flex-wrap gap-2 mb-3">
      <StateLabel state={isAcknowledgement ? 'acknowledged' : outcome} attempts={1} />
      {errorCode !== null && <strong title={errorCode}>{nameCode(errorCode)}</strong>}
      {message !== null && <SafeText text={message} max={500} lines />}
      {rules.length > 0 && (
        <span>
          Triggered:{' '}
          {rules.map(({ ruleId, ruleName }) => (
            <span key={ruleId} className={`rounded ${styles.rule}`}>
              <SafeText text={ruleName} max={80} />
            </span>
          ))}
        </span>
      )}
    </div>
  )
}

function Timings({ exchange: { timings } }: { exchange: ScratchExchange }) {
  const { durationMs, waitingMs, connectMs, tlsMs } = timings
  return (
    <Figures
      figures={[
        { label: 'http_req_duration', value: formatMs(durationMs), note: 'first byte sent to last received' },
        {
          label: 'http_req_waiting',
          value: waitingMs === null ? '–' : formatMs(waitingMs),
          note: 'to the first byte of the answer',
        },
        { label: 'connect', value: connectMs === null ? '–' : formatMs(connectMs) },
        ...(tlsMs === null ? [] : [{ label: 'TLS', value: formatMs(tlsMs) }]),
      ]}
    />
  )
}

/** Longest text in which rules are marked, UTF-16 code units. */
const MARKED_MAX = 20_000

/** A body on lines of its own, its user content masked, the triggered rules marked. */
function Body(props: {
  body: NonNullable<ScratchExchange['answer']>['body']
  verdict: ScratchVerdict | null
  label: string
}) {
  const { body, verdict, label } = props
  const isShown = useContentShown()
  if (body.text === '') return <p className={`quiet ${styles.note}`}>no body</p>
  const text = prettyJson(isShown ? body.text : maskJson(body.text))
  const marks = text.length > MARKED_MAX ? [] : findRuleMarks(text, verdict?.rules ?? [])
  return (
    <div className="mt-3">
      {body.cutFromBytes !== null && (
        <p className={`quiet ${styles.note}`}>
          Only the beginning of {formatBytes(body.cutFromBytes)} is shown.
        </p>
      )}
      {marks.length === 0 ? (
        <LongText text={text} label={label} />
      ) : (
        <ScrollRegion className={`rounded bg-sunken mono text-sm ${styles.block}`} label={label}>
          <MarkedText text={text} marks={marks} />
        </ScrollRegion>
      )}
    </div>
  )
}

/** How often a callback is looked for, milliseconds. */
const LOOK_EVERY_MS = 500

/** Waits for the callback and shows it when it has come. */
function CallbackPanel({ request }: { request: SentRequest }) {
  const { exchange, callback } = request
  const waiting = useQuery({
    queryKey: ask.scratchpad.takeCallback.queryKey({ input: { id: exchange.id } }),
    queryFn: () => takeCallback(exchange.id),
    enabled: callback === null,
    refetchInterval: LOOK_EVERY_MS,
  })
  if (callback === null) {
    return (
      <Panel title="Callback">
        {waiting.error !== null && <ErrorNotice error={waiting.error} onRetry={waiting.refetch} />}
        <Group component="p" gap="xs" wrap="nowrap">
          <Loader size="xs" aria-hidden /> Waiting for the callback. It is shown here when it comes.
        </Group>
      </Panel>
    )
  }
  return (
    <Panel title="Callback">
      {callback.verdict === null ? (
        <p className={`quiet ${styles.note}`}>It cannot be read as a result.</p>
      ) : (
        <VerdictLine verdict={callback.verdict} />
      )}
      <Figures
        figures={[
          {
            label: 'callback_latency',
            value: formatMs(callback.latencyMs),
            note: `request sent to callback received, ${formatTimestamp(callback.receivedAt)}`,
          },
        ]}
      />
      <Body body={callback.body} verdict={callback.verdict} label="Body of the callback" />
    </Panel>
  )
}

function Headers({ title, headers }: { title: string; headers: ScratchExchange['request']['headers'] }) {
  return (
    <Panel title={title} flush>
      <FactTable
        look="dense"
        className={styles.table}
        caption={title}
        facts={headers.map(([name, value]) => [
          <SafeText key="name" text={name} max={120} />,
          <SafeText key="value" text={value} max={1_000} lines />,
        ])}
      />
    </Panel>
  )
}
