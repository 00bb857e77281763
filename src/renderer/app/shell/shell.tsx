import { ActionIcon, Group, Modal, useMantineColorScheme } from '@mantine/core'
import { IconDeviceDesktop, IconKeyboard, IconMoon, IconSun, type TablerIcon } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { AppDescription } from '../../../shared/bridge/app.ts'
import { ask, useConnection } from '../../bridge/client.ts'
import { useLiveRuns } from '../../bridge/live-runs.ts'
import { Notice } from '../../ui/layout/notice.tsx'
import { isLoadTest } from '../../ui/states/run-state.tsx'
import { useHotkey } from '../../ui/use-hotkey.ts'
import { useDraft } from '../draft.ts'
import type { Route } from '../route.ts'
import { Rail, toRailGroups } from './rail.tsx'
import styles from './shell.module.css'

/** What stands around every screen: the rail, the state of the connection, the place where a file is dropped. */
export function Shell(props: {
  route: Route
  app: AppDescription | null
  isOver: boolean
  children: ReactNode
}) {
  const { route, app } = props
  const [keysOpen, setKeysOpen] = useState(false)
  useHotkey({ key: '?' }, () => setKeysOpen(true))
  const connection = useConnection((known) => known.state)
  const hasSource = useDraft((draft) => draft.source !== null)
  const hasPreview = useDraft((draft) => draft.preview !== null)
  const isChecked = useDraft((draft) => draft.heldRunId !== null)
  const sourceName = useDraft((draft) => draft.source?.name)
  const runId = findRunOf(route)
  const runName = useLiveRuns((live) => (runId === null ? undefined : live.summaries[runId]?.name))
  const isLoad = useLiveRuns((live) => {
    const summary = runId === null ? undefined : live.summaries[runId]
    return summary !== undefined && isLoadTest(summary)
  })
  const search = useQuery(ask.capacity.newest.queryOptions()).data ?? null
  const hasRules = useLiveRuns(
    (live) => (runId === null ? undefined : live.summaries[runId]?.operation) === 'task',
  )
  const groups = toRailGroups({
    hasSource,
    hasPreview,
    isChecked,
    sourceName,
    runId,
    runName,
    isLoad,
    searchId: search?.searchId ?? null,
    hasRules,
    route,
  })
  return (
    <div className={styles.shell}>
      <button type="button" className={styles.skip} onClick={skipToScreen}>
        Skip to the screen
      </button>
      <Rail
        current={route}
        groups={groups}
        foot={
          <>
            <div className={styles.footRow}>
              <SchemeSwitch />
              <ActionIcon aria-label="Keys" title="Keys ( ? )" onClick={() => setKeysOpen(true)}>
                <IconKeyboard size="1.1rem" aria-hidden />
              </ActionIcon>
            </div>
            <span className={styles.version}>{app === null ? '' : `Sluice ${app.version}`}</span>
          </>
        }
      />
      <div className={styles.stage}>
        {connection === 'lost' ? (
          <div className={styles.above}>
            <Notice kind="error" title="Sluice does not answer; trying again">
              If you stopped it, start it again and use the new address it opens. A run that was cut off can
              be resumed.
            </Notice>
          </div>
        ) : (
          <div />
        )}
        <div className={styles.screen}>{props.children}</div>
        {props.isOver && (
          <div className={styles.dropping}>Drop it to see how it is read. Nothing is sent yet.</div>
        )}
      </div>
      <KeysDialog opened={keysOpen} onClose={() => setKeysOpen(false)} />
    </div>
  )
}

/** The run that a screen is about; of several that are compared, the last. */
function findRunOf(route: Route): string | null {
  if (route.kind === 'compare') return route.runIds.at(-1) ?? null
  return 'runId' in route ? route.runId : null
}

function skipToScreen(): void {
  document.getElementById('screen')?.focus()
}

const SCHEMES: { value: 'auto' | 'light' | 'dark'; name: string; icon: TablerIcon }[] = [
  { value: 'auto', name: 'Colours as the system has them', icon: IconDeviceDesktop },
  { value: 'light', name: 'Light colours', icon: IconSun },
  { value: 'dark', name: 'Dark colours', icon: IconMoon },
]

/** Light, dark, or as the system says; remembered on this machine. */
function SchemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Group gap={2}>
      {SCHEMES.map(({ value, name, icon: Icon }) => (
        <ActionIcon
          key={value}
          aria-label={name}
          title={name}
          aria-pressed={colorScheme === value}
          variant={colorScheme === value ? 'default' : 'subtle'}
          onClick={() => setColorScheme(value)}
        >
          <Icon size="1rem" aria-hidden />
        </ActionIcon>
      ))}
    </Group>
  )
}

const KEYS: [does: string, ...keys: string[]][] = [
  ['The main action of a screen', 'Ctrl', 'Enter'],
  ['Next row, previous row', 'J', 'K'],
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
  ['Undo a verdict', 'Ctrl', 'Z'],
  ['Redo a verdict', 'Ctrl', 'Shift', 'Z'],
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

/** Every key that does something, in one list. */
function KeysDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Keys" closeButtonProps={{ 'aria-label': 'Close' }}>
      <table className={styles.keys}>
        <tbody>
          {KEYS.map(([does, ...keys]) => (
            <tr key={does}>
              <th scope="row">{does}</th>
              <td>
                {keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Modal>
  )
}
