import { formatCount } from '../../../shared/messages/figure-text.ts'
import type { RowAnswer } from '../../../shared/run/item-state.ts'
import type { RunSnapshot } from '../../../shared/run/snapshot.ts'
import { BarTable } from '../../ui/charts/bar-table.tsx'
import { Panel } from '../../ui/layout/panel.tsx'
import { AnswerLabel } from '../../ui/states/answer-label.tsx'
import { isRowAnswer, ROW_ANSWERS } from '../../ui/states/answer-looks.ts'
import styles from './run.module.css'

/** The outcome of terms, or where appeals stand, by rows; a word opens its rows. */
export function AnswersPanel(props: {
  title: string
  answers: RunSnapshot['answers']
  onPick: (answer: RowAnswer) => void
}) {
  const { answers, onPick } = props
  const shown = ROW_ANSWERS.flatMap((answer) => {
    const rows = answers[answer] ?? 0
    return rows === 0 ? [] : [{ answer, rows }]
  })
  const total = shown.reduce((sum, { rows }) => sum + rows, 0)
  return (
    <Panel title={props.title} aside={total === 0 ? 'none yet' : `${formatCount(total)} answered`}>
      {shown.length === 0 ? (
        <p className={styles.quietInside}>
          What the service says of each appears here with its first answer.
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
