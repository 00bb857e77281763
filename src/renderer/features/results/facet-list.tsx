import { Stack } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { type ReactNode, useDeferredValue, useRef, useState } from 'react'
import { NO_VERDICT, type Verdict } from '../../../shared/lookback/verdict.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { nameCode } from '../../../shared/messages/name-code.ts'
import { findOperation, subjectOf } from '../../../shared/operations/operations.ts'
import { parseErrorKey } from '../../../shared/run/counts.ts'
import { isUnsuccessful } from '../../../shared/run/item-state.ts'
import {
  type FacetList as CountedFacets,
  FACET_GROUPS,
  type Facet,
  type FacetHead,
  type FacetId,
  findGroup,
  listChosen,
  parseBand,
  type RowFilter,
  toFacetLabel,
} from '../../../shared/run/row-filters.ts'
import { sayScoreBand } from '../../../shared/run/score-bands.ts'
import { askCauseRequest } from '../../bridge/asked-request.ts'
import { ServiceMessage } from '../../ui/content/service-message.tsx'
import { ActionButton } from '../../ui/controls.tsx'
import { AnswerLabel, isRowAnswer, isRowState, STATE_LOOKS } from '../../ui/states/row-states.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { VerdictLabel } from '../../ui/verdicts/verdicts.tsx'
import styles from './results.module.css'
import scoreStyles from './scores.module.css'
import { isFacetChosen, toggleFacet, toggleUnsuccessful } from './use-results.ts'

/** The groups that apply to an operation; scores are drawn separately. */
function toGroups(operation: string): (FacetHead & { name: string })[] {
  const answers = subjectOf(operation).answers
  return Object.entries(FACET_GROUPS)
    .filter(([name, { isOfTasks }]) => name !== 'score' && (!isOfTasks || operation === 'task'))
    .map(([name, group]) => ({
      name,
      ...(name === 'answer' && answers !== null ? { title: answers, empty: 'none answered' } : group),
    }))
}

type Counted = Pick<CountedFacets, 'facets' | 'isCounted'>

interface FacetProps {
  runId: string
  facets: readonly Facet[]
  filter: RowFilter
  onFilter: (filter: RowFilter) => void
}

/** The filters of the rows, with the number of rows that each would leave under search and other filters. */
export function FacetList(props: {
  runId: string
  operation: string
  counted: Counted
  /** Facets from answers, which take longer to count; null until any are known. */
  found: Counted | null
  filter: RowFilter
  onFilter: (filter: RowFilter) => void
}) {
  const { runId, counted, found, filter, onFilter } = props
  const all = [...counted.facets, ...(found?.facets ?? [])]
  const facets = withChosen(all, filter, useLabels(all))
  // The rows and the parts above need not wait for many small bars.
  const isDrawn = useDeferredValue(true, false)
  const isFound = found?.isCounted === true || (found?.facets.length ?? 0) > 0
  return (
    <Stack gap="md">
      {toGroups(props.operation).map((group) => {
        const shown = facets.filter(({ kind }) => findGroup(kind) === group.name)
        if (shown.length === 0 && group.empty === undefined) return null
        const unsuccessful = countUnsuccessful(shown)
        return (
          <FacetSection key={group.name} title={group.title}>
            {shown.length === 0 && (
              <p className={`quiet ${styles.facetEmpty}`}>{counted.isCounted ? group.empty : 'counting…'}</p>
            )}
            <FacetButtons runId={runId} facets={shown} filter={filter} onFilter={onFilter} />
            {group.name === 'state' && (unsuccessful > 0 || filter.unsuccessful) && (
              <FacetButton
                name="all that did not succeed"
                rows={unsuccessful}
                chosen={filter.unsuccessful === true}
                onPick={() => onFilter(toggleUnsuccessful(filter))}
              />
            )}
          </FacetSection>
        )
      })}
      {!isFound && hasVariants(props.operation) && (
        <FacetSection title={props.operation === 'task' ? 'Language, model and scores' : 'Content variant'}>
          <p className={`quiet ${styles.facetEmpty}`} aria-live="polite">
            counting…
          </p>
        </FacetSection>
      )}
      {isDrawn && (
        <ScoreFacets
          runId={runId}
          facets={facets.filter(({ kind }) => kind === 'score')}
          filter={filter}
          onFilter={onFilter}
        />
      )}
    </Stack>
  )
}

function hasVariants(operation: string): boolean {
  return findOperation(operation)?.fields.some(({ name }) => name === 'content_variant') === true
}

export function FacetSection({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h2 className={`small bold ${styles.facetTitle}`}>{title}</h2>
      {children}
    </section>
  )
}

const FIRST_FACETS = 8

function FacetButtons({ runId, facets, filter, onFilter }: FacetProps) {
  const [all, setAll] = useState(false)
  const isLong = facets.length > FIRST_FACETS + 1
  const shown =
    all || !isLong ? facets : facets.filter((one, at) => at < FIRST_FACETS || isFacetChosen(filter, one))
  return (
    <>
      <ul>
        {shown.map((facet) => (
          <li key={`${facet.kind} ${facet.value}`}>
            <FacetButton
              name={<FacetName runId={runId} facet={facet} />}
              // A cause may quote content.
              title={facet.kind === 'cause' ? undefined : facet.label}
              rows={facet.rows}
              chosen={isFacetChosen(filter, facet)}
              onPick={() => onFilter(toggleFacet(filter, facet))}
            />
          </li>
        ))}
      </ul>
      {isLong && (
        <ActionButton
          label={all ? 'Show fewer' : `Show all ${formatCount(facets.length)}`}
          variant="subtle"
          small
          onClick={() => setAll(!all)}
        />
      )}
    </>
  )
}

/** Labels of all facets seen so far, since a chosen facet may have lost its rows. */
function useLabels(facets: readonly Facet[]): ReadonlyMap<string, string> {
  const labels = useRef(new Map<string, string>())
  for (const { kind, value, label } of facets) labels.current.set(`${kind} ${value}`, label)
  return labels.current
}

/** The facets with rows, and chosen facets without any. */
function withChosen(
  facets: readonly Facet[],
  filter: RowFilter,
  labels: ReadonlyMap<string, string>,
): Facet[] {
  const isShown = (chosen: FacetId) =>
    facets.some(({ kind, value }) => kind === chosen.kind && value === chosen.value)
  const others = listChosen(filter).filter((chosen) => !isShown(chosen))
  return [
    ...facets,
    ...others.map((chosen) => ({
      ...chosen,
      label: labels.get(`${chosen.kind} ${chosen.value}`) ?? toFacetLabel(chosen),
      rows: 0,
    })),
  ]
}

export function FacetButton(props: {
  name: ReactNode
  /** The full name, for places without room for it. */
  title?: string | undefined
  /** Number of rows that it leaves; absent if not counted. */
  rows?: number
  chosen: boolean
  onPick: () => void
}) {
  return (
    <button
      type="button"
      className={`bare row gap-2 w-full rounded ${styles.facet}`}
      aria-pressed={props.chosen}
      title={props.title}
      onClick={props.onPick}
    >
      <span className="flex-1 min-w-0 breaks pre-wrap">{props.name}</span>
      {props.rows !== undefined && <span className="flex-none quiet">{formatCount(props.rows)}</span>}
      {props.chosen && <IconX size="0.9rem" aria-label="(chosen, press to show all again)" />}
    </button>
  )
}

function countUnsuccessful(states: readonly Facet[]): number {
  return states.reduce(
    (sum, facet) => sum + (isRowState(facet.value) && isUnsuccessful(facet.value) ? facet.rows : 0),
    0,
  )
}

function FacetName({ runId, facet }: { runId: string; facet: Facet }) {
  if (facet.kind === 'answer' && isRowAnswer(facet.value)) return <AnswerLabel answer={facet.value} />
  if (facet.kind === 'verdict' && facet.value !== NO_VERDICT) {
    return <VerdictLabel verdict={{ verdict: facet.value as Verdict['verdict'], rule: null }} />
  }
  if (facet.kind === 'error') return <SafeText text={nameCode(facet.label)} max={60} />
  if (facet.kind === 'cause') {
    return (
      <ServiceMessage message={facet.label} request={askCauseRequest(runId, parseErrorKey(facet.value))}>
        {(text) => <SafeText text={text.replaceAll('`', '')} max={60} />}
      </ServiceMessage>
    )
  }
  if (facet.kind !== 'state' || !isRowState(facet.value))
    return <SafeText text={facet.label.replaceAll('`', '')} max={60} />
  const look = STATE_LOOKS[facet.value]
  const Icon = look.icon
  return (
    <span className={`inline-flex items-center medium ${styles.facetState}`} style={{ color: look.color }}>
      <Icon size="1.05em" aria-hidden />
      {look.word}
    </span>
  )
}

/** Least height of a band with rows, percent. */
const LEAST_PERCENT = 8

/** For each class, the number of rows in each band of scores, as bars that filter the rows when pressed. */
function ScoreFacets(props: FacetProps) {
  const classes = Map.groupBy(props.facets, ({ value }) => parseBand(value).className)
  if (classes.size === 0) return null
  return (
    <FacetSection title="Scores">
      <Stack gap="xs" px="xs">
        {[...classes].map(([className, facets]) => (
          <ClassBands key={className} {...props} className={className} facets={facets} />
        ))}
      </Stack>
    </FacetSection>
  )
}

/** The bands of a class. If all scores are in one band, there is nothing to choose, and only that is said. */
function ClassBands(props: FacetProps & { className: string }) {
  const { className, filter } = props
  const bands = props.facets
    .map((facet) => ({ ...facet, ...parseBand(facet.value) }))
    .sort((a, b) => a.from - b.from)
  const most = Math.max(1, ...bands.map(({ rows }) => rows))
  const ticks = toTicks(bands)
  const chosen = bands.filter((band) => isFacetChosen(filter, band))
  const [only, ...others] = bands
  if (only !== undefined && others.length === 0 && chosen.length === 0) {
    return (
      // biome-ignore lint/a11y/useSemanticElements: as below
      <div
        role="group"
        aria-label={`Score of ${className}`}
        className={`flex flex-wrap justify-between ${scoreStyles.single}`}
      >
        <SafeText text={className} max={40} />
        <span className="small block">
          {only.from} in {formatCounted(only.rows, 'row')}
        </span>
      </div>
    )
  }
  const words = chosen.length === 0 ? '' : chosen.map((band) => sayScoreBand(band)).join(' or ')
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset's legend cannot stand in a line with other text
    <div role="group" aria-label={`Score of ${className}`}>
      <div>
        <SafeText text={className} max={40} /> <span className="small block">{words}</span>
      </div>
      <div className={`flex items-end ${scoreStyles.bands}`}>
        {bands.map((band) => {
          const name = `${className} ${sayScoreBand(band)}: ${formatCounted(band.rows, 'row')}`
          // The square root keeps a few rows among a million visible.
          const percent = band.rows === 0 ? 0 : Math.max(LEAST_PERCENT, Math.sqrt(band.rows / most) * 100)
          return (
            <button
              key={band.value}
              type="button"
              className={`relative flex-1 min-w-0 h-full p-0 bg-sunken ${scoreStyles.band}`}
              aria-label={name}
              title={name}
              aria-pressed={isFacetChosen(filter, band)}
              onClick={() => props.onFilter(toggleFacet(filter, band))}
            >
              <span style={{ height: `${percent}%` }} />
            </button>
          )
        })}
      </div>
      <div
        className={`flex justify-between quiet ${scoreStyles.bandNote}`}
        data-ends={ticks.length < bands.length}
        aria-hidden
      >
        {ticks.map((tick) => (
          <span key={tick}>{tick}</span>
        ))}
      </div>
    </div>
  )
}

/** Labels below the bands: each whole number below its own, else the ends of the scale. */
function toTicks(bands: readonly { from: number; below: number | null }[]): number[] {
  const [first, second] = bands
  const last = bands.at(-1)?.from ?? 0
  const width = (second?.from ?? 1) - (first?.from ?? 0)
  if (width === 1 && last < 10) return bands.map(({ from }) => from)
  return [first?.from ?? 0, Number((last + width).toFixed(6))]
}
