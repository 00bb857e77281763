import { formatBytes } from '../../../shared/messages/figure-text.ts'
import { prettyJson } from '../../../shared/messages/pretty-json.ts'
import type { CutFrom } from '../../../shared/run/results.ts'
import { maskJson } from '../../ui/content/mask-json.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { LongText } from '../../ui/text/long-text.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './results.module.css'

/** One side of an exchange, as it was; the user content in it masked until it is revealed. */
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
      {text !== null && <LongText text={prettyJson(revealed ? text : maskJson(text))} label={title} />}
    </section>
  )
}
