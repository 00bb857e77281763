import { Button, Progress } from '@mantine/core'
import { IconArrowRight, IconCircleCheck } from '@tabler/icons-react'
import { skipToken, useQuery } from '@tanstack/react-query'
import { formatBytes, formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { sayExpected } from '../../../shared/messages/problem-messages.ts'
import type { Mapping } from '../../../shared/plan/plan.ts'
import type { ProblemGroup } from '../../../shared/run/problem.ts'
import { ask } from '../../bridge/client.ts'
import { useFollowRun, useLiveRuns } from '../../bridge/live-runs.ts'
import { ContentSwitch } from '../../ui/content/user-content.tsx'
import { PrimaryButton } from '../../ui/controls.tsx'
import { ErrorNotice } from '../../ui/layout/notice.tsx'
import { Empty, Figures, Panel, Screen } from '../../ui/layout/screen.tsx'
import styles from './check.module.css'
import { ProblemGroupCard } from './problem-group-card.tsx'

/** What is wrong with the rows, by cause, before anything is sent: errors keep a row back, warnings do not. */
export function CheckScreen(props: {
  runId: string
  mapping: Mapping
  onBack: () => void
  onContinue: () => void
}) {
  const { runId, mapping } = props
  useFollowRun(runId)
  const rows = useLiveRuns((live) => live.snapshots[runId]?.rows)
  const ready = useQuery(ask.runs.awaitReady.queryOptions({ input: { runId } }))
  const problems = useQuery(
    ask.check.problems.queryOptions({ input: ready.isSuccess ? { runId } : skipToken }),
  )
  const error = ready.error ?? problems.error
  if (error !== null) {
    return (
      <Screen
        title="Check"
        actions={
          <Button variant="default" onClick={props.onBack}>
            Back to the source
          </Button>
        }
      >
        <ErrorNotice error={error} />
      </Screen>
    )
  }
  if (problems.data === undefined || rows === undefined) return <Checking runId={runId} />

  const errors = problems.data.filter((group) => group.severity === 'error')
  const warnings = problems.data.filter((group) => group.severity === 'warning')
  const sendable = rows.read - rows.invalid
  const columnOf = (field: string) => {
    const source = mapping[field]
    return source?.kind === 'column' ? String(source.column) : null
  }
  return (
    <Screen
      title="Check"
      subtitle="Every row was read and checked. Nothing has been sent."
      actions={
        <>
          <ContentSwitch />
          <PrimaryButton
            onPress={props.onContinue}
            blocked={sendable === 0 ? 'No row can be sent: fix the errors first' : undefined}
            icon={<IconArrowRight size="1rem" />}
          >
            Review {formatCounted(sendable, 'row')}
          </PrimaryButton>
        </>
      }
    >
      <Panel title="Rows">
        <Figures
          figures={[
            { label: 'Read', value: formatCount(rows.read) },
            { label: 'Will be sent', value: formatCount(sendable) },
            { label: 'Have errors, not sent', value: formatCount(rows.invalid) },
            {
              label: 'Causes',
              value: formatCount(errors.length + warnings.length),
              note: `${formatCounted(errors.length, 'error')}, ${formatCounted(warnings.length, 'warning')}`,
            },
          ]}
        />
      </Panel>
      {problems.data.length === 0 && (
        <Empty icon={IconCircleCheck} title="No problems">
          Every row can be sent as it is.
        </Empty>
      )}
      <Groups title="Errors" note="these rows are not sent" groups={errors} columnOf={columnOf} />
      <Groups title="Warnings" note="these rows are sent" groups={warnings} columnOf={columnOf} />
    </Screen>
  )
}

function Groups(props: {
  title: string
  note: string
  groups: ProblemGroup[]
  columnOf: (field: string) => string | null
}) {
  if (props.groups.length === 0) return null
  return (
    <section className={styles.section} aria-label={props.title}>
      <h2 className={styles.sectionTitle}>
        {props.title} <span>{props.note}</span>
      </h2>
      {props.groups.map((group) => (
        <ProblemGroupCard
          key={`${group.code} ${group.field ?? ''} ${sayExpected(group, 'window')}`}
          group={group}
          columnOf={props.columnOf}
        />
      ))}
    </section>
  )
}

function Checking({ runId }: { runId: string }) {
  const bytes = useLiveRuns((live) => live.snapshots[runId]?.bytes)
  const read = bytes?.read ?? 0
  const total = bytes?.total ?? 0
  return (
    <Screen title="Check" subtitle="Reading and checking every row">
      <Progress value={total === 0 ? 0 : (read / total) * 100} aria-label="Reading" />
      <p aria-live="polite">
        {formatBytes(read)} of {formatBytes(total)} read
      </p>
    </Screen>
  )
}
