import { IconAlertTriangle, IconCircleX } from '@tabler/icons-react'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { PROBLEM_MESSAGES, sayExpected } from '../../../shared/messages/problem-messages.ts'
import type { Problem, ProblemGroup } from '../../../shared/run/problem.ts'
import { isContentField, isProse, MaskedText, useContentShown } from '../../ui/content/user-content.tsx'
import { RowNumber } from '../../ui/states/row-states.tsx'
import { SafeText, Sentence } from '../../ui/text/safe-text.tsx'
import styles from './check.module.css'

const LOOKS = {
  error: { icon: IconCircleX, word: 'Error', className: styles.error },
  warning: { icon: IconAlertTriangle, word: 'Warning', className: styles.warning },
} as const

/** One cause of problems: what it is, in how many rows, what to do, and the first rows that have it. */
export function ProblemGroupCard(props: {
  group: ProblemGroup
  /** What the person calls the column that fills a field. */
  columnOf: (field: string) => string | null
}) {
  const { group, columnOf } = props
  const advice = PROBLEM_MESSAGES[group.code]
  const shown = useContentShown((content) => content.shown)
  const { icon: Icon, word, className } = LOOKS[group.severity]
  return (
    <article className={styles.card} data-code={group.code}>
      <header className={styles.cardHead}>
        <span className={`${styles.severity} ${className}`}>
          <Icon size="1.1rem" aria-hidden />
          {word}
        </span>
        <h3 className={styles.cause}>
          {advice.title}
          {group.field !== null && <span className={styles.field}>{group.field}</span>}
        </h3>
        <span className={styles.rows}>{formatCounted(group.rows, 'row')}</span>
      </header>
      <p className={styles.fix}>
        <strong>Fix:</strong> {advice.remedy}
      </p>
      {group.examples.length > 0 && (
        <div className={styles.scroll}>
          <table className={styles.examples}>
            <caption className="visually-hidden">First rows with this problem</caption>
            <thead>
              <tr>
                <th scope="col" className={styles.number}>
                  Row
                </th>
                <th scope="col" className={styles.column}>
                  Column
                </th>
                <th scope="col">Expected</th>
                <th scope="col">Found</th>
              </tr>
            </thead>
            <tbody>
              {group.examples.map((problem) => (
                <tr key={`${problem.row} ${problem.field ?? ''} ${toMessage(problem)}`}>
                  <th scope="row" className={styles.number}>
                    <RowNumber row={problem.row} place={problem.place} />
                  </th>
                  <td>
                    <SafeText text={toColumnName(problem.field, columnOf)} max={40} />
                  </td>
                  <td>
                    <Sentence text={toMessage(problem)} />
                  </td>
                  <td className={styles.found}>
                    {problem.found === undefined ? (
                      <span className={styles.none}>nothing</span>
                    ) : (
                      <MaskedText
                        text={problem.found}
                        max={80}
                        revealed={shown || !isContent(problem.field, problem.found)}
                      />
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {group.examples.length > 0 && group.rows > group.examples.length && (
        <p className={styles.more}>
          and {formatCounted(group.rows - group.examples.length, 'more row', 'more rows')}
        </p>
      )}
    </article>
  )
}

/** A repeated value names the other row by its number in the spreadsheet, as the column of rows does. */
function toMessage(problem: Problem): string {
  const { alsoAt } = problem
  return sayExpected(alsoAt === undefined ? problem : { ...problem, details: { row: alsoAt.row } }, 'window')
}

/** What was found in a field of content, or reads like it; ids and numbers are needed to mend them. */
function isContent(field: string | undefined, found: string): boolean {
  return field === undefined ? isProse(found) : isContentField(field)
}

function toColumnName(field: string | undefined, columnOf: (field: string) => string | null): string {
  if (field === undefined) return 'whole row'
  const column = columnOf(field)
  return column === null ? field : column
}
