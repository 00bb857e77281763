import { Button, Group } from '@mantine/core'
import { useMemo, useState } from 'react'
import { formatCount } from '../../../shared/messages/figure-text.ts'
import styles from './safe-text.module.css'
import { TextPieces } from './safe-text.tsx'
import { cutText, toTextPieces } from './visible-text.ts'

const FIRST_CHARACTERS = 4_000
const CHUNK_CHARACTERS = 8_000

/**
 * A text of any length in a scrolling block, monospaced, marks drawn: the first 4,000 code units, and all of it when
 * asked, laid out a chunk at a time so that a megabyte does not hold up the window. `label` names it to a reader.
 */
export function LongText({ text, label }: { text: string; label: string }) {
  const [all, setAll] = useState(false)
  const { shown, left } = cutText(text, all ? Number.POSITIVE_INFINITY : FIRST_CHARACTERS)
  const chunks = useMemo(() => toChunks(shown), [shown])
  return (
    <div className={styles.long}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section className={styles.block} aria-label={label} tabIndex={0}>
        {chunks.map((chunk, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a chunk is known by its place alone
          <bdi key={index} className={`${styles.lines} ${chunks.length > 1 ? styles.chunk : ''}`}>
            <TextPieces pieces={toTextPieces(chunk, { lines: true })} />
          </bdi>
        ))}
      </section>
      {(left > 0 || all) && (
        <Group gap="xs">
          <Button variant="default" size="compact-xs" onClick={() => setAll(!all)}>
            {all ? 'Show less' : `Show all ${formatCount(text.length)} characters`}
          </Button>
        </Group>
      )}
    </div>
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
