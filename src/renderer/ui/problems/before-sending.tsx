import { Stack } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { listNeeded } from '../../../shared/messages/accept-messages.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { findNeeds, isHint } from '../../../shared/messages/problem-traits.ts'
import { ACCEPT_WORDS, type AcceptCode } from '../../../shared/run/accept-code.ts'
import { countRows } from '../../../shared/run/item-state.ts'
import type { ProblemGroup } from '../../../shared/run/problem.ts'
import type { RowCounts } from '../../../shared/run/run.ts'
import type { NamedPlace } from '../connection/destination.ts'
import { ProductionNotice, ProductionWords } from '../connection/destination-panel.tsx'
import { CheckField } from '../controls.tsx'
import { Panel } from '../layout/screen.tsx'
import { toSentence } from '../text/safe-text.tsx'
import styles from './problems.module.css'
import { UnsentRows, WarnedRows, WarningCauses } from './row-warnings.tsx'

/** What a person must accept before rows are sent, and whether they have. */
export interface Acceptance {
  open: readonly ProblemGroup[]
  /** The codes accepted here: all necessary ones, or none. */
  accepted: AcceptCode[]
  /** Why the rows cannot be sent; undefined if they can. */
  blocked: string | undefined
  isChecked: boolean
  onChecked: (isChecked: boolean) => void
  /** Whether the production question asks about all of it, so that nothing is accepted here. */
  isAskedOutside: boolean
}

/** Stores a person's acceptance of open warnings; other warnings must be accepted again. */
export function useAcceptance(open: readonly ProblemGroup[], isAskedOutside = false): Acceptance {
  const about = JSON.stringify(open)
  const [acceptedOf, setAcceptedOf] = useState<string | null>(null)
  const isChecked = acceptedOf === about
  const isOpen = open.length > 0 && !isAskedOutside
  return {
    open,
    accepted: isChecked && isOpen ? listNeeded(open) : [],
    blocked: isOpen && !isChecked ? 'Confirm what is listed under Before sending' : undefined,
    isChecked,
    onChecked: (isGiven) => setAcceptedOf(isGiven ? about : null),
    isAskedOutside,
  }
}

/**
 * Everything a person should see before rows are sent, with one confirmation for all of it: guesses, warnings
 * to accept, other warnings, unsent rows, and production. Empty if there is nothing to say.
 */
export function BeforeSending(props: {
  acceptance: Acceptance
  rows: number
  /** Where the rows go; null if that is shown elsewhere. */
  place?: NamedPlace | null
  /** Findings of the check: warnings, whether or not they must be accepted, and errors. */
  groups?: readonly ProblemGroup[]
  /** Rows of the run by state, to say which are not sent; null if another part of the screen says so. */
  counts?: RowCounts | null
  /** How the source is read, if that was guessed. */
  guess?: ReactNode
  /** What was sent of the rows before, if anything. */
  sentBefore?: ReactNode
}) {
  const {
    acceptance,
    rows,
    place = null,
    counts = null,
    groups = [],
    guess = null,
    sentBefore = null,
  } = props
  const { open, isChecked, onChecked, isAskedOutside } = acceptance
  const needed = listNeeded(open)
  // Warnings accepted beforehand, for example in the plan of an earlier run, are shown too.
  const others = groups.filter(
    (group) =>
      group.severity === 'warning' &&
      group.rows > 0 &&
      !isHint(group) &&
      !needed.some((code) => code === findNeeds(group)),
  )
  const isProduction = place?.kind === 'production'
  const isAllSent = counts === null || countRows(counts, 'unsent') === 0
  if (isAllSent && needed.length === 0 && others.length === 0 && guess === null && sentBefore === null) {
    return isProduction ? <ProductionNotice place={place} /> : null
  }
  return (
    <Panel title="Before sending">
      <Stack gap="md">
        {guess !== null && <p>{guess}</p>}
        {sentBefore}
        {counts !== null && <UnsentRows counts={counts} groups={groups} />}
        {needed.map((code) => (
          <section key={code} className={styles.accept}>
            <p className="mb-1 bold">{toSentence(ACCEPT_WORDS[code])}</p>
            <WarnedRows groups={open.filter((group) => findNeeds(group) === code)} />
          </section>
        ))}
        {others.length > 0 && <WarningCauses groups={others} />}
        {isProduction && (
          <section className={styles.accept}>
            <p className="mb-1 bold">This is production.</p>
            <p>
              <ProductionWords place={place} />
              {isAskedOutside && needed.length > 0 && ' Your answer there accepts what is listed here, too.'}
            </p>
          </section>
        )}
        {needed.length > 0 && !isAskedOutside && (
          <CheckField
            label={`Send ${rows === 1 ? 'the row as it is' : `the ${formatCounted(rows, 'row')} as they are`} read`}
            value={isChecked}
            onValue={onChecked}
          />
        )}
      </Stack>
    </Panel>
  )
}
