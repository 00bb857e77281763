import { Checkbox } from '@mantine/core'
import { useState } from 'react'
import { ACCEPT_WORDS, listNeeded } from '../../../shared/messages/accept-messages.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { findNeeds } from '../../../shared/messages/problem-traits.ts'
import type { AcceptCode } from '../../../shared/run/accept-code.ts'
import type { ProblemGroup } from '../../../shared/run/problem.ts'
import { Panel } from '../layout/screen.tsx'
import { toSentence } from '../text/to-sentence.ts'
import styles from './problems.module.css'
import { WarnedRows } from './row-warnings.tsx'

/** What a person has to accept before rows are sent, and whether that was done. */
export interface Acceptance {
  open: readonly ProblemGroup[]
  /** The codes that were accepted: all that are needed, or none. */
  accepted: AcceptCode[]
  /** What keeps the rows from being sent; undefined where nothing does. */
  blocked: string | undefined
  isChecked: boolean
  onChecked: (isChecked: boolean) => void
}

/** Keeps what a person accepts of open warnings; other warnings have to be accepted anew. */
export function useAcceptance(open: readonly ProblemGroup[]): Acceptance {
  const about = JSON.stringify(open)
  const [acceptedOf, setAcceptedOf] = useState<string | null>(null)
  const isChecked = acceptedOf === about
  return {
    open,
    accepted: isChecked ? listNeeded(open) : [],
    blocked: open.length === 0 || isChecked ? undefined : 'Confirm what is listed under Before sending',
    isChecked,
    onChecked: (isGiven) => setAcceptedOf(isGiven ? about : null),
  }
}

/** Lists what has to be accepted before rows are sent, with one confirmation for all of it; nothing without any. */
export function BeforeSending({ acceptance, rows }: { acceptance: Acceptance; rows: number }) {
  const { open, isChecked, onChecked } = acceptance
  const needed = listNeeded(open)
  if (needed.length === 0) return null
  return (
    <Panel title="Before sending">
      <div className={styles.groups}>
        {needed.map((code) => (
          <section key={code} className={styles.accept}>
            <p className={styles.question}>{toSentence(ACCEPT_WORDS[code])}</p>
            <WarnedRows groups={open.filter((group) => findNeeds(group) === code)} />
          </section>
        ))}
        <Checkbox
          label={`Send ${rows === 1 ? 'the row as it is' : `the ${formatCounted(rows, 'row')} as they are`} read`}
          checked={isChecked}
          onChange={(event) => onChecked(event.currentTarget.checked)}
        />
      </div>
    </Panel>
  )
}
