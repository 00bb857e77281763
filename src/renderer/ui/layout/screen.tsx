import { Group } from '@mantine/core'
import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleX,
  IconInfoCircle,
  type TablerIcon,
} from '@tabler/icons-react'
import { createContext, type ReactNode, useContext, useId } from 'react'
import { toShownError } from '../../../shared/bridge/errors.ts'
import { ActionButton, ScrollRegion } from '../controls.tsx'
import { MessageText } from '../text/safe-text.tsx'
import styles from './layout.module.css'

/** The common frame of related screens, such as those of a run. */
interface Frame {
  /** Their common subject, such as the run's name. */
  of?: string
  /** Shown above the header. */
  above?: ReactNode
  /** Replaces the title in the header, and has the first-level heading; the sentence moves to the body. */
  head?: ReactNode
  /** Shown below the header. */
  below?: ReactNode
}

const FrameContext = createContext<Frame>({})

/** Puts a frame around every {@link Screen} in it. */
export const ScreenFrame = FrameContext.Provider

/**
 * Every screen: a title, a sentence, actions on the right (the main one last) and the body. A `fixed` body
 * does not scroll, because a table inside it does.
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
      className={`stack flex-1 min-w-0 min-h-0 h-full ${styles.screen}`}
      id="screen"
      tabIndex={-1}
      aria-label={of === undefined ? props.title : `${props.title} of ${of}`}
    >
      <title>{[props.title, of, 'Sluice'].filter((part) => part !== undefined).join(' – ')}</title>
      {above}
      <header className={`row flex-wrap border-b bg-surface flex-none ${styles.header}`}>
        <div className={`min-w-0 ${styles.titles}`}>
          {head ?? (
            <>
              <h1 className={`truncate max-w-full text-lg bold leading-tight ${styles.title}`}>
                {props.title}
              </h1>
              {props.subtitle !== undefined && (
                <p className={`quiet breaks pre-wrap ${styles.subtitle}`}>{props.subtitle}</p>
              )}
            </>
          )}
        </div>
        <div className="row gap-2 shrink flex-wrap">{props.actions}</div>
      </header>
      {below}
      {props.fixed ? (
        <div className="relative flex-1 min-h-0 flex">{props.children}</div>
      ) : (
        <ScrollRegion className={`stack min-h-0 gap-4 ${styles.body}`} label={props.title}>
          {head !== undefined && props.subtitle !== undefined && (
            <p className={`quiet breaks ${styles.lead}`}>{props.subtitle}</p>
          )}
          {props.children}
        </ScrollRegion>
      )}
    </main>
  )
}

/**
 * A titled surface, with `aside` on the right of its title. `flush` drops the padding around a table;
 * `scrolls` lets the keyboard scroll it if it contains nothing focusable.
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
    <section className="border rounded-large bg-surface min-w-0" aria-labelledby={id}>
      <div className={`row justify-between gap-3 border-b ${styles.panelHead}`}>
        <h2 className="text-sm bold nowrap" id={id}>
          {props.title}
        </h2>
        {props.aside !== undefined && (
          <div className={`row quiet flex-wrap gap-3 ${styles.panelAside}`}>{props.aside}</div>
        )}
      </div>
      {props.scrolls ? (
        <ScrollRegion label={`${props.title}: table`}>{props.children}</ScrollRegion>
      ) : (
        <div className={props.flush ? 'relative overflow-auto' : 'p-3-4'}>{props.children}</div>
      )}
    </section>
  )
}

/** As many columns of at least this width as fit, equally wide and, unless they are apart, equally high. */
export function Columns(props: { least: string; areApart?: true; children: ReactNode }) {
  return (
    <div
      className="grid gap-4"
      style={{
        gridTemplateColumns: `repeat(auto-fit, minmax(min(100%, ${props.least}), 1fr))`,
        alignItems: props.areApart ? 'start' : 'stretch',
      }}
    >
      {props.children}
    </div>
  )
}

/** A number with its name, like the display of an instrument. */
export interface Figure {
  label: string
  value: ReactNode
  /** A word or unit in smaller type beside the value. */
  unit?: string
  /** A line below the value. */
  note?: ReactNode
}

/** Numbers side by side, each below its name; false ones are left out. */
export function Figures({ figures }: { figures: readonly (Figure | false)[] }) {
  return (
    <Group component="dl" gap="var(--space-3) var(--space-6)" align="stretch">
      {figures
        .filter((figure) => figure !== false)
        .map((figure) => (
          <div key={figure.label} className={styles.figure}>
            <dt className="small">{figure.label}</dt>
            <dd>
              <span className={`text-figure medium leading-tight ${styles.figureValue}`}>{figure.value}</span>
              {figure.unit !== undefined && <span className="quiet text-sm"> {figure.unit}</span>}
              {figure.note !== undefined && <div className="small">{figure.note}</div>}
            </dd>
          </div>
        ))}
    </Group>
  )
}

/** Shown while there is nothing: what will be here, and how to get it. */
export function Empty(props: { icon: TablerIcon; title: string; children?: ReactNode; actions?: ReactNode }) {
  const Icon = props.icon
  return (
    <div className={`stack items-center gap-2 ${styles.empty}`}>
      <Icon size="2rem" stroke={1.25} className="quiet" aria-hidden />
      <p className="text-md bold">{props.title}</p>
      {props.children !== undefined && (
        <div className={`max-w-text quiet ${styles.emptyText}`}>{props.children}</div>
      )}
      {props.actions !== undefined && (
        <Group gap="xs" align="stretch" wrap="nowrap" mt="sm">
          {props.actions}
        </Group>
      )}
    </div>
  )
}

const KINDS = {
  info: { icon: IconInfoCircle, word: 'Note', wash: 'neutral', tone: 'quiet' },
  good: { icon: IconCircleCheck, word: 'Done', wash: 'good', tone: 'good' },
  warning: { icon: IconAlertTriangle, word: 'Warning', wash: 'warning', tone: 'warned' },
  error: { icon: IconCircleX, word: 'Error', wash: 'bad', tone: 'bad' },
} as const

/** A message: what happened, and below that what to do. Announced when it appears. */
export function Notice(props: {
  kind: keyof typeof KINDS
  title: ReactNode
  children?: ReactNode
  actions?: ReactNode
  /** If the surrounding element announces it. */
  isSilent?: boolean
}) {
  const { icon: Icon, word, wash, tone } = KINDS[props.kind]
  const role = props.kind === 'error' ? 'alert' : 'status'
  return (
    <div
      className={`flex flex-wrap items-start gap-3 p-3-4 border rounded-large ${styles.notice}`}
      style={{ background: `var(--wash-${wash})` }}
      role={props.isSilent === true ? undefined : role}
    >
      <Icon size="1.25rem" stroke={2} className={`flex-none ${tone}`} aria-hidden />
      <div className={styles.noticeText}>
        <strong>
          <span className="visually-hidden">{word}: </span>
          {props.title}
        </strong>
        {props.children !== undefined && <div>{props.children}</div>}
      </div>
      {props.actions !== undefined && <div className="flex flex-none gap-2">{props.actions}</div>}
    </div>
  )
}

/** Why a call to the engine failed, and what to do. */
export function ErrorNotice(props: {
  error: unknown
  isSilent?: boolean
  onRetry?: () => void
  onDismiss?: (() => void) | undefined
}) {
  const { message, hint } = toShownError(props.error)
  return (
    <Notice
      kind="error"
      isSilent={props.isSilent === true}
      title={<MessageText text={message} max={1_000} />}
      actions={
        <>
          {props.onRetry && <ActionButton label="Try again" small onClick={() => props.onRetry?.()} />}
          {props.onDismiss && <ActionButton label="Dismiss" small onClick={() => props.onDismiss?.()} />}
        </>
      }
    >
      <MessageText text={hint} max={1_000} />
    </Notice>
  )
}
