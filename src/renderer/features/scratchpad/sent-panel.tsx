import { Modal } from '@mantine/core'
import { diffLines } from 'diff'
import { useState } from 'react'
import { formatMs } from '../../../shared/messages/figure-text.ts'
import { prettyJson } from '../../../shared/messages/pretty-json.ts'
import { OPERATIONS } from '../../../shared/operations/operations.ts'
import { maskJson, useContentShown } from '../../ui/content/user-content.tsx'
import { ActionButton, CheckField, RowButton } from '../../ui/controls.tsx'
import { formatTimestamp } from '../../ui/format-time.ts'
import { Panel } from '../../ui/layout/screen.tsx'
import { ScrollRegion } from '../../ui/layout/scroll-region.tsx'
import { StateLabel } from '../../ui/states/row-states.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './scratchpad.module.css'
import type { SentRequest } from './scratchpad.ts'

/** The last requests of this page: shown, sent again, or two of them compared. */
export function SentPanel(props: {
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
                checked={chosen.includes(exchange.id)}
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

/** Two exchanges line by line: what was sent, and what came back. */
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
      <Difference title="Answers" before={toAnswerText(earlier)} after={toAnswerText(later)} />
    </Modal>
  )
}

/** The body that decided: that of the callback where one came. */
function toAnswerText({ exchange, callback }: SentRequest): string {
  return (callback?.body ?? exchange.answer?.body)?.text ?? ''
}

const SIGNS = { added: '+', removed: '−', same: ' ' } as const
const WORDS = { added: 'added: ', removed: 'removed: ', same: '' } as const

function Difference({ title, before, after }: { title: string; before: string; after: string }) {
  const isShown = useContentShown()
  const toLines = (text: string) => `${prettyJson(isShown ? text : maskJson(text))}\n`
  const parts = diffLines(toLines(before), toLines(after))
  const isSame = parts.every(({ added, removed }) => !added && !removed)
  return (
    <section>
      <h3 className={styles.heading}>{title}</h3>
      {isSame ? (
        <p className={styles.note}>{isShown ? 'No difference' : 'No difference in what is shown'}</p>
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
