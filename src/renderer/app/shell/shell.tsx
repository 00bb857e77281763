import { Modal, useMantineColorScheme } from '@mantine/core'
import { IconKeyboard, IconSearch, type TablerIcon } from '@tabler/icons-react'
import { type ComponentProps, type ReactNode, useState } from 'react'
import type { AppDescription } from '../../../shared/bridge/app.ts'
import { sayError } from '../../../shared/messages/error-messages.ts'
import { bridge, useConnection } from '../../bridge/client.ts'
import { useLiveRuns } from '../../bridge/live-runs.ts'
import { ActionButton } from '../../ui/controls.tsx'
import { Notice } from '../../ui/layout/screen.tsx'
import { Toasts } from '../../ui/layout/toasts.tsx'
import { nameKey, nameShortcut, useShortcut } from '../../ui/shortcuts.ts'
import { FactTable } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { focusTitle } from '../keep-focus.ts'
import { goTo, type Route } from '../route.ts'
import { Palette } from './palette.tsx'
import { Rail } from './rail.tsx'
import styles from './shell.module.css'

/** The frame of every screen: the rail, the connection's state, the drop area for files. */
export function Shell(props: {
  route: Route
  app: AppDescription | null
  isOver: boolean
  children: ReactNode
}) {
  const { route, app } = props
  const [opened, setOpened] = useState<'shortcuts' | 'palette' | null>(null)
  const close = () => setOpened(null)
  useShortcut({ key: '?' }, () => setOpened('shortcuts'))
  useShortcut({ key: 'k', mod: true, inFields: true }, () => setOpened('palette'))
  const { setColorScheme } = useMantineColorScheme()
  const connection = useConnection((known) => known.state)
  return (
    <div className={styles.shell}>
      <button type="button" className={styles.skip} onClick={focusTitle}>
        Skip to the screen
      </button>
      <Rail
        current={route}
        foot={
          <>
            <RailButton
              icon={IconSearch}
              label="Search"
              aria-haspopup="dialog"
              keys={nameShortcut(['Mod', 'K'])}
              onClick={() => setOpened('palette')}
            />
            <RailButton
              icon={IconKeyboard}
              label="Shortcuts"
              keys="?"
              onClick={() => setOpened('shortcuts')}
            />
            <span className={styles.version}>{app === null ? '' : `Sluice ${app.version}`}</span>
          </>
        }
      />
      <div className={`min-w-0 min-h-0 h-full relative grid ${styles.stage}`}>
        <div>
          {connection === 'lost' && (
            <div className={styles.above}>
              <Notice kind="error" title="Sluice does not answer; trying again">
                If you stopped it, start it again and use the new address it opens. A run that was cut off can
                be resumed.
              </Notice>
            </div>
          )}
          <CrashNotices route={route} />
        </div>
        <div className="stack min-w-0 min-h-0">{props.children}</div>
        {props.isOver && (
          <div className={`grid text-lg bold rounded-large accent ${styles.dropping}`}>
            Drop it to see how it is read. Nothing is sent yet.
          </div>
        )}
      </div>
      <Toasts />
      <ShortcutsDialog opened={opened === 'shortcuts'} onClose={close} />
      {opened === 'palette' && (
        <Palette setColours={setColorScheme} onShortcuts={() => setOpened('shortcuts')} onClose={close} />
      )}
    </div>
  )
}

/** A button that looks like an entry of the rail. */
function RailButton({
  icon: Mark,
  label,
  keys,
  ...others
}: ComponentProps<'button'> & { icon: TablerIcon; label: string; keys?: string }) {
  return (
    <button type="button" className={`bare row w-full gap-2 rounded ${styles.entry}`} {...others}>
      <span className={styles.mark} aria-hidden>
        <Mark size="1rem" />
      </span>
      <span className={`nowrap ${styles.label}`}>{label}</span>
      {keys !== undefined && (
        <kbd className={`ml-auto ${styles.keyHint}`} aria-hidden>
          {keys}
        </kbd>
      )}
    </button>
  )
}

/** The keyboard shortcuts, with `Mod` for Ctrl or ⌘. */
const SHORTCUTS: [does: string, ...keys: string[]][] = [
  ['Search places, runs and actions', 'Mod', 'K'],
  ['The main action of a screen', 'Mod', 'Enter'],
  ['Undo the last change', 'Mod', 'Z'],
  ['Next row, previous row', 'J', 'K'],
  ['Next part of the window', 'F6'],
  ['Previous part of the window', 'Shift', 'F6'],
  ['Check: next cause, previous cause', 'J', 'K'],
  ['Reveal the content of the row, or hide it', 'Space'],
  ['Open the row', 'Enter'],
  ['Search the results', '/'],
  ['First row, last row', 'Home', 'End'],
  ['Agree with the decision on the row', 'A'],
  ['A rule that the row should trigger', 'S'],
  ['A rule that the row should not trigger', 'D'],
  ['Unsure about the row', 'U'],
  ['Note on the row', 'N'],
  ['Remove the verdicts on the row', 'X'],
  ['Redo a verdict', 'Mod', 'Shift', 'Z'],
  ['Show more of a picture or video', 'M'],
  ['Blur pictures and videos again', 'Shift', 'M'],
  ['Labelling: choose or drop a rule', '1', '…', '9'],
  ['Labelling: save and go on', 'Enter'],
  ['Labelling: unsure, and go on', 'U'],
  ['Labelling: skip the row', 'S'],
  ['Labelling: go back, go forward', '←', '→'],
  ['Pause or resume the run', 'P'],
  ['Close what is open', 'Esc'],
  ['This list', '?'],
]

function ShortcutsDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Keyboard shortcuts">
      <FactTable
        look="plain"
        className={styles.keys}
        facts={SHORTCUTS.map(([does, ...keys]) => [
          does,
          keys.map((key) => <kbd key={key}>{nameKey(key)}</kbd>),
        ])}
      />
    </Modal>
  )
}

/**
 * Crashes, on every screen until dismissed: what was kept, and what to do. The screen of a run itself says
 * what ended the run.
 */
function CrashNotices({ route }: { route: Route }) {
  const all = useLiveRuns((live) => live.crashes)
  const shownRunId = route.kind === 'run' ? route.runId : null
  const crashes = all.filter(({ runId }) => runId === null || runId !== shownRunId)
  if (crashes.length === 0) return null
  return (
    <div className={`${styles.above} ${styles.crashes}`}>
      {crashes.map(({ crashId, said, runId }) => {
        const { message, hint } = sayError(said, 'window')
        const dismiss = () => void bridge.crashes.dismiss({ crashId }).catch(() => {})
        return (
          <Notice
            key={crashId}
            kind="error"
            title={<SafeText text={message} max={600} lines />}
            actions={
              <>
                {runId !== null && (
                  <ActionButton
                    label="Open the run"
                    variant="filled"
                    small
                    onClick={() => {
                      goTo({ kind: 'run', runId })
                      dismiss()
                    }}
                  />
                )}
                <ActionButton label="Dismiss" small onClick={dismiss} />
              </>
            }
          >
            {hint}
          </Notice>
        )
      })}
    </div>
  )
}
