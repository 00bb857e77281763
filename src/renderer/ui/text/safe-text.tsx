import { memo } from 'react'
import { formatCount } from '../../../shared/messages/figure-text.ts'
import styles from './safe-text.module.css'
import { CELL_MAX_CHARACTERS, cutText, type TextPiece, toTextPieces } from './visible-text.ts'

/**
 * Text that somebody else wrote, shown as text: isolated from the direction of what surrounds it, characters without
 * ink drawn as marks, cut to `max` code units (default 240). `lines` keeps line breaks. `fullLength` is the length of what `text` is an
 * excerpt of.
 */
export const SafeText = memo(function SafeText(props: {
  text: string
  max?: number
  lines?: boolean
  fullLength?: number
}) {
  const { shown } = cutText(props.text, props.max ?? CELL_MAX_CHARACTERS)
  const left = (props.fullLength ?? props.text.length) - shown.length
  return (
    <bdi className={props.lines ? styles.lines : styles.text}>
      <TextPieces pieces={toTextPieces(shown, { lines: props.lines ?? false })} />
      {left > 0 && <span className={styles.cut}>… {formatCount(left)} more characters</span>}
    </bdi>
  )
})

/** Pieces of text with their marks; give it keys by place, since pieces never move. */
export function TextPieces({ pieces }: { pieces: TextPiece[] }) {
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
