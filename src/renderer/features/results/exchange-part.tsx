import { prettyJson } from '../../../shared/pretty-json.ts'
import type { CutFrom } from '../../../shared/results.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { formatBytes, formatCount } from '../../ui/format-number.ts'
import { LongText } from '../../ui/text/long-text.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './results.module.css'

/** One side of an exchange, as it was; only its length until it is revealed. */
export function ExchangePart(props: {
  title: string
  text: string | null
  /** What stands under the title, such as method and address. */
  line?: string
  /** How long the text was before it was cut. */
  cutFrom?: CutFrom | null
  revealed: boolean
}) {
  const { title, text, line, cutFrom = null, revealed } = props
  return (
    <section>
      <div className={styles.partHead}>
        <h3>{title}</h3>
        {text !== null && revealed && <CopyButton label="Copy" text={() => text} />}
      </div>
      {line !== undefined && (
        <p className={styles.url}>
          <SafeText text={line} max={2_000} lines />
        </p>
      )}
      {cutFrom !== null && (
        <p className={styles.muted}>
          cut:{' '}
          {cutFrom.bytes === null
            ? 'only its beginning'
            : `only the beginning of ${formatBytes(cutFrom.bytes)}`}{' '}
          was kept
        </p>
      )}
      {text === null && <p className={styles.muted}>no body</p>}
      {text !== null && !revealed && (
        <p className={styles.muted}>hidden, {formatCount(text.length)} characters</p>
      )}
      {text !== null && revealed && <LongText text={prettyJson(text)} label={title} />}
    </section>
  )
}
