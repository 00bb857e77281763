import { Group, Stack } from '@mantine/core'
import { memo, type ReactNode, useMemo, useState } from 'react'
import { formatCount } from '../../../shared/messages/figure-text.ts'
import { ActionButton, ScrollRegion } from '../controls.tsx'
import styles from './safe-text.module.css'
import { CELL_MAX_CHARACTERS, cutText, cutToldText, type TextPiece, toTextPieces } from './visible-text.ts'

/** Longest text that a tooltip shows in full, in UTF-16 code units. */
const TITLE_MAX = 500

/** Words that look the same without an element of their own, if lines are not broken. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/

/**
 * A text by others, shown as text: isolated from the surrounding writing direction, invisible characters
 * drawn as marks, cut to `max` code units (default 240). `lines` keeps line breaks. `fullLength` is the full
 * length if `text` is an excerpt. `isCell`: on an unbroken line, in a table that draws many.
 */
export const SafeText = memo(function SafeText(props: {
  text: string
  max?: number
  lines?: boolean
  fullLength?: number
  isCell?: boolean
}) {
  const { shown } = cutToldText(props.text, props.max ?? CELL_MAX_CHARACTERS)
  const left = (props.fullLength ?? props.text.length) - shown.length
  if (props.isCell && left <= 0 && PLAIN.test(shown)) return shown
  return (
    <bdi
      className={props.lines ? styles.lines : styles.text}
      title={left > 0 && props.text.length <= TITLE_MAX ? props.text : undefined}
    >
      <TextPieces pieces={toTextPieces(shown, { lines: props.lines ?? false })} />
      {left > 0 && <span className="quiet italic">… {formatCount(left)} more characters</span>}
    </bdi>
  )
})

/** Texts below each other. */
export function TextList(props: { texts: readonly string[]; max: number; className?: string }) {
  return (
    <ul className={props.className}>
      {props.texts.map((text) => (
        <li key={text}>
          <SafeText text={text} max={props.max} lines />
        </li>
      ))}
    </ul>
  )
}

/** Pieces of text with their marks; their indexes are stable keys, since pieces never move. */
function TextPieces({ pieces }: { pieces: TextPiece[] }) {
  return pieces.map((piece, index) => {
    if (piece.kind === 'plain') return piece.text
    const times = piece.times > 1 ? `×${piece.times}` : ''
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: a piece is known by its place alone
      <span key={index} className={styles.mark} title={`${piece.name}${times && ` ${times}`}`}>
        {piece.glyph}
        {times}
      </span>
    )
  })
}

/**
 * {@link SafeText} with line breaks and marked parts: `start` and `end`, which is exclusive, are in UTF-16
 * code units. A screen reader reads the label of each.
 */
export function MarkedText(props: {
  text: string
  marks: readonly { start: number; end: number; label: string }[]
}) {
  const { text, marks } = props
  const parts: ReactNode[] = []
  let from = 0
  for (const { start, end, label } of marks) {
    parts.push(<Lines key={`${from} before`} text={text.slice(from, start)} />)
    parts.push(
      <mark key={start} className={styles.found} title={label}>
        <Lines text={text.slice(start, end)} />
        <span className="visually-hidden"> ({label})</span>
      </mark>,
    )
    from = end
  }
  return (
    <bdi className={styles.lines}>
      {parts}
      <Lines text={text.slice(from)} />
    </bdi>
  )
}

function Lines({ text }: { text: string }) {
  return <TextPieces pieces={toTextPieces(text, { lines: true })} />
}

const FIRST_CHARACTERS = 4_000
const CHUNK_CHARACTERS = 8_000

/**
 * A text of any length in a scrolling block, monospaced, with marks drawn: the first 4,000 code units, and on
 * request all of it, laid out in chunks so that a megabyte does not block the window. `label` names it for
 * screen readers.
 */
export function LongText({ text, label }: { text: string; label: string }) {
  const [all, setAll] = useState(false)
  const { shown, left } = cutText(text, all ? Number.POSITIVE_INFINITY : FIRST_CHARACTERS)
  const chunks = useMemo(() => toChunks(shown), [shown])
  return (
    <Stack gap="xs">
      <ScrollRegion className={`m-0 p-2-3 rounded bg-sunken mono text-xs ${styles.block}`} label={label}>
        {chunks.map((chunk, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a chunk is known by its place alone
          <bdi key={index} className={`${styles.lines} ${chunks.length > 1 ? styles.chunk : ''}`}>
            <TextPieces pieces={toTextPieces(chunk, { lines: true })} />
          </bdi>
        ))}
      </ScrollRegion>
      {(left > 0 || all) && (
        <Group gap="xs">
          <ActionButton
            label={all ? 'Show less' : `Show all ${formatCount(text.length)} characters`}
            small
            onClick={() => setAll(!all)}
          />
        </Group>
      )}
    </Stack>
  )
}

function toChunks(text: string): string[] {
  const chunks: string[] = []
  let rest = text
  while (rest.length > 0) {
    const { shown } = cutText(rest, CHUNK_CHARACTERS)
    chunks.push(shown)
    rest = rest.slice(shown.length)
  }
  return chunks
}

/** A sentence of Sluice in which backticks enclose code, such as "must not contain `_`". */
export function Sentence({ text }: { text: string }) {
  return text.split('`').map((part, index) => {
    if (index % 2 === 0) return part
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: a part is known by its place alone
      <code key={index}>
        <SafeText text={part} />
      </code>
    )
  })
}

/** An error's message, cut to `max` code units: {@link SafeText} with line breaks, and code in backticks. */
export function MessageText({ text, max }: { text: string; max: number }) {
  const { shown } = cutToldText(text, max)
  return (
    <bdi className={styles.lines}>
      {shown.split('`').map((part, index) => {
        const Part = index % 2 === 0 ? 'span' : 'code'
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a part is known by its place alone
          <Part key={index}>
            <Lines text={part} />
          </Part>
        )
      })}
      {shown.length < text.length && (
        <span className="quiet italic">… {formatCount(text.length - shown.length)} more characters</span>
      )}
    </bdi>
  )
}

/** Words as a sentence: with a capital first letter and a full stop. */
export function toSentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
}
