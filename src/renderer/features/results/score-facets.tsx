import { formatCounted } from '../../../shared/messages/figure-text.ts'
import type { Facet, RowFilter } from '../../../shared/run/results.ts'
import { sayScoreBand } from '../../../shared/run/score-bands.ts'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './results.module.css'
import { isFacetChosen, parseBand, toggleFacet } from './row-filter.ts'
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
      <h2 className={styles.facetTitle}>Scores</h2>
      <div className={scoreStyles.classes}>
        {[...classes].map(([className, facets]) => (
          <ClassBands key={className} {...props} className={className} facets={facets} />
        ))}
      </div>
    </section>
  )
}

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
  const chosen = bands.filter((band) => isFacetChosen(filter, band))
  const words = chosen.length === 0 ? '' : chosen.map((band) => sayScoreBand(band)).join(' or ')
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset's legend cannot stand in a line with other text
    <div role="group" aria-label={`Score of ${className}`}>
      <div>
        <SafeText text={className} max={40} /> <span className={scoreStyles.note}>{words}</span>
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
              className={scoreStyles.band}
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
      <div className={scoreStyles.bandNote} aria-hidden>
        <span>{bands[0]?.from ?? 0}</span>
        <span>{toEnd(bands.at(-1)?.from ?? 0, bands.length)}</span>
      </div>
    </div>
  )
}

/** Where the last of ten bands ends; whole numbers are bands of their own. */
function toEnd(from: number, bands: number): number {
  return bands === 10 ? Math.round((from / 9) * 10 * 1000) / 1000 : from
}
