import { IconX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Facet, RowFilter } from '../../../shared/results.ts'
import { formatCount } from '../../ui/format-number.ts'
import { AnswerLabel } from '../../ui/states/answer-label.tsx'
import { isRowAnswer, nameAnswers } from '../../ui/states/answer-looks.ts'
import { STATE_LOOKS } from '../../ui/states/state-looks.ts'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { isFacetChosen, isRowState, toggleFacet, toggleUnsuccessful } from './filter.ts'
import styles from './results.module.css'

interface FacetGroup {
  kind: Facet['kind']
  title: string
  empty: string
}

/** The groups that have a meaning for an operation. */
function toGroups(operation: string): FacetGroup[] {
  const answers = nameAnswers(operation)
  return [
    { kind: 'state', title: 'State', empty: 'no rows yet' },
    ...(answers === null ? [] : [{ kind: 'answer', title: answers, empty: 'none answered' } as const]),
    ...(operation === 'task'
      ? [{ kind: 'rule', title: 'Triggered rule', empty: 'none triggered' } as const]
      : []),
    { kind: 'error', title: 'Error', empty: 'no errors' },
  ]
}

/** What the rows can be narrowed by, with how many rows each leaves; one of each kind at a time. */
export function FacetList(props: {
  operation: string
  facets: readonly Facet[]
  filter: RowFilter
  onFilter: (filter: RowFilter) => void
}) {
  const { facets, filter, onFilter } = props
  return (
    <div className={styles.facets}>
      {toGroups(props.operation).map((group) => {
        const shown = facets.filter((facet) => facet.kind === group.kind && facet.rows > 0)
        return (
          <section key={group.kind} aria-label={group.title}>
            <h2 className={styles.facetTitle}>{group.title}</h2>
            {shown.length === 0 && <p className={styles.facetEmpty}>{group.empty}</p>}
            <ul>
              {shown.map((facet) => (
                <li key={facet.value}>
                  <FacetButton
                    name={<FacetName facet={facet} />}
                    rows={facet.rows}
                    chosen={isFacetChosen(filter, facet)}
                    onPick={() => onFilter(toggleFacet(filter, facet))}
                  />
                </li>
              ))}
              {group.kind === 'state' && countUnsuccessful(shown) > 0 && (
                <li>
                  <FacetButton
                    name="did not succeed, in all"
                    rows={countUnsuccessful(shown)}
                    chosen={filter.unsuccessful === true}
                    onPick={() => onFilter(toggleUnsuccessful(filter))}
                  />
                </li>
              )}
            </ul>
          </section>
        )
      })}
    </div>
  )
}

function FacetButton(props: { name: ReactNode; rows: number; chosen: boolean; onPick: () => void }) {
  return (
    <button type="button" className={styles.facet} aria-pressed={props.chosen} onClick={props.onPick}>
      <span className={styles.facetName}>{props.name}</span>
      <span className={styles.facetRows}>{formatCount(props.rows)}</span>
      {props.chosen && <IconX size="0.9rem" aria-label="(chosen, press to show all again)" />}
    </button>
  )
}

const UNSUCCESSFUL: readonly string[] = ['invalid', 'rejected', 'failed', 'unknown', 'overdue']

function countUnsuccessful(states: readonly Facet[]): number {
  return states.reduce((sum, facet) => sum + (UNSUCCESSFUL.includes(facet.value) ? facet.rows : 0), 0)
}

function FacetName({ facet }: { facet: Facet }) {
  if (facet.kind === 'answer' && isRowAnswer(facet.value)) return <AnswerLabel answer={facet.value} />
  if (facet.kind !== 'state' || !isRowState(facet.value)) return <SafeText text={facet.label} max={60} />
  const look = STATE_LOOKS[facet.value]
  const Icon = look.icon
  return (
    <span className={styles.facetState} style={{ color: look.color }}>
      <Icon size="1.05em" aria-hidden />
      {look.word}
    </span>
  )
}
