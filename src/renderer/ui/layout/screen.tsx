import { Group } from '@mantine/core'
import type { TablerIcon } from '@tabler/icons-react'
import { createContext, type ReactNode, useContext, useId } from 'react'
import styles from './layout.module.css'

/** What screens that belong together have around them, such as those of a run. */
interface Frame {
  /** What they are all about, such as the name of the run. */
  of?: string
  /** Stands above the header. */
  above?: ReactNode
  /** Takes the place of the title in the header, and holds the heading of the first level; the sentence begins the body. */
  head?: ReactNode
  /** Stands under the header. */
  below?: ReactNode
}

const FrameContext = createContext<Frame>({})

/** Puts a frame around every {@link Screen} in it. */
export const ScreenFrame = FrameContext.Provider

/**
 * Every screen: a title, one sentence, the actions at the right (the primary one last) and the body. `fixed` bodies do
 * not scroll themselves, because a table inside them does.
 */
export function Screen(props: {
  title: string
  subtitle?: ReactNode
  actions?: ReactNode
  fixed?: boolean
  children: ReactNode
}) {
  const { of, above, head, below } = useContext(FrameContext)
  return (
    <main
      className={styles.screen}
      id="screen"
      tabIndex={-1}
      aria-label={of === undefined ? props.title : `${props.title} of ${of}`}
    >
      <title>{[props.title, of, 'Sluice'].filter((part) => part !== undefined).join(' – ')}</title>
      {above}
      <header className={styles.header}>
        <div className={styles.titles}>
          {head ?? (
            <>
              <h1 className={styles.title}>{props.title}</h1>
              {props.subtitle !== undefined && <p className={styles.subtitle}>{props.subtitle}</p>}
            </>
          )}
        </div>
        <div className={styles.actions}>{props.actions}</div>
      </header>
      {below}
      {props.fixed ? (
        <div className={styles.fixed}>{props.children}</div>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        <section className={styles.body} tabIndex={0} aria-label={props.title}>
          {head !== undefined && props.subtitle !== undefined && (
            <p className={styles.lead}>{props.subtitle}</p>
          )}
          {props.children}
        </section>
      )}
    </main>
  )
}

/**
 * A titled surface; `aside` stands at the right of its title. `flush` drops the padding around a
 * table, `scrolls` lets the keyboard scroll it where nothing in it takes the focus.
 */
export function Panel(props: {
  title: string
  aside?: ReactNode
  flush?: boolean
  scrolls?: boolean
  children: ReactNode
}) {
  const id = useId()
  return (
    <section className={styles.panel} aria-labelledby={id}>
      <div className={styles.panelHead}>
        <h2 className={styles.panelTitle} id={id}>
          {props.title}
        </h2>
        {props.aside !== undefined && <div className={styles.panelAside}>{props.aside}</div>}
      </div>
      {props.scrolls ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        <section className={styles.panelFlush} tabIndex={0} aria-label={`${props.title}: table`}>
          {props.children}
        </section>
      ) : (
        <div className={props.flush ? styles.panelFlush : styles.panelBody}>{props.children}</div>
      )}
    </section>
  )
}

/** As many columns as have room for that width, all of them as wide and, unless they are apart, as high. */
export function Columns(props: { least: string; areApart?: true; children: ReactNode }) {
  return (
    <div
      className={styles.columns}
      style={{
        gridTemplateColumns: `repeat(auto-fit, minmax(min(100%, ${props.least}), 1fr))`,
        alignItems: props.areApart ? 'start' : 'stretch',
      }}
    >
      {props.children}
    </div>
  )
}

/** One number with its name: what a measuring instrument shows. */
export interface Figure {
  label: string
  value: ReactNode
  /** A word or unit set smaller next to the value. */
  unit?: string
  /** A line under the value. */
  note?: ReactNode
}

/** Numbers side by side, each under its name. */
export function Figures({ figures }: { figures: Figure[] }) {
  return (
    <Group component="dl" gap="var(--space-3) var(--space-6)" align="stretch">
      {figures.map((figure) => (
        <div key={figure.label} className={styles.figure}>
          <dt>{figure.label}</dt>
          <dd>
            <span className={styles.figureValue}>{figure.value}</span>
            {figure.unit !== undefined && <span className={styles.figureUnit}> {figure.unit}</span>}
            {figure.note !== undefined && <div className="small">{figure.note}</div>}
          </dd>
        </div>
      ))}
    </Group>
  )
}

/** What stands where there is nothing yet: what will be here, and how it comes to be. */
export function Empty(props: { icon: TablerIcon; title: string; children?: ReactNode; actions?: ReactNode }) {
  const Icon = props.icon
  return (
    <div className={styles.empty}>
      <Icon size="2rem" stroke={1.25} aria-hidden />
      <p className={styles.emptyTitle}>{props.title}</p>
      {props.children !== undefined && <div className={styles.emptyText}>{props.children}</div>}
      {props.actions !== undefined && (
        <Group gap="xs" align="stretch" wrap="nowrap" mt="sm">
          {props.actions}
        </Group>
      )}
    </div>
  )
}
