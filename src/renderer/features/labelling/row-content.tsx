import { IconEye, IconEyeOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { toWholeMapping } from '../../../shared/mapping/match-columns.ts'
import { toRowNumber } from '../../../shared/plan/source-place.ts'
import type { RowDetail } from '../../../shared/run/results.ts'
import { ask } from '../../bridge/client.ts'
import { findContent } from '../../ui/content/content-columns.ts'
import { createContentRule, MaskedText } from '../../ui/content/user-content.tsx'
import { ActionButton } from '../../ui/controls.tsx'
import { describePlace } from '../../ui/states/row-states.tsx'
import { LongText, SafeText } from '../../ui/text/safe-text.tsx'
import styles from './labelling.module.css'

/** Longest text that is set large; a longer one scrolls in a block of its own, UTF-16 code units. */
const LARGE_MAX = 4_000

/** What a row is about, in large text; its other cells on request, since one of them may be a label. */
export function RowContent(props: {
  runId: string
  detail: RowDetail
  revealed: boolean
  onReveal: () => void
}) {
  const { detail, revealed } = props
  const { columns, result } = detail
  const plan = useQuery(ask.runs.readPlan.queryOptions({ input: { runId: props.runId } })).data ?? null
  if (plan === null) return null
  const isContent = createContentRule(columns, toWholeMapping(plan, columns))
  const subject = new Set(findContent(plan, columns))
  const cells = result.cells.map((text, index) => ({
    text,
    index,
    name: columns[index] ?? `Column ${index + 1}`,
  }))
  const main = cells.filter(
    ({ text, index }) => text !== '' && (subject.has(index) || isContent(index, text)),
  )
  const shown = main.length > 0 ? main : cells.filter(({ text }) => text !== '')
  const others = cells.filter((cell) => !shown.includes(cell))
  return (
    <>
      <header className={`row gap-3 ${styles.contentHead}`}>
        <h2 className="text-md bold">Row {toRowNumber(result.place)}</h2>
        <span className="small">{describePlace(result.row, result.place)}</span>
        <ActionButton
          label={revealed ? 'Hide' : 'Reveal'}
          small
          aria-pressed={revealed}
          leftSection={revealed ? <IconEyeOff size="1rem" /> : <IconEye size="1rem" />}
          rightSection={<kbd>Space</kbd>}
          onClick={props.onReveal}
        />
      </header>
      {shown.map(({ text, index, name }) => (
        <section key={index} aria-label={name}>
          <h3 className="small mb-1 bold">
            <SafeText text={name} max={80} />
          </h3>
          {!revealed && isContent(index, text) ? (
            <p className={styles.text}>
              <MaskedText text={text} revealed={false} />
            </p>
          ) : text.length > LARGE_MAX ? (
            <LongText text={text} label={name} />
          ) : (
            <p className={styles.text}>
              <SafeText text={text} max={LARGE_MAX} lines />
            </p>
          )}
        </section>
      ))}
      {others.length > 0 && (
        <details className={styles.others}>
          <summary>Other cells</summary>
          <dl>
            {others.map(({ text, index, name }) => (
              <div key={index}>
                <dt>
                  <SafeText text={name} max={80} />
                </dt>
                <dd>
                  {text === '' ? (
                    <span className="small">empty</span>
                  ) : (
                    <SafeText text={text} max={500} lines />
                  )}
                </dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </>
  )
}
