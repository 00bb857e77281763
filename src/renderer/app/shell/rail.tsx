import { type Icon, IconCheck, IconList } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import iconUrl from '../../icon.svg'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { type Route, toHash } from '../route.ts'
import styles from './shell.module.css'

/** One entry of the rail. */
interface RailEntry {
  label: string
  icon: Icon
  route: Route
  /** Why it cannot be opened yet; absent where it can. */
  closed?: string
  done?: boolean
}

/** A heading and the entries under it. */
export interface RailGroup {
  heading: string
  /** What the group is about, such as a run's name. */
  about?: string
  entries: RailEntry[]
}

/**
 * The rail of screens: home, the steps of the run being prepared, the screens of the run being looked at. In a narrow
 * window it is a strip of icons that opens over the screen while it is pointed at or has the keyboard's focus.
 */
export function Rail(props: { current: Route; groups: RailGroup[]; foot: ReactNode }) {
  const here = toHash(props.current)
  return (
    <nav className={styles.rail} aria-label="Screens">
      <div className={styles.brand}>
        <img src={iconUrl} alt="" width="22" height="22" />
        <span className={styles.label}>Sluice</span>
      </div>
      <ul>
        <li>
          <a
            className={styles.entry}
            href={toHash({ kind: 'runs' })}
            aria-current={props.current.kind === 'runs' ? 'page' : undefined}
          >
            <span className={styles.mark} aria-hidden>
              <IconList size="1rem" />
            </span>
            <span className={styles.label}>Runs</span>
          </a>
        </li>
      </ul>
      {props.groups.map((group) => (
        <div key={group.heading}>
          <h2 className={styles.heading}>{group.heading}</h2>
          {group.about !== undefined && (
            <p className={styles.about} title={group.about}>
              <SafeText text={group.about} max={80} />
            </p>
          )}
          <ol>
            {group.entries.map((entry) => (
              <RailLink key={entry.label} entry={entry} here={here} />
            ))}
          </ol>
        </div>
      ))}
      <div className={styles.foot}>{props.foot}</div>
    </nav>
  )
}

function RailLink({ entry, here }: { entry: RailEntry; here: string }) {
  const hash = toHash(entry.route)
  const Mark = entry.done ? IconCheck : entry.icon
  const mark = (
    <span className={styles.mark} aria-hidden>
      <Mark size="1rem" />
    </span>
  )
  if (entry.closed !== undefined) {
    return (
      <li>
        <span className={`${styles.entry} ${styles.closed}`} title={entry.closed}>
          {mark}
          <span className={styles.label}>{entry.label}</span>
          <span className="visually-hidden"> (not yet: {entry.closed})</span>
        </span>
      </li>
    )
  }
  return (
    <li>
      <a className={styles.entry} href={hash} aria-current={hash === here ? 'page' : undefined}>
        {mark}
        <span className={styles.label}>{entry.label}</span>
        {entry.done && <span className="visually-hidden"> (done)</span>}
      </a>
    </li>
  )
}
