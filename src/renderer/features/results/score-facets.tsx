import { Stack } from '@mantine/core'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { type Facet, parseBand, type RowFilter } from '../../../shared/run/row-filters.ts'
import { sayScoreBand } from '../../../shared/run/score-bands.ts'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './results.module.css'
import { isFacetChosen, toggleFacet } from './row-filter.ts'
import scoreStyles from './scores.module.css'

/** Least height of a band that has rows, percent. */
const LEAST_PERCENT = 8

/** Of each class how many rows have a score in each band, drawn as bars that narrow the rows when they are pressed. */
export function ScoreFacets(props: {
  facets: readonly Facet[]
  filter: RowFilter
  onFilter: (filter: RowFilter) => void
}) {
  const classes = Map.groupBy(props.facets, ({ value }) => parseBand(value).className)
  if (classes.size === 0) return null
  return (
    <section aria-label="Scores">
      <h2 className={`small bold ${styles.facetTitle}`}>Scores</h2>
      <Stack gap="xs" px="xs">
        {[...classes].map(([className, facets]) => (
          <ClassBands key={className} {...props} className={className} facets={facets} />
        ))}
      </Stack>
    </section>
  )
}

/** The bands of a class. A class whose scores are all in one leaves nothing to choose, so only that is said. */
function ClassBands(props: {
  className: string
  facets: readonly Facet[]
  filter: RowFilter
  onFilter: (filter: RowFilter) => void
}) {
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
      <div className={scoreStyles.bands}>
        {bands.map((band) => {
          const name = `${className} ${sayScoreBand(band)}: ${formatCounted(band.rows, 'row')}`
          // Few rows among a million would not be seen; the square root keeps them in sight.
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

/** What stands under the bands: each whole number under its own, else where the scale begins and ends. */
function toTicks(bands: readonly { from: number; below: number | null }[]): number[] {
  const [first, second] = bands
  const last = bands.at(-1)?.from ?? 0
  const width = (second?.from ?? 1) - (first?.from ?? 0)
  if (width === 1 && last < 10) return bands.map(({ from }) => from)
  return [first?.from ?? 0, Number((last + width).toFixed(6))]
}
