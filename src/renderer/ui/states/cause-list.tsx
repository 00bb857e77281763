import { Group } from '@mantine/core'
import { formatCount } from '../../../shared/messages/figure-text.ts'
import type { RowState } from '../../../shared/run/item-state.ts'
import { type AskedRequest, ServiceMessage } from '../content/service-message.tsx'
import { useFirst } from '../controls.tsx'
import { SafeText, Sentence } from '../text/safe-text.tsx'
import { StateLabel } from './row-states.tsx'
import styles from './states.module.css'

const FIRST_CAUSES = 10

/** Causes of unsuccessful rows or requests: the outcome, a name, the number, the message, and a note. */
export function CauseList(props: {
  causes: readonly {
    key: string
    outcome: RowState
    name: string
    onPick?: (() => void) | undefined
    count: number
    message: string
    /** Follows the message, for example how many others there are. */
    more?: string
    /** The request that the message may quote; null if it quotes nothing. */
    request: AskedRequest | null
    note: string
  }[]
  /** Shown if there are no causes. */
  empty: string
}) {
  const [shown, more] = useFirst(props.causes, FIRST_CAUSES)
  if (props.causes.length === 0) return <p className="p-4 quiet">{props.empty}</p>
  return (
    <>
      <ul>
        {shown.map(({ key, outcome, name, onPick, count, message, more: others, request, note }) => (
          <li key={key} className={`p-2-4 ${styles.cause}`}>
            <Group gap="sm" wrap="nowrap">
              <StateLabel state={outcome} />
              <strong className="bold">
                {onPick === undefined ? (
                  <SafeText text={name} max={80} />
                ) : (
                  <button type="button" className={`bare ${styles.pick}`} onClick={onPick}>
                    <SafeText text={name} max={80} />
                  </button>
                )}
              </strong>
              <strong className="bold">{formatCount(count)}</strong>
            </Group>
            <p>
              <ServiceMessage message={message} request={request}>
                {(text) => <Sentence text={text} />}
              </ServiceMessage>
              {others}
            </p>
            <p className="quiet">{note}</p>
          </li>
        ))}
      </ul>
      {more !== null && <div className="p-2-4">{more}</div>}
    </>
  )
}
