import { ActionIcon, Stack } from '@mantine/core'
import { IconChevronDown, IconChevronUp, IconEye, IconEyeOff, IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Fragment, useEffect, useRef } from 'react'
import type { ListedChange, RunPair } from '../../../shared/bridge/compare.ts'
import { formatScoreMove } from '../../../shared/lookback/comparison-text.ts'
import { formatMs } from '../../../shared/messages/figure-text.ts'
import { nameAnswer } from '../../../shared/messages/name-code.ts'
import { prettyJson } from '../../../shared/messages/pretty-json.ts'
import type { RowDetail } from '../../../shared/run/results.ts'
import { ask } from '../../bridge/client.ts'
import { type ContentRule, MaskedText, maskJson } from '../../ui/content/user-content.tsx'
import { ActionButton } from '../../ui/controls.tsx'
import { ErrorNotice } from '../../ui/layout/screen.tsx'
import { ScrollRegion } from '../../ui/layout/scroll-region.tsx'
import { RowNumber, StateLabel } from '../../ui/states/row-states.tsx'
import { LongText, SafeText } from '../../ui/text/safe-text.tsx'
import styles from './compare.module.css'

/** Both answers of a row side by side; user content is masked until it is revealed. */
export function BothAnswers(props: {
  pair: RunPair
  change: ListedChange
  /** Of the columns of B. */
  isContent: ContentRule
  isRevealed: boolean
  onReveal: () => void
  /** Goes to the next changed row, or the one before. */
  onStep: (step: 1 | -1) => void
  onClose: () => void
}) {
  const { pair, change, isRevealed } = props
  const a = useQuery(ask.results.row.queryOptions({ input: { runId: pair.a, row: change.a.record } }))
  const b = useQuery(ask.results.row.queryOptions({ input: { runId: pair.b, row: change.b.record } }))
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const error = a.error ?? b.error
  return (
    <section className={`stack min-w-0 min-h-0 bg-surface ${styles.both}`} aria-label="Both answers">
      <header className={`row flex-none gap-3 p-2-4 border-b ${styles.bothHead}`}>
        <h2 className="flex-1 text-md bold" ref={heading} tabIndex={-1}>
          Row <PairedRowNumber a={change.a} b={change.b} />
        </h2>
        <ActionButton
          label={isRevealed ? 'Hide' : 'Reveal'}
          small
          aria-pressed={isRevealed}
          leftSection={isRevealed ? <IconEyeOff size="1rem" /> : <IconEye size="1rem" />}
          onClick={props.onReveal}
        />
        <ActionIcon aria-label="Previous row" onClick={() => props.onStep(-1)}>
          <IconChevronUp size="1rem" aria-hidden />
        </ActionIcon>
        <ActionIcon aria-label="Next row" onClick={() => props.onStep(1)}>
          <IconChevronDown size="1rem" aria-hidden />
        </ActionIcon>
        <ActionIcon aria-label="Close" onClick={props.onClose}>
          <IconX size="1rem" aria-hidden />
        </ActionIcon>
      </header>
      {error !== null && <ErrorNotice error={error} />}
      <ScrollRegion className="flex-1 min-h-0 p-3-4" label="Details of both answers">
        {a.data !== undefined && b.data !== undefined && (
          <>
            <dl className={`facts ${styles.cells}`}>
              {b.data.result.cells.map((cell, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns may share a name and never move
                <Fragment key={index}>
                  <dt>
                    <SafeText text={b.data.columns[index] ?? `Column ${index + 1}`} max={60} />
                  </dt>
                  <dd>
                    <MaskedText
                      text={cell}
                      revealed={isRevealed || !props.isContent(index, cell)}
                      max={1_000}
                    />
                  </dd>
                </Fragment>
              ))}
            </dl>
            <div className="grid two-columns gap-4 mt-4">
              <Answer letter="A" detail={a.data} other={b.data} revealed={isRevealed} />
              <Answer letter="B" detail={b.data} other={a.data} revealed={isRevealed} />
            </div>
          </>
        )}
      </ScrollRegion>
    </section>
  )
}

/** Where the row stands in the source of B, and before that in the source of A where it stood elsewhere. */
export function PairedRowNumber({ a, b }: Pick<ListedChange, 'a' | 'b'>) {
  const inB = <RowNumber record={b.record} place={b.place} />
  if (a.row === b.row) return inB
  return (
    <>
      <RowNumber record={a.record} place={a.place} /> → {inB}
    </>
  )
}

/** One of both answers; what the other does not have stands out. */
function Answer(props: { letter: 'A' | 'B'; detail: RowDetail; other: RowDetail; revealed: boolean }) {
  const { letter, detail, other } = props
  const { result } = detail
  const otherRules = new Set(other.result.triggeredRules.map(({ ruleName }) => ruleName))
  const otherScores = new Map(other.result.classScores.map(({ className, score }) => [className, score]))
  const code = nameAnswer(result.status, result.errorCode)
  return (
    <section className={`grid one-column gap-2 min-w-0 ${styles.answer}`} aria-label={`Answer in ${letter}`}>
      <h3>
        {letter} <StateLabel state={result.state} attempts={result.attempts} />
      </h3>
      <dl className={`facts ${styles.cells}`}>
        <dt>Triggered rules</dt>
        <dd className="flex flex-wrap gap-1">
          {result.triggeredRules.length === 0
            ? 'none'
            : result.triggeredRules.map(({ ruleId, ruleName }) => (
                <span
                  key={ruleId}
                  className={`max-w-full rounded text-xs ${styles.rule}`}
                  data-only={!otherRules.has(ruleName)}
                >
                  <SafeText text={ruleName} max={60} />
                  {!otherRules.has(ruleName) && ` only in ${letter}`}
                </span>
              ))}
        </dd>
        {detail.result.classScores.length > 0 && (
          <>
            <dt>Scores</dt>
            <dd>
              <Stack component="ul" gap={2}>
                {toHighestFirst(detail.result.classScores).map(({ className, score }) => {
                  const before = otherScores.get(className)
                  return (
                    <li key={className}>
                      <SafeText text={className} max={40} /> {score}
                      {letter === 'B' && before !== undefined && before !== score && (
                        <span className="quiet"> {formatScoreMove(score - before)}</span>
                      )}
                    </li>
                  )
                })}
              </Stack>
            </dd>
          </>
        )}
        <dt>Answer</dt>
        <dd>{code === '' ? 'none' : <SafeText text={code} max={80} />}</dd>
        {result.message !== null && (
          <>
            <dt>In words</dt>
            <dd>
              <SafeText text={result.message} max={300} />
            </dd>
          </>
        )}
        <dt>Duration</dt>
        <dd>{result.durationMs === null ? '–' : formatMs(result.durationMs)}</dd>
      </dl>
      <h4>Response</h4>
      {detail.responseBody === null ? (
        <p className="quiet">no body</p>
      ) : (
        <LongText
          text={prettyJson(props.revealed ? detail.responseBody : maskJson(detail.responseBody))}
          label={`Response in ${letter}`}
        />
      )}
    </section>
  )
}

function toHighestFirst(scores: RowDetail['result']['classScores']) {
  return scores.toSorted((a, b) => b.score - a.score)
}
