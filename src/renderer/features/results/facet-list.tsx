import { IconX } from '@tabler/icons-react'
import { type ReactNode, useRef } from 'react'
import { formatCount } from '../../../shared/messages/figure-text.ts'
import type { Facet, RowFilter } from '../../../shared/run/results.ts'
import { AnswerLabel, isRowAnswer, nameAnswers } from '../../ui/states/answers.tsx'
import { STATE_LOOKS } from '../../ui/states/row-states.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { isFacetChosen, isRowState, listChosen, toggleFacet, toggleUnsuccessful } from './filter.ts'
import styles from './results.module.css'

interface FacetGroup {
  kinds: readonly Facet['kind'][]
  title: string
  empty: string
}

/** The groups that have a meaning for an operation. */
function toGroups(operation: string): FacetGroup[] {
  const answers = nameAnswers(operation)
  return [
    { kinds: ['state'], title: 'State', empty: 'no rows' },
    ...(answers === null ? [] : [{ kinds: ['answer'], title: answers, empty: 'none answered' } as const]),
    ...(operation === 'task'
      ? [{ kinds: ['rule'], title: 'Triggered rule', empty: 'none triggered' } as const]
      : []),
    { kinds: ['error', 'cause'], title: 'Error', empty: 'no errors' },
  ]
}

/** What the rows can be narrowed by, with how many rows each leaves under the search and the other filters. */
export function FacetList(props: {
  operation: string
  facets: readonly Facet[]
  /** False while rows are still being counted. */
  isCounted: boolean
  filter: RowFilter
  onFilter: (filter: RowFilter) => void
}) {
  const { filter, onFilter, isCounted } = props
  const facets = withChosen(props.facets, filter, useLabels(props.facets))
  return (
    <div className={styles.facets}>
      {toGroups(props.operation).map((group) => {
        const shown = facets.filter(({ kind }) => group.kinds.includes(kind))
        const unsuccessful = countUnsuccessful(shown)
        return (
          <section key={group.title} aria-label={group.title}>
            <h2 className={styles.facetTitle}>{group.title}</h2>
            {shown.length === 0 && (
              <p className={styles.facetEmpty}>{isCounted ? group.empty : 'counting'}</p>
            )}
            <ul>
              {shown.map((facet) => (
                <li key={`${facet.kind} ${facet.value}`}>
                  <FacetButton
                    name={<FacetName facet={facet} />}
                    title={facet.label}
                    rows={facet.rows}
                    chosen={isFacetChosen(filter, facet)}
                    onPick={() => onFilter(toggleFacet(filter, facet))}
                  />
                </li>
              ))}
              {group.title === 'State' && (unsuccessful > 0 || filter.unsuccessful) && (
                <li>
                  <FacetButton
                    name="all that did not succeed"
                    rows={unsuccessful}
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

/** The labels of all facets seen so far, for those that no row has any more. */
function useLabels(facets: readonly Facet[]): ReadonlyMap<string, string> {
  const labels = useRef(new Map<string, string>())
  for (const { kind, value, label } of facets) labels.current.set(`${kind} ${value}`, label)
  return labels.current
}

/** The facets that have rows, and those that are chosen though they have none. */
function withChosen(
  facets: readonly Facet[],
  filter: RowFilter,
  labels: ReadonlyMap<string, string>,
): Facet[] {
  const isShown = (chosen: Pick<Facet, 'kind' | 'value'>) =>
    facets.some(({ kind, value }) => kind === chosen.kind && value === chosen.value)
  const others = listChosen(filter).filter((chosen) => !isShown(chosen))
  return [
    ...facets,
    ...others.map((chosen) => ({
      ...chosen,
      label: labels.get(`${chosen.kind} ${chosen.value}`) ?? chosen.value,
      rows: 0,
    })),
  ]
}

function FacetButton(props: {
  name: ReactNode
  /** The whole name, where there may be no room for it. */
  title?: string
  rows: number
  chosen: boolean
  onPick: () => void
}) {
  return (
    <button
      type="button"
      className={styles.facet}
      aria-pressed={props.chosen}
      title={props.title}
      onClick={props.onPick}
    >
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
  if (facet.kind !== 'state' || !isRowState(facet.value))
    return <SafeText text={facet.label.replaceAll('`', '')} max={60} />
  const look = STATE_LOOKS[facet.value]
  const Icon = look.icon
  return (
    <span className={styles.facetState} style={{ color: look.color }}>
      <Icon size="1.05em" aria-hidden />
      {look.word}
    </span>
  )
}
