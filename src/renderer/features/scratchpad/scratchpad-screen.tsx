import { Group, Loader, Modal, Stack } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import { useIsMutating, useMutation, useQuery } from '@tanstack/react-query'
import { diffLines } from 'diff'
import { useEffect, useRef, useState } from 'react'
import type { ConnectionEntry } from '../../../shared/bridge/connections.ts'
import type { ScratchDestination } from '../../../shared/bridge/scratchpad.ts'
import { formatBytes, formatMs } from '../../../shared/messages/figure-text.ts'
import { nameCode } from '../../../shared/messages/name-code.ts'
import { prettyJson } from '../../../shared/messages/pretty-json.ts'
import { hasModes, OPERATIONS, sendsKey } from '../../../shared/operations/operations.ts'
import {
  SCRATCH_TEXT_MAX,
  type ScratchExchange,
  type ScratchVerdict,
} from '../../../shared/service/scratchpad.ts'
import { toCurl } from '../../../shared/shell-command.ts'
import { ask, bridge } from '../../bridge/client.ts'
import {
  ContentSwitch,
  maskJson,
  nameCopy,
  removeQuotes,
  useContentShown,
} from '../../ui/content/user-content.tsx'
import {
  ActionButton,
  CheckField,
  CopyButton,
  PrimaryButton,
  RowButton,
  ScrollRegion,
} from '../../ui/controls.tsx'
import { formatTimestamp } from '../../ui/format-time.ts'
import { Columns, Empty, ErrorNotice, Figures, Panel, Screen } from '../../ui/layout/screen.tsx'
import { StateLabel } from '../../ui/states/row-states.tsx'
import { FactTable, Table } from '../../ui/table/table.tsx'
import { LongText, MarkedText, SafeText } from '../../ui/text/safe-text.tsx'
import { RequestEditor, sayTooLong } from './request-editor.tsx'
import styles from './scratchpad.module.css'
import { findRuleMarks, keepSent, type SentRequest, takeCallback, useScratchpad } from './scratchpad.ts'

const SEND = ['scratchpad', 'send']

/** A single request by hand, with its whole answer. */
export function ScratchpadScreen(props: { connections: readonly ConnectionEntry[] }) {
  const { connections } = props
  const { endpoint, text, destination, callbackUrl, isOwn, sent, failure, set } = useScratchpad()
  // Revealed content is hidden again at the next visit.
  useEffect(() => () => set({ isRevealed: false }), [set])
  const [shownId, setShownId] = useState<string | null>(null)
  const send = useMutation({
    mutationKey: SEND,
    onMutate: () => set({ failure: null }),
    onError: (error) => set({ failure: error }),
    mutationFn: async () => {
      if (destination === null) return
      const address = callbackUrl.trim().replace(/\/+$/, '')
      const isAsync = hasModes(endpoint) && endpoint.mode === 'async'
      const exchange = await bridge.scratchpad.send({
        destination,
        endpoint,
        text,
        ...(isAsync && address !== '' && { callbackUrl: address }),
      })
      keepSent({ exchange, endpoint, destination, text, callbackUrl, isOwn, callback: null })
      setShownId(exchange.id)
    },
  })
  // Also by an earlier visit, which may not have its answer yet.
  const isSending = useIsMutating({ mutationKey: SEND }) > 0
  const answer = useRef<HTMLParagraphElement>(null)
  // In a narrow window, the answer below the request would appear out of sight.
  useEffect(() => {
    if (shownId !== null) answer.current?.scrollIntoView({ block: 'nearest' })
  }, [shownId])
  const shown = sent.find(({ exchange }) => exchange.id === shownId) ?? sent[0] ?? null
  const again = ({ exchange: _exchange, callback: _callback, ...request }: SentRequest) =>
    set({ ...request, isRevealed: false })
  return (
    <Screen
      title="Scratchpad"
      subtitle="Sends one request by hand, once. It is not part of any run or file."
      actions={
        <>
          <ContentSwitch />
          <PrimaryButton
            onPress={send.mutate}
            busy={isSending}
            blocked={sayGap(text, destination)}
            icon={<IconSend size="1rem" />}
          >
            Send
          </PrimaryButton>
        </>
      }
    >
      {failure !== null && <ErrorNotice error={failure} onDismiss={() => set({ failure: null })} />}
      <Columns least="26rem" areApart>
        <RequestEditor connections={connections} />
        <Stack gap="md" miw={0}>
          <p ref={answer} className={`visually-hidden ${styles.answerTop}`} role="status">
            {shown !== null && nameAnswer(shown)}
          </p>
          <AnswerPanels request={shown} connections={connections} isSending={isSending} />
        </Stack>
      </Columns>
      {sent.length > 0 && (
        <SentPanel
          sent={sent}
          shownId={shown?.exchange.id ?? null}
          onShow={(request) => setShownId(request.exchange.id)}
          onAgain={again}
        />
      )}
    </Screen>
  )
}

/** Why a request cannot be sent; undefined if it can. */
function sayGap(text: string, destination: ScratchDestination | null): string | undefined {
  if (destination === null) return 'Choose where to send it'
  return text.length > SCRATCH_TEXT_MAX ? sayTooLong(text) : undefined
}

/** The last requests of this page: to show, to send again, or to compare two of them. */
function SentPanel(props: {
  sent: readonly SentRequest[]
  shownId: string | null
  onShow: (request: SentRequest) => void
  onAgain: (request: SentRequest) => void
}) {
  const { sent, shownId } = props
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [isComparing, setComparing] = useState(false)
  const pair = sent.filter(({ exchange }) => chosen.includes(exchange.id))
  const [later, earlier] = pair
  return (
    <Panel
      title="Sent from this page"
      aside={
        <>
          {pair.length !== 2 && 'Choose two to compare them'}
          <ActionButton
            label="Compare two"
            small
            disabled={pair.length !== 2}
            onClick={() => setComparing(true)}
          />
        </>
      }
      flush
    >
      <Table
        look="dense"
        className={styles.table}
        caption="The last 20 requests; they are forgotten on reload"
        rows={sent}
        toKey={({ exchange }) => exchange.id}
        toRow={({ exchange }) => ({ 'aria-current': exchange.id === shownId ? 'true' : undefined })}
        columns={[
          {
            title: 'Compare',
            isTitleHidden: true,
            isRowHead: false,
            width: '2rem',
            cell: ({ exchange }) => (
              <CheckField
                aria-label={`Compare the request of ${formatTimestamp(exchange.sentAt)}`}
                value={chosen.includes(exchange.id)}
                onValue={(next) =>
                  setChosen(
                    next ? [...chosen, exchange.id].slice(-2) : chosen.filter((id) => id !== exchange.id),
                  )
                }
              />
            ),
          },
          { title: 'Sent', cell: ({ exchange }) => formatTimestamp(exchange.sentAt) },
          { title: 'Operation', cell: ({ endpoint }) => OPERATIONS[endpoint.kind].words.title },
          {
            title: 'Destination',
            cell: ({ destination }) => (
              <SafeText text={destination.kind === 'sandbox' ? 'the sandbox' : destination.name} max={80} />
            ),
          },
          {
            title: 'Answer',
            cell: ({ exchange, callback }) => {
              const { outcome, isAcknowledgement } = callback?.verdict ?? exchange.verdict
              return (
                <span className="row flex-wrap gap-2">
                  {exchange.answer?.status ?? 'none'}
                  <StateLabel state={isAcknowledgement ? 'acknowledged' : outcome} attempts={1} />
                </span>
              )
            },
          },
          {
            title: 'Duration',
            isNumber: true,
            cell: ({ exchange }) => formatMs(exchange.timings.durationMs),
          },
          {
            title: 'Actions',
            isActions: true,
            cell: (request) => {
              const at = formatTimestamp(request.exchange.sentAt)
              return (
                <>
                  <RowButton
                    label="Show"
                    name={`Show the request of ${at}`}
                    onPress={() => props.onShow(request)}
                  />
                  <RowButton
                    label="Edit again"
                    name={`Edit again the request of ${at}`}
                    onPress={() => props.onAgain(request)}
                  />
                </>
              )
            },
          },
        ]}
      />
      {isComparing && later !== undefined && earlier !== undefined && (
        <DiffDialog earlier={earlier} later={later} onClose={() => setComparing(false)} />
      )}
    </Panel>
  )
}

function DiffDialog(props: { earlier: SentRequest; later: SentRequest; onClose: () => void }) {
  const { earlier, later } = props
  return (
    <Modal
      opened
      size="xl"
      onClose={props.onClose}
      title={`${formatTimestamp(earlier.exchange.sentAt)} → ${formatTimestamp(later.exchange.sentAt)}`}
    >
      <Difference title="Requests" before={earlier.text} after={later.text} />
      <Difference
        title="Answers"
        before={toAnswerText(earlier)}
        after={toAnswerText(later)}
        sent={{ before: earlier.text, after: later.text }}
      />
    </Modal>
  )
}

/** The deciding body: the callback's, if there is one. */
function toAnswerText({ exchange, callback }: SentRequest): string {
  return (callback?.body ?? exchange.answer?.body)?.text ?? ''
}

const SIGNS = { added: '+', removed: '−', same: ' ' } as const
const WORDS = { added: 'added: ', removed: 'removed: ', same: '' } as const

function Difference(props: {
  title: string
  before: string
  after: string
  /** The requests that the answers may quote. */
  sent?: { before: string; after: string }
}) {
  const { title, before, after, sent } = props
  const isShown = useContentShown()
  const toLines = (text: string, request?: string) =>
    `${prettyJson(isShown ? text : maskJson(text, request))}\n`
  const parts = diffLines(toLines(before, sent?.before), toLines(after, sent?.after))
  const isSame = parts.every(({ added, removed }) => !added && !removed)
  return (
    <section>
      <h3 className={`bold ${styles.heading}`}>{title}</h3>
      {isSame ? (
        <p className={`quiet ${styles.note}`}>
          {isShown ? 'No difference' : 'No difference in what is shown'}
        </p>
      ) : (
        <ScrollRegion
          className={`rounded bg-sunken mono text-sm ${styles.block}`}
          label={`${title}, compared`}
        >
          {parts.flatMap(({ value, added, removed }, part) => {
            const kind = added ? 'added' : removed ? 'removed' : 'same'
            return value
              .replace(/\n$/, '')
              .split('\n')
              .map((line, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a line is known by its place alone
                <div key={`${part} ${index}`} data-change={kind} className={`flex ${styles.change}`}>
                  <span aria-hidden>{SIGNS[kind]} </span>
                  <span className="visually-hidden">{WORDS[kind]}</span>
                  <SafeText text={line} max={2_000} lines />
                </div>
              ))
          })}
        </ScrollRegion>
      )}
    </section>
  )
}

/** The outcome of a request: figures, headers, body, and its callback. */
function AnswerPanels(props: {
  request: SentRequest | null
  connections: readonly ConnectionEntry[]
  isSending: boolean
}) {
  const { request } = props
  const isShown = useContentShown()
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
        aside={
          <CopyButton
            label={nameCopy('Copy as curl', exchange.request.body, isShown || request.isOwn)}
            text={() => toCurlCommand(request, props.connections)}
          />
        }
      >
        {request.callback === null && <VerdictLine verdict={exchange.verdict} sent={request.text} />}
        <Timings exchange={exchange} />
        <p className={`flex flex-wrap quiet breaks ${styles.line}`}>
          <span>{exchange.request.method}</span>
          <SafeText text={exchange.request.url} max={2_000} lines />
          <span>sent {formatTimestamp(exchange.sentAt)}</span>
        </p>
        {exchange.answer !== null && (
          <Body
            body={exchange.answer.body}
            sent={request.text}
            verdict={exchange.verdict}
            label="Body of the answer"
          />
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

/** The answer, in two words. */
function nameAnswer({ exchange: { answer } }: SentRequest): string {
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

/** `sent`: the request's body, which messages may quote. */
function VerdictLine({ verdict, sent }: { verdict: ScratchVerdict; sent: string }) {
  const isShown = useContentShown()
  const { outcome, errorCode, message, rules, isAcknowledgement } = verdict
  return (
    <div className="row flex-wrap gap-2 mb-3">
      <StateLabel state={isAcknowledgement ? 'acknowledged' : outcome} attempts={1} />
      {errorCode !== null && <strong title={errorCode}>{nameCode(errorCode)}</strong>}
      {message !== null && (
        <SafeText text={isShown ? message : removeQuotes(message, sent)} max={500} lines />
      )}
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
        tlsMs !== null && { label: 'TLS', value: formatMs(tlsMs) },
      ]}
    />
  )
}

/** Longest text in which rules are marked, UTF-16 code units. */
const MARKED_MAX = 20_000

/** A body with line breaks, user content masked, triggered rules marked. */
function Body(props: {
  body: NonNullable<ScratchExchange['answer']>['body']
  /** The request's body, which it may quote. */
  sent: string
  verdict: ScratchVerdict | null
  label: string
}) {
  const { body, verdict, label } = props
  const isShown = useContentShown()
  if (body.text === '') return <p className={`quiet ${styles.note}`}>no body</p>
  const text = prettyJson(isShown ? body.text : maskJson(body.text, props.sent))
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

const LOOK_EVERY_MS = 500

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
        <VerdictLine verdict={callback.verdict} sent={request.text} />
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
      <Body
        body={callback.body}
        sent={request.text}
        verdict={callback.verdict}
        label="Body of the callback"
      />
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
