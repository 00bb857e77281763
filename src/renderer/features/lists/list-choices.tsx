import { Select } from '@mantine/core'
import { IconCheck, IconSearch } from '@tabler/icons-react'
import { useRef } from 'react'
import {
  LEDGER_STATES,
  type Ledger,
  type LedgerService,
  type LedgerState,
} from '../../../shared/lookback/ledger.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import type { NamePlace } from '../../ui/connection/destination.ts'
import { TextField } from '../../ui/controls.tsx'
import { Panel } from '../../ui/layout/screen.tsx'
import { useShortcut } from '../../ui/shortcuts.ts'
import { type Column, Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { LIST_LOOKS, nameService, toListStateLook, toServiceKey } from './list-looks.ts'
import styles from './lists.module.css'

export interface Chosen {
  service: LedgerService | null
  list: string | null
  states: readonly LedgerState[]
  search: string
  offset: number
}

/** Whether the entries of one list are shown, and not the lists there are. */
export function isChosen(ledger: Ledger): boolean {
  return ledger.of === 'appeals' || ledger.list !== null
}

/** The service, the list, the states and the search. */
export function Choices(props: {
  ledger: Ledger
  chosen: Chosen
  namePlace: NamePlace
  onChoose: (part: Partial<Chosen>) => void
}) {
  const { ledger, chosen, namePlace, onChoose } = props
  const { of, service, services, lists, list } = ledger
  const field = useRef<HTMLInputElement>(null)
  useShortcut({ key: '/' }, () => field.current?.focus())
  const look = LIST_LOOKS[of]
  const toggle = (state: LedgerState) =>
    onChoose({
      states: chosen.states.includes(state)
        ? chosen.states.filter((one) => one !== state)
        : [...chosen.states, state],
    })
  return (
    <>
      <search className={`flex flex-wrap items-end gap-3 ${styles.choices}`} aria-label="Filters">
        {services.length > 1 && (
          <Select
            label="Service"
            data={services.map((one) => ({ value: toServiceKey(one), label: nameService(one, namePlace) }))}
            value={toServiceKey(service)}
            onChange={(key) => {
              const found = services.find((one) => toServiceKey(one) === key)
              if (found !== undefined) onChoose({ service: found, list: null })
            }}
          />
        )}
        {look.list !== null && lists.length > 1 && list !== null && (
          <Select
            label={look.list}
            data={lists.map(({ name }) => name)}
            value={list}
            onChange={(name) => onChoose({ list: name, service })}
          />
        )}
        {isChosen(ledger) && (
          <TextField
            ref={field}
            label="Search"
            placeholder={of === 'index' ? 'Id, address, metadata' : `Text of the ${look.noun}`}
            title="Entries that contain this text ( / )"
            leftSection={<IconSearch size="1rem" aria-hidden />}
            value={chosen.search}
            onValue={(search) => onChoose({ search })}
            isLiteral
            className={styles.search ?? ''}
          />
        )}
        <p className={`quiet ${styles.origin}`}>
          {services.length === 1 && `${nameService(service, namePlace)} · `}
          {formatCounted(ledger.runs, 'run')}
        </p>
      </search>
      {isChosen(ledger) && (
        <fieldset className={`grid gap-2 m-0 p-0 border-0 ${styles.states}`}>
          <legend className="visually-hidden">States</legend>
          {LEDGER_STATES[of].map((state) => {
            const { word, meaning, color } = toListStateLook(of, state)
            const count = ledger.counts[state] ?? 0
            return (
              <button
                key={state}
                type="button"
                aria-pressed={chosen.states.includes(state)}
                onClick={() => toggle(state)}
              >
                <span
                  className={`flex gap-1 text-lg bold ${styles.count}`}
                  style={{ color: count === 0 ? 'var(--text-2)' : color }}
                >
                  {formatCount(count)} <span className="text-sm">{word}</span>
                  <IconCheck size="1rem" className="flex-none ml-auto accent" aria-hidden />
                </span>
                <small className="small">{meaning}</small>
              </button>
            )
          })}
        </fieldset>
      )}
    </>
  )
}

/** Every list of the service with its counts, where one has to be chosen. */
export function ListChoice({ ledger, onList }: { ledger: Ledger; onList: (list: string) => void }) {
  const { of, lists } = ledger
  return (
    <Panel title={`Choose one of ${formatCount(lists.length)}`} flush>
      <Table
        className={styles.table}
        caption={LIST_LOOKS[of].title}
        rows={lists}
        toKey={({ name }) => name}
        columns={[
          {
            title: LIST_LOOKS[of].list,
            cell: ({ name }) => (
              <button
                type="button"
                className={`p-0 border-0 accent ${styles.link}`}
                onClick={() => onList(name)}
              >
                <SafeText text={name} max={80} />
              </button>
            ),
          },
          ...LEDGER_STATES[of].map(
            (state): Column<(typeof lists)[number]> => ({
              title: toListStateLook(of, state).word,
              isNumber: true,
              cell: ({ counts }) => formatCount(counts[state] ?? 0),
            }),
          ),
        ]}
      />
    </Panel>
  )
}
