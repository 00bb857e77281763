import { Stack } from '@mantine/core'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { nameAnswer } from '../../../shared/messages/name-code.ts'
import { adviseInWindow } from '../../../shared/messages/outcome-advice.ts'
import { isProblemCode, PROBLEM_MESSAGES } from '../../../shared/messages/problem-messages.ts'
import { findOperation } from '../../../shared/operations/operations.ts'
import { sayOtherMessages } from '../../../shared/run/counts.ts'
import { ROW_ANSWER_NAMES, type RowAnswer } from '../../../shared/run/item-state.ts'
import { nameTriggeredRules } from '../../../shared/run/rule-names.ts'
import type { ErrorCause, ErrorGroup, RunSummary, TriggeredRule } from '../../../shared/run/run.ts'
import { LIVE_MAX, type RunSnapshot } from '../../../shared/run/snapshot.ts'
import { askCauseRequest } from '../../bridge/asked-request.ts'
import { BarTable } from '../../ui/charts/bar-table.tsx'
import { ContentSwitch } from '../../ui/content/user-content.tsx'
import { ActionButton, useFirst } from '../../ui/controls.tsx'
import { Figures, Panel } from '../../ui/layout/screen.tsx'
import { CauseList } from '../../ui/states/cause-list.tsx'
import { AnswerLabel, isRowAnswer } from '../../ui/states/row-states.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'

/** The outcomes of terms or the statuses of appeals, by rows; a word opens its rows. */
export function AnswersPanel(props: {
  title: string
  answers: RunSnapshot['answers']
  live: boolean
  onPick: (answer: RowAnswer) => void
}) {
  const { answers, live, onPick } = props
  const shown = ROW_ANSWER_NAMES.flatMap((answer) => {
    const rows = answers[answer] ?? 0
    return rows === 0 ? [] : [{ answer, rows }]
  })
  const total = shown.reduce((sum, { rows }) => sum + rows, 0)
  return (
    <Panel
      title={props.title}
      aside={total > 0 ? `${formatCount(total)} answered` : live ? 'none yet' : 'none'}
    >
      {shown.length === 0 ? (
        <p className="quiet">
          {live
            ? 'What the service says of each appears here with its first answer.'
            : 'There are no answers to count.'}
        </p>
      ) : (
        <BarTable
          caption={`${props.title} by answer`}
          bars={shown.map(({ answer, rows }) => ({
            id: answer,
            name: <AnswerLabel answer={answer} />,
            rows,
          }))}
          onPick={(id) => {
            if (isRowAnswer(id)) onPick(id)
          }}
        />
      )}
    </Panel>
  )
}

/** Whether answers prove which rows they belong to, by rows; nothing while none was compared. */
export function EchoesPanel({ echoes }: { echoes: RunSummary['echoes'] }) {
  if (echoes === undefined) return null
  const { verified, alike, not_verifiable: unverifiable, mismatched } = echoes
  if (verified + unverifiable + mismatched === 0) return null
  return (
    <Panel title="Whose answers they are">
      <Figures
        figures={[
          {
            label: 'Verified',
            value: formatCount(verified),
            note:
              alike === 0
                ? 'repeat the id that was sent'
                : `repeat the id that was sent, ${formatCount(alike)} in another case, form or spacing`,
          },
          { label: 'Not verifiable', value: formatCount(unverifiable), note: 'repeat no id' },
          {
            label: 'Mismatched',
            value: formatCount(mismatched),
            note: mismatched === 0 ? 'name another id' : 'name another id: the rows are unknown',
          },
        ]}
      />
    </Panel>
  )
}

/** The rules that rows triggered, most rows first; a rule's name opens its rows. */
export function RulesPanel(props: {
  rules: readonly TriggeredRule[]
  live: boolean
  onPick?: (ruleId: string) => void
}) {
  const { rules, live, onPick } = props
  const [shown, more] = useFirst(rules, LIVE_MAX)
  const nameOf = nameTriggeredRules(rules)
  const isCut = live && rules.length >= LIVE_MAX
  return (
    <Panel
      title="Triggered rules"
      aside={
        isCut
          ? `the ${LIVE_MAX} with most rows`
          : rules.length > 0
            ? formatCounted(rules.length, 'rule')
            : live
              ? 'none yet'
              : 'none'
      }
    >
      {rules.length === 0 ? (
        <p className="quiet">
          {live ? 'Rules appear here with the first answer that triggers one.' : 'No row triggered a rule.'}
        </p>
      ) : (
        <BarTable
          caption="Triggered rules by rows"
          bars={shown.map((rule) => ({
            id: rule.rule_id,
            name: <SafeText text={nameOf.get(rule.rule_id) ?? rule.rule_name} max={60} />,
            rows: rule.rows,
          }))}
          {...(onPick && { onPick })}
        />
      )}
      {more}
    </Panel>
  )
}

/** How many items were added to or removed from a custom index; the ids of added items must be kept. */
export function ItemsPanel(props: { operation: string; items: number; onExport: () => void }) {
  const { items } = props
  const operation = findOperation(props.operation)
  return (
    <Panel title="Items">
      <Figures
        figures={[
          {
            label: operation?.words.done ?? 'Succeeded',
            value: formatCount(items),
          },
        ]}
      />
      {operation?.ledger?.effect === 'adds' && items > 0 && (
        <Stack gap="xs" align="flex-start" mt="sm">
          <p className="quiet">
            The service cannot list its items: this run is the only record of their ids. You need them to
            remove the items.
          </p>
          <ActionButton label="Export the ids" onClick={props.onExport} />
        </Stack>
      )}
    </Panel>
  )
}

/** Rows that are invalid or ended with an error, grouped by cause, each with what to do. */
export function ErrorsPanel(props: {
  runId: string
  /** The total, not the groups' sum: a row can have several causes, and only the first groups are shown. */
  rows: number
  errors: readonly ErrorCause[]
  operation: string
  onPick?: (cause: ErrorCause) => void
}) {
  const { runId, rows, errors, onPick } = props
  return (
    <Panel title="Errors" aside={rows === 0 ? 'none' : formatCounted(rows, 'row')} flush>
      <CauseList
        empty="Rows that do not succeed are grouped here by cause, with what to do."
        causes={errors.map((cause) => ({
          key: `${cause.outcome} ${cause.status} ${cause.error_code} ${cause.message}`,
          outcome: cause.outcome,
          name: toName(cause),
          onPick: onPick && (() => onPick(cause)),
          count: cause.rows,
          message: cause.message,
          more: sayOtherMessages(cause.messages - 1),
          request: askCauseRequest(runId, cause),
          note: adviseInWindow(cause, props.operation),
        }))}
      />
      {errors.some((cause) => askCauseRequest(runId, cause) !== null) && (
        <div className="p-2-4">
          <ContentSwitch />
        </div>
      )}
    </Panel>
  )
}

function toName(group: ErrorGroup): string {
  if (group.error_code !== null && isProblemCode(group.error_code))
    return PROBLEM_MESSAGES[group.error_code].title
  // The reason is in the answer's body; only "200" would read as a success.
  if (group.error_code === null && group.status === 200) return 'rejected in the answer (HTTP 200)'
  return nameAnswer(group.status, group.error_code) || 'no answer'
}
