import { Button } from '@mantine/core'
import { IconArrowBackUp } from '@tabler/icons-react'
import { keepPreviousData, skipToken, useQuery } from '@tanstack/react-query'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { sayFix } from '../../../shared/messages/fix-messages.ts'
import type { Fix } from '../../../shared/plan/fixes.ts'
import { getFixedRecord, isOfOneRow } from '../../../shared/plan/fixes.ts'
import { sayRow } from '../../../shared/plan/source-place.ts'
import { ask } from '../../bridge/client.ts'
import { isFieldContent, MaskedText, useContentShown } from '../../ui/content/user-content.tsx'
import { ActionButton } from '../../ui/controls.tsx'
import { Panel } from '../../ui/layout/screen.tsx'
import { ScrollRegion } from '../../ui/layout/scroll-region.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './check.module.css'

/** Corrections that the list names one by one; what is older is undone with all others, or in its turn. */
const FIXES_SHOWN = 50

/** Longest part of a corrected text that the list shows, in characters. */
const VALUE_SHOWN = 80

/** The corrections so far, newest first, each with a way back. */
export function FixList(props: {
  /** The run that has all rows of the source. */
  runId: string
  fixes: readonly Fix[]
  onFixes: (fixes: Fix[]) => void
}) {
  const { runId, fixes, onFixes } = props
  if (fixes.length === 0) return null
  return (
    <Panel
      title="Corrections"
      flush
      aside={
        <Button size="compact-xs" leftSection={<IconArrowBackUp size="1rem" />} onClick={() => onFixes([])}>
          Undo all ({formatCounted(fixes.length, 'correction')})
        </Button>
      }
    >
      <ScrollRegion className={styles.fixes} label="Corrections: list">
        <ul>
          {fixes
            .slice(-FIXES_SHOWN)
            .toReversed()
            .map((fix) => (
              <FixItem
                key={JSON.stringify(fix)}
                runId={runId}
                fix={fix}
                onUndo={() => onFixes(fixes.filter((one) => one !== fix))}
              />
            ))}
        </ul>
        {fixes.length > FIXES_SHOWN && (
          <p className={`quiet border-t ${styles.more}`}>
            and {formatCounted(fixes.length - FIXES_SHOWN, 'earlier correction')}
          </p>
        )}
      </ScrollRegion>
    </Panel>
  )
}

function FixItem({ runId, fix, onUndo }: { runId: string; fix: Fix; onUndo: () => void }) {
  const shown = useContentShown()
  const row = getFixedRecord(fix)
  const found = useQuery(
    ask.results.row.queryOptions({
      input: row === null ? skipToken : { runId, row },
      placeholderData: keepPreviousData,
    }),
  )
  const { where, what, value } = sayFix(fix)
  const isMasked = value !== null && 'field' in fix && isFieldContent(fix.field, value)
  const place = found.data?.result.place
  const isOfOther =
    isOfOneRow(fix) && fix.rowHash !== undefined && (found.data?.rowHash ?? fix.rowHash) !== fix.rowHash
  const rowName = row === null ? [] : [place === undefined ? `Record ${row}` : `Row ${sayRow(place)}`]
  const name = [...rowName, ...(where === '' ? [] : [where])].join(', ')
  return (
    <li className="row gap-3 border-b">
      <span className="flex-1 breaks">
        <strong>{name}</strong> {what}
        {value !== null && (
          <>
            {' '}
            <code>
              {isMasked ? (
                <MaskedText text={value} max={VALUE_SHOWN} revealed={shown} />
              ) : (
                <SafeText text={value} max={VALUE_SHOWN} />
              )}
            </code>
          </>
        )}
        {isOfOther && <span className="quiet"> (not applied, since the row has other cells)</span>}
      </span>
      <ActionButton label="Undo" small icon={IconArrowBackUp} aria-label={`Undo: ${name}`} onClick={onUndo} />
    </li>
  )
}
