import { ActionIcon, Menu } from '@mantine/core'
import { IconBookmark, IconDots, IconHistory } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { keepKnownFields } from '../../../shared/mapping/match-columns.ts'
import {
  findMissingColumns,
  isSameMapping,
  type SavedMapping,
} from '../../../shared/mapping/saved-mappings.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import type { Operation } from '../../../shared/operations/operations.ts'
import type { Mapping } from '../../../shared/plan/plan.ts'
import { ask, bridge, queryClient } from '../../bridge/client.ts'
import { ActionButton, RowButton } from '../../ui/controls.tsx'
import { formatAgo, formatTimestamp } from '../../ui/format-time.ts'
import { ErrorNotice, Panel } from '../../ui/layout/screen.tsx'
import { showToast } from '../../ui/layout/toasts.tsx'
import { NameForm } from '../../ui/name-form.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './mapping.module.css'

/** What is asked for under the list. */
type Asked = { kind: 'save' } | { kind: 'rename'; name: string } | null

/**
 * How the columns were mapped before: by the last run of a file with the same ones, and under names that a person gave.
 * `panel` applies, renames and removes them, and is null where there are none; `button` saves the mapping as it is now.
 */
export function useSavedMappings(options: {
  operation: Operation
  columns: readonly string[]
  mapping: Mapping
  onMapping: (mapping: Mapping) => void
}): { panel: ReactNode; button: ReactNode } {
  const { operation, columns, mapping, onMapping } = options
  const [asked, setAsked] = useState<Asked>(null)
  const last = useQuery(ask.mappings.findLast.queryOptions({ input: { operation, columns: [...columns] } }))
  const list = useQuery(ask.mappings.list.queryOptions())
  const change = useMutation({
    mutationFn: async (make: () => Promise<SavedMapping[]>) => showList(await make()),
  })
  const saved = list.data?.filter((one) => one.operation === operation.kind) ?? []
  const isApplied = (other: Mapping) => isSameMapping(keepKnownFields(other, operation), mapping)
  const lastMapping = last.data ?? null
  const error = change.error ?? list.error ?? last.error
  const canSave = Object.keys(mapping).length > 0 && !saved.some((one) => isApplied(one.mapping))
  const apply = (other: Mapping) => onMapping(keepKnownFields(other, operation))
  const remove = async (removed: SavedMapping) => {
    const at = list.data?.indexOf(removed) ?? 0
    await change.mutateAsync(() => bridge.mappings.remove({ name: removed.name }))
    showToast({
      key: `mapping-removed ${removed.name}`,
      kind: 'good',
      title: (
        <>
          Removed the mapping <SafeText text={removed.name} max={80} />
        </>
      ),
      undo: async () => showList(await bridge.mappings.save({ ...removed, at })),
    })
  }
  const button = (
    <ActionButton
      label="Save this mapping…"
      small
      disabled={!canSave || asked?.kind === 'save'}
      onClick={() => setAsked({ kind: 'save' })}
    />
  )
  if (lastMapping === null && saved.length === 0 && asked === null && error === null) {
    return { panel: null, button }
  }
  const panel = (
    <Panel title="Saved mappings">
      <ul className={`stack gap-1 ${styles.saved}`}>
        {lastMapping !== null && (
          <Line
            icon={<IconHistory size="1rem" aria-hidden />}
            name="As last time"
            about={
              <>
                <SafeText text={lastMapping.runName} max={80} />,{' '}
                <span title={formatTimestamp(lastMapping.startedAt)}>
                  {formatAgo(lastMapping.startedAt, Date.now())}
                </span>
              </>
            }
            isApplied={isApplied(lastMapping.mapping)}
            onApply={() => apply(lastMapping.mapping)}
          />
        )}
        {saved.map((one) => (
          <Line
            key={one.name}
            icon={<IconBookmark size="1rem" aria-hidden />}
            name={one.name}
            about={sayFit(one.mapping, columns)}
            isApplied={isApplied(one.mapping)}
            onApply={() => apply(one.mapping)}
          >
            <Menu position="bottom-end">
              <Menu.Target>
                <ActionIcon aria-label={`Actions for ${one.name}`}>
                  <IconDots size="1rem" />
                </ActionIcon>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item onClick={() => setAsked({ kind: 'rename', name: one.name })}>Rename…</Menu.Item>
                <Menu.Item onClick={() => remove(one).catch(() => {})}>Remove</Menu.Item>
              </Menu.Dropdown>
            </Menu>
          </Line>
        ))}
      </ul>
      {asked !== null && (
        <NameForm
          key={asked.kind === 'rename' ? `rename ${asked.name}` : asked.kind}
          label={asked.kind === 'save' ? 'Name of the mapping' : `New name of ${asked.name}`}
          name={asked.kind === 'save' ? '' : asked.name}
          onName={async (name) => {
            await change.mutateAsync(() =>
              asked.kind === 'save'
                ? bridge.mappings.save({ name, operation: operation.kind, mapping })
                : bridge.mappings.rename({ name: asked.name, newName: name }),
            )
            setAsked(null)
          }}
          onClose={() => setAsked(null)}
        />
      )}
      {error !== null && <ErrorNotice error={error} />}
    </Panel>
  )
  return { panel, button }
}

function showList(list: SavedMapping[]): void {
  queryClient.setQueryData(ask.mappings.list.queryKey(), list)
}

function Line(props: {
  icon: ReactNode
  name: string
  about: ReactNode
  isApplied: boolean
  onApply: () => void
  children?: ReactNode
}) {
  const word = props.isApplied ? 'Applied' : 'Apply'
  return (
    <li>
      {props.icon}
      <strong>
        <SafeText text={props.name} max={80} />
      </strong>
      <span className="truncate flex-1 min-w-0 quiet">{props.about}</span>
      <RowButton
        label={word}
        name={`${word} ${props.name}`}
        isOutlined
        isDisabled={props.isApplied}
        onPress={props.onApply}
      />
      {props.children}
    </li>
  )
}

/** What a mapping fills, and which of its columns the source lacks. */
function sayFit(mapping: Mapping, columns: readonly string[]): ReactNode {
  const missing = findMissingColumns(mapping, columns)
  if (missing.length === 0) return formatCounted(Object.keys(mapping).length, 'field')
  return (
    <>
      missing here: <SafeText text={missing.join(', ')} max={120} />
    </>
  )
}
