import { Modal, type useMantineColorScheme } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { toShownState } from '../../../shared/run/run.ts'
import { ask } from '../../bridge/client.ts'
import { formatTimestamp } from '../../ui/format-time.ts'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { continueDraft } from '../flow.ts'
import { goTo } from '../route.ts'
import styles from './palette.module.css'
import { PLACES } from './rail.tsx'

export interface Command {
  group: string
  label: string
  /** Id of what it opens (default: its name). */
  id?: string
  /** Distinguishes it from others with the same name. */
  hint?: string
  run: () => void
}

const RUNS_OFFERED = 8

/** Finds a place, run, action or setting by a few letters of its name, and opens or performs it. */
export function Palette(props: {
  setColours: ReturnType<typeof useMantineColorScheme>['setColorScheme']
  onShortcuts: () => void
  onClose: () => void
}) {
  const { onClose } = props
  const id = useId()
  const [typed, setTyped] = useState('')
  const [chosen, setChosen] = useState(0)
  const [onScreen] = useState(listScreenCommands)
  const search = typed.trim()
  const runs = useQuery({
    ...ask.runs.list.queryOptions({ input: { limit: RUNS_OFFERED, ...(search !== '' && { search }) } }),
    placeholderData: keepPreviousData,
  })
  const found = (runs.data?.entries ?? []).map(
    ({ summary }): Command => ({
      group: search === '' ? 'Newest runs' : 'Runs',
      label: summary.name,
      id: summary.run_id,
      hint: `${toShownState(summary)}, ${formatTimestamp(summary.started_at ?? summary.created_at)}`,
      run: () => goTo({ kind: 'run', runId: summary.run_id }),
    }),
  )
  const commands = [
    ...findCommands([...onScreen, ...listCommands(props)], search),
    // While a new search is in progress, Enter must not open a run from the previous one.
    ...(runs.isPlaceholderData ? findCommands(found, search) : found),
  ]
  const active = Math.min(chosen, commands.length - 1)
  const list = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another choice has to be in sight
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [active, typed])

  const act = (command: Command | undefined) => {
    if (command === undefined) return
    onClose()
    // The closing dialog returns the focus first; the command may then move it.
    requestAnimationFrame(() => command.run())
  }
  const press = (event: KeyboardEvent) => {
    const moved = toMovedChoice(event.key, active, commands.length)
    if (moved !== null) setChosen(moved)
    else if (event.key === 'Enter') act(commands[active])
    else return
    event.preventDefault()
  }
  return (
    <Modal.Root opened onClose={onClose} centered={false} padding={0} size="36rem">
      <Modal.Overlay />
      <Modal.Content aria-label="Commands">
        <input
          className={`w-full p-3-4 ${styles.search}`}
          role="combobox"
          aria-label="Search places, runs and actions"
          aria-expanded={commands.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={commands.length > 0 ? `${id}-${active}` : undefined}
          placeholder="Search places, runs and actions"
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          value={typed}
          onChange={(event) => {
            setTyped(event.currentTarget.value)
            setChosen(0)
          }}
          onKeyDown={press}
        />
        <div className={styles.list} id={`${id}-list`} role="listbox" aria-label="Commands" ref={list}>
          {commands.map((command, index) => (
            <div key={`${command.group} ${command.id ?? command.label}`}>
              {command.group !== commands[index - 1]?.group && (
                <div className={`text-xs quiet ${styles.group}`} role="presentation">
                  {command.group}
                </div>
              )}
              {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, which keeps the focus */}
              <div
                id={`${id}-${index}`}
                role="option"
                tabIndex={-1}
                aria-selected={index === active}
                className={`flex flex-wrap justify-between rounded breaks ${styles.option}`}
                onMouseMove={() => setChosen(index)}
                onClick={() => act(command)}
              >
                <SafeText text={command.label} max={120} />
                {command.hint !== undefined && <span className="quiet">{command.hint}</span>}
              </div>
            </div>
          ))}
        </div>
        <p className="quiet p-2-4 border-t text-xs" role="status">
          {commands.length === 0 && !runs.isFetching ? (
            'Nothing found. Try fewer letters.'
          ) : (
            <>
              <kbd>↑</kbd> <kbd>↓</kbd> choose, <kbd>Enter</kbd> opens, <kbd>Esc</kbd> closes
            </>
          )}
        </p>
      </Modal.Content>
    </Modal.Root>
  )
}

/** The choice after a key among `count` commands, wrapping around; null for keys that do not move it. */
export function toMovedChoice(key: string, active: number, count: number): number | null {
  if (count === 0) return null
  if (key === 'ArrowDown') return (active + 1) % count
  if (key === 'ArrowUp') return (active + count - 1) % count
  return null
}

/** The commands whose words begin with all typed words, in order. */
export function findCommands(commands: readonly Command[], typed: string): Command[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  return commands.filter(({ label, group }) => {
    const text = ` ${label} ${group}`.toLowerCase()
    return words.every((word) => text.includes(` ${word}`))
  })
}

function listCommands(props: Pick<Parameters<typeof Palette>[0], 'setColours' | 'onShortcuts'>): Command[] {
  return [
    ...PLACES.map(({ label, route }) => ({ group: 'Places', label, run: () => goTo(route) })),
    { group: 'Places', label: 'New run', run: continueDraft },
    { group: 'Window', label: 'Light colours', run: () => props.setColours('light') },
    { group: 'Window', label: 'Dark colours', run: () => props.setColours('dark') },
    { group: 'Window', label: 'Colours of the system', run: () => props.setColours('auto') },
    { group: 'Window', label: 'Keyboard shortcuts', run: props.onShortcuts },
  ]
}

/** Commands of the screen behind the palette: its steps or tabs, and the actions of its header. */
function listScreenCommands(): Command[] {
  const found = document.querySelectorAll<HTMLElement>('#screen nav a, #screen > header button:enabled')
  const byLabel = new Map<string, Command>()
  for (const element of found) {
    const label =
      element.ariaLabel ?? element.querySelector('[data-name]')?.textContent ?? element.innerText.trim()
    // A tab wins over a button that leads to it.
    if (!byLabel.has(label)) byLabel.set(label, { group: 'This screen', label, run: () => element.click() })
  }
  return [...byLabel.values()]
}
