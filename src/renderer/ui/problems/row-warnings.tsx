import { Button, Group, Modal, Stack } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { PROBLEM_MESSAGES, sayExpected } from '../../../shared/messages/problem-messages.ts'
import { isHint } from '../../../shared/messages/problem-traits.ts'
import { countRows, listLeftOut } from '../../../shared/run/item-state.ts'
import { getPlace, type Problem, type ProblemGroup } from '../../../shared/run/problem.ts'
import type { RowCounts } from '../../../shared/run/run.ts'
import {
  ContentSwitch,
  isFoundContent,
  isQuotingContent,
  MaskedText,
  maskQuoted,
  useContentShown,
} from '../content/user-content.tsx'
import { Notice } from '../layout/screen.tsx'
import { RowNumber } from '../states/row-states.tsx'
import { Sentence, toSentence } from '../text/safe-text.tsx'
import styles from './problems.module.css'

/** Says which warnings a run's rows have, with a button that lists the first rows of each, if any. */
export function RowWarningsNotice({ groups }: { groups: readonly ProblemGroup[] }) {
  const warnings = groups.filter((group) => group.severity === 'warning' && group.rows > 0 && !isHint(group))
  if (warnings.length === 0) return null
  return (
    <Notice kind="warning" title="Warnings about rows" actions={<ListRows warnings={warnings} />}>
      <Causes groups={warnings} />
    </Notice>
  )
}

/** Warnings by cause with their numbers of rows, and a button that lists the first rows of each. */
export function WarningCauses({ groups }: { groups: readonly ProblemGroup[] }) {
  return (
    <Group component="section" gap="var(--space-2) var(--space-4)" align="flex-start" justify="space-between">
      <div>
        <p className="mb-1 bold">Warnings about rows</p>
        <Causes groups={groups} />
      </div>
      <ListRows warnings={groups} />
    </Group>
  )
}

/** How many rows of a run are not sent, and why; nothing if all are sent. */
export function UnsentRows({ counts, groups }: { counts: RowCounts; groups: readonly ProblemGroup[] }) {
  const unsent = countRows(counts, 'unsent')
  if (unsent === 0) return null
  return (
    <section>
      <p className="mb-1 bold">
        {formatCounted(unsent, 'row')} {unsent === 1 ? 'is' : 'are'} not sent
      </p>
      <Causes groups={groups.filter(({ severity }) => severity === 'error')}>
        {listLeftOut(counts).map(
          ({ state, rows, note }) =>
            rows > 0 && (
              <li key={state}>
                {formatCounted(rows, 'row')}: {note}
              </li>
            ),
        )}
      </Causes>
    </section>
  )
}

function Causes({ groups, children }: { groups: readonly ProblemGroup[]; children?: ReactNode }) {
  return (
    <ul className="m-0 pl-4">
      {groups.map((group) => (
        <li key={toKey(group)}>
          {formatCounted(group.rows, 'row')}:{' '}
          {groups.some((other) => other !== group && isTitledAlike(group, other)) ? (
            <ExpectedSentence problem={group} />
          ) : (
            <Cause group={group} />
          )}
        </li>
      ))}
      {children}
    </ul>
  )
}

function ListRows({ warnings }: { warnings: readonly ProblemGroup[] }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        {warnings.some(({ examples }) => examples.length > 0) ? 'List the rows…' : 'Details…'}
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="Warnings about rows" size="xl">
        {warnings.some((group) => isQuotingContent(group) || group.examples.some(isFoundContent)) && (
          <Group gap={0} align="stretch" justify="flex-end" wrap="nowrap" mb="xs">
            <ContentSwitch />
          </Group>
        )}
        <WarnedRows groups={warnings} />
      </Modal>
    </>
  )
}

/** Each cause with its meaning and its first rows. */
export function WarnedRows({ groups }: { groups: readonly ProblemGroup[] }) {
  return (
    <Stack gap="md">
      {groups.map((group) => (
        <section key={toKey(group)}>
          <h3 className="flex gap-3 text-md bold">
            <span>
              <Cause group={group} />
            </span>
            <span className="ml-auto nowrap">{formatCounted(group.rows, 'row')}</span>
          </h3>
          <p className="max-w-text quiet">
            <ExpectedSentence problem={group} />
          </p>
          {group.examples.length > 0 && <Examples group={group} />}
        </section>
      ))}
    </Stack>
  )
}

function Examples({ group }: { group: ProblemGroup }) {
  const shown = useContentShown()
  const more = group.rows - new Set(group.examples.map(({ row }) => row)).size
  return (
    <ul className="m-0 mt-1 pl-4 breaks">
      {group.examples.map((problem) => (
        <li key={`${problem.row} ${problem.field ?? ''} ${sayExpected(problem, 'window')}`}>
          row <RowNumber record={problem.row} place={getPlace(problem)} />
          {problem.found !== undefined && (
            <>
              {' '}
              <code className="ml-2 mono text-xs">
                <MaskedText text={problem.found} max={80} revealed={shown || !isFoundContent(problem)} />
              </code>
            </>
          )}
        </li>
      ))}
      {more > 0 && <li>and {formatCounted(more, 'more row', 'more rows')}</li>}
    </ul>
  )
}

function Cause({ group }: { group: ProblemGroup }) {
  return (
    <>
      {PROBLEM_MESSAGES[group.code].title}
      <ProblemField field={group.field} />
    </>
  )
}

function isTitledAlike(group: ProblemGroup, other: ProblemGroup): boolean {
  return group.code === other.code && group.field === other.field
}

function toKey(group: ProblemGroup): string {
  return `${group.code} ${group.field ?? ''} ${sayExpected(group, 'window')}`
}

/** The field of a problem, beside its title. */
export function ProblemField({ field }: { field: string | null }) {
  return (
    field !== null && (
      <span className={`small rounded bg-sunken mono ml-2 normal ${styles.field}`}>{field}</span>
    )
  )
}

/** A problem of a source as a sentence; words of the source in it are masked until content is shown. */
export function ExpectedSentence({ problem }: { problem: Pick<Problem, 'code' | 'args'> }) {
  const shown = useContentShown()
  const sentence = toSentence(sayExpected(problem, 'window'))
  return <Sentence text={shown || !isQuotingContent(problem) ? sentence : maskQuoted(sentence)} />
}
