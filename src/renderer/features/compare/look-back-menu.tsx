import { Menu } from '@mantine/core'
import { IconArrowsDiff } from '@tabler/icons-react'
import { useState } from 'react'
import { ActionButton } from '../../ui/controls.tsx'
import { ErrorNotice } from '../../ui/layout/screen.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { BaselineDialog, BaselineItems, useBaselineChange, useBaselines } from './baseline-menu.tsx'

/** Compares a run with its baseline or another run, shows the trend of its source, and makes it a baseline. */
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
