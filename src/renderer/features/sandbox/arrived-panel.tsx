import { IconInbox } from '@tabler/icons-react'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { SandboxArrived } from '../../../shared/bridge/sandbox.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { prettyJson } from '../../../shared/messages/pretty-json.ts'
import type { Arrival } from '../../../shared/sandbox/arrivals.ts'
import { ask, bridge, queryClient } from '../../bridge/client.ts'
import { maskJson, useContentShown } from '../../ui/content/user-content.tsx'
import { ActionButton, RowButton, SwitchField } from '../../ui/controls.tsx'
import { formatTimestamp } from '../../ui/format-time.ts'
import { Empty, ErrorNotice, Panel } from '../../ui/layout/screen.tsx'
import { Pager } from '../../ui/pager.tsx'
import { Table } from '../../ui/table/table.tsx'
import { LongText, SafeText } from '../../ui/text/safe-text.tsx'
import styles from './sandbox.module.css'

const PAGE_ARRIVALS = 50

/** How often the newest requests are asked for, milliseconds. */
const EVERY_MS = 1_000

/** Which requests are shown; null for all. */
interface Chosen {
  endpoint: string | null
  outcome: string | null
}

const ALL: Chosen = { endpoint: null, outcome: null }

/** What arrived at the sandbox: counts by route and outcome, and the requests themselves, the newest first. */
export function ArrivedPanel() {
  const [chosen, setChosen] = useState(ALL)
  const [offset, setOffset] = useState(0)
  const [isLive, setLive] = useState(true)
  const arrived = useQuery({
    ...ask.sandbox.arrived.queryOptions({ input: { ...chosen, offset, limit: PAGE_ARRIVALS } }),
    placeholderData: keepPreviousData,
    refetchInterval: isLive ? EVERY_MS : false,
  })
  const act = useMutation({
    mutationFn: (work: () => Promise<unknown>) => work(),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ask.sandbox.arrived.key() }),
  })
  const choose = (now: Chosen) => {
    setChosen(now)
    setOffset(0)
  }
  const { counts = [], arrivals = [], total = 0, callbacks } = arrived.data ?? {}
  return (
    <>
      {arrived.error !== null && <ErrorNotice error={arrived.error} onRetry={arrived.refetch} />}
      {act.error !== null && <ErrorNotice error={act.error} onDismiss={act.reset} />}
      {arrived.data !== undefined && counts.length === 0 && (
        <Empty icon={IconInbox} title="Nothing has arrived yet">
          Start a run with the sandbox as its destination, or send one request from the Scratchpad. Every
          request shows up here, refused ones included.
        </Empty>
      )}
      {counts.length > 0 && (
        <Panel
          title="By route and outcome"
          aside={
            <ActionButton
              label="Forget what arrived"
              variant="subtle"
              small
              onClick={() => act.mutate(() => bridge.sandbox.forgetArrived())}
            />
          }
          flush
        >
          <Counts counts={counts} chosen={chosen} onChoose={choose} />
          {callbacks !== undefined && (
            <Callbacks
              callbacks={callbacks}
              onSend={() => act.mutate(() => bridge.sandbox.sendCallbacks())}
            />
          )}
        </Panel>
      )}
      {counts.length > 0 && (
        <Panel
          title={sayTotal(total, chosen)}
          aside={<SwitchField label="Live" size="xs" checked={isLive} onValue={setLive} />}
          flush
        >
          <ArrivalTable arrivals={arrivals} />
          <Pager offset={offset} limit={PAGE_ARRIVALS} total={total} noun="request" onOffset={setOffset} />
        </Panel>
      )}
    </>
  )
}

function sayTotal(total: number, { endpoint, outcome }: Chosen): string {
  const of = [endpoint, outcome].filter((part) => part !== null)
  return `${formatCounted(total, 'request')}${of.length === 0 ? '' : `: ${of.join(', ')}`}, newest first`
}

function Counts(props: {
  counts: SandboxArrived['counts']
  chosen: Chosen
  onChoose: (chosen: Chosen) => void
}) {
  const { chosen, onChoose } = props
  return (
    <Table
      className={styles.table}
      caption="Requests by route and outcome; choose one to see its requests"
      rows={props.counts}
      toKey={({ endpoint, outcome }) => `${endpoint} ${outcome}`}
      columns={[
        {
          title: 'Route',
          cell: ({ endpoint, outcome }) => {
            const isChosen = chosen.endpoint === endpoint && chosen.outcome === outcome
            return (
              <button
                type="button"
                className={`link ${styles.choice}`}
                aria-pressed={isChosen}
                onClick={() => onChoose(isChosen ? ALL : { endpoint, outcome })}
              >
                {endpoint}
              </button>
            )
          },
        },
        { title: 'Outcome', cell: ({ outcome }) => <OutcomeWord outcome={outcome} /> },
        { title: 'Requests', isNumber: true, cell: ({ requests }) => formatCount(requests) },
      ]}
    />
  )
}

/** `rejected:DUPLICATE_POST_ID` and `fault:5xx` in words. */
function OutcomeWord({ outcome }: { outcome: string }) {
  const [kind = '', ...rest] = outcome.split(':')
  const of = rest.join(':')
  return (
    <span data-outcome={kind} className={styles.outcome}>
      <SafeText text={of === '' ? kind : `${kind}, ${of}`} max={80} />
    </span>
  )
}

function Callbacks(props: { callbacks: SandboxArrived['callbacks']; onSend: () => void }) {
  const { pending, delivered, failed, dropped } = props.callbacks
  if (pending + delivered + failed + dropped === 0) return null
  return (
    <p className="p-3-4">
      Callbacks: {formatCount(delivered)} delivered, {formatCount(pending)} pending, {formatCount(failed)}{' '}
      given up, {formatCount(dropped)} dropped.{' '}
      {pending > 0 && <ActionButton label="Send the pending ones now" small onClick={props.onSend} />}
    </p>
  )
}

/** The requests; a body is shown when it is asked for, its user content masked as everywhere. */
function ArrivalTable({ arrivals }: { arrivals: readonly Arrival[] }) {
  const isShown = useContentShown()
  const [opened, setOpened] = useState<number | null>(null)
  return (
    <Table
      className={styles.table}
      caption="Requests that arrived"
      rows={arrivals}
      toKey={({ number }) => number}
      below={({ number, body }) =>
        opened === number && body !== null ? (
          <LongText text={prettyJson(isShown ? body : maskJson(body))} label={`Body of request ${number}`} />
        ) : null
      }
      columns={[
        { title: 'No.', isNumber: true, isRowHead: false, cell: ({ number }) => formatCount(number) },
        { title: 'Arrived', cell: (arrival) => formatTimestamp(arrival.arrived_on) },
        { title: 'Route', cell: ({ endpoint }) => endpoint },
        {
          title: 'About',
          cell: ({ subject }) => (subject === '' ? '–' : <SafeText text={subject} max={80} />),
        },
        { title: 'Outcome', cell: ({ outcome }) => <OutcomeWord outcome={outcome} /> },
        {
          title: 'Actions',
          isActions: true,
          cell: ({ number, body }) =>
            body !== null && (
              <RowButton
                label="Body"
                name={`Body of request ${number}`}
                isExpanded={opened === number}
                onPress={() => setOpened(opened === number ? null : number)}
              />
            ),
        },
      ]}
    />
  )
}
