import { Button, Menu, Modal } from '@mantine/core'
import { IconArrowsDiff, IconFlag } from '@tabler/icons-react'
import { skipToken, useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { BaselineEntry } from '../../../shared/bridge/compare.ts'
import { DEFAULT_BASELINE } from '../../../shared/lookback/baseline.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { ask, bridge, queryClient } from '../../bridge/client.ts'
import { ActionButton, TextField } from '../../ui/controls.tsx'
import { Form } from '../../ui/form.tsx'
import { ErrorNotice } from '../../ui/layout/screen.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'

export function useBaselines(runId: string | null) {
  return useQuery(ask.baselines.list.queryOptions({ input: runId === null ? skipToken : { runId } }))
}

/** Sets and removes baselines, and reloads every list of them. */
function useBaselineChange() {
  return useMutation({
    mutationFn: async (make: () => Promise<BaselineEntry[]>) => {
      await make()
      await queryClient.invalidateQueries({ queryKey: ask.baselines.key() })
    },
  })
}

/** Says which baselines a run is, and sets or removes them. */
export function BaselineMenu({ run }: { run: RunSummary }) {
  const { run_id: runId } = run
  const baselines = useBaselines(runId)
  const change = useBaselineChange()
  const [isNaming, setNaming] = useState(false)
  const own = (baselines.data ?? []).filter((one) => one.runId === runId)
  return (
    <>
      <Menu position="bottom-start" shadow="md">
        <Menu.Target>
          <Button
            variant={own.length > 0 ? 'light' : 'default'}
            size="compact-sm"
            loading={change.isPending}
            leftSection={<IconFlag size="1rem" aria-hidden />}
          >
            {own.length === 0 ? (
              'Not a baseline'
            ) : (
              <SafeText text={own.map(({ name }) => name).join(', ')} max={40} />
            )}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <BaselineItems
            runId={runId}
            own={own}
            onChange={(make) => change.mutate(make)}
            onName={() => setNaming(true)}
          />
        </Menu.Dropdown>
      </Menu>
      {change.error !== null && <ErrorNotice error={change.error} onDismiss={change.reset} />}
      {isNaming && <BaselineDialog runId={runId} onClose={() => setNaming(false)} />}
    </>
  )
}

/** Menu entries that set or remove a run as a baseline. */
function BaselineItems(props: {
  runId: string
  own: readonly BaselineEntry[]
  onChange: (make: () => Promise<BaselineEntry[]>) => void
  onName: () => void
}) {
  const { runId, own, onChange } = props
  return (
    <>
      {!own.some(({ name }) => name === DEFAULT_BASELINE) && (
        <Menu.Item onClick={() => onChange(() => bridge.baselines.set({ runId, name: DEFAULT_BASELINE }))}>
          Make it the baseline of its source
        </Menu.Item>
      )}
      <Menu.Item onClick={props.onName}>Make it a baseline with a name…</Menu.Item>
      {own.map(({ name }) => (
        <Menu.Item key={name} onClick={() => onChange(() => bridge.baselines.remove({ runId, name }))}>
          No longer the baseline <SafeText text={name} max={40} />
        </Menu.Item>
      ))}
    </>
  )
}

function BaselineDialog({ runId, onClose }: { runId: string; onClose: () => void }) {
  const [name, setName] = useState('')
  const change = useBaselineChange()
  const save = () =>
    change.mutate(() => bridge.baselines.set({ runId, name: name.trim() }), { onSuccess: onClose })
  return (
    <Modal opened onClose={onClose} title="Make it a baseline">
      <Form onSubmit={save}>
        <TextField
          label="Name"
          description="Later runs of the same source on the same connection can be compared with it. A baseline of this name there is replaced."
          placeholder="release-4"
          data-autofocus
          required
          maxLength={100}
          value={name}
          onValue={setName}
        />
        {change.error !== null && <ErrorNotice error={change.error} />}
        <ActionButton
          label="Save"
          variant="filled"
          type="submit"
          disabled={name.trim() === ''}
          loading={change.isPending}
        />
      </Form>
    </Modal>
  )
}

/** Compares a run with its baseline or another run, shows its source's trend, and sets it as a baseline. */
export function LookBackMenu(props: {
  runId: string
  onCompare: (runIds: readonly string[]) => void
  onTrend: () => void
}) {
  const { runId, onCompare } = props
  const baselines = useBaselines(runId)
  const change = useBaselineChange()
  const [isNaming, setNaming] = useState(false)
  const known = baselines.data ?? []
  const others = known.filter((one) => one.runId !== runId && one.runName !== null)
  const error = baselines.error ?? change.error
  return (
    <>
      <Menu position="bottom-end" shadow="md">
        <Menu.Target>
          <ActionButton label="Compare" loading={change.isPending} icon={IconArrowsDiff} />
        </Menu.Target>
        <Menu.Dropdown>
          {others.map(({ name, runId: baselineId }) => (
            <Menu.Item key={name} onClick={() => onCompare([baselineId, runId])}>
              With the baseline <SafeText text={name} max={40} />
            </Menu.Item>
          ))}
          <Menu.Item onClick={() => onCompare([runId])}>With another run…</Menu.Item>
          <Menu.Item onClick={props.onTrend}>Trend of this source</Menu.Item>
          <Menu.Divider />
          <BaselineItems
            runId={runId}
            own={known.filter((one) => one.runId === runId)}
            onChange={(make) => change.mutate(make)}
            onName={() => setNaming(true)}
          />
        </Menu.Dropdown>
      </Menu>
      {error !== null && <ErrorNotice error={error} onDismiss={change.reset} />}
      {isNaming && <BaselineDialog runId={runId} onClose={() => setNaming(false)} />}
    </>
  )
}
