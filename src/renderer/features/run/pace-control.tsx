import { NumberInput } from '@mantine/core'
import { useState } from 'react'
import { bridge } from '../../bridge/client.ts'
import { toShownError } from '../../bridge/shown-error.ts'
import { useQuery } from '../../bridge/use-query.ts'
import { formatCount } from '../../ui/format-number.ts'
import styles from './run.module.css'

const MOST = 10_000

/** How many requests may be in flight, changed while the run goes on. */
export function PaceControl({ runId, inFlight }: { runId: string; inFlight: number }) {
  const plan = useQuery(`${runId} pace`, (signal) => bridge.runs.readPlan({ runId }, { signal }))
  const [chosen, setChosen] = useState<number | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const pace = plan.data?.pace
  if (pace?.kind !== 'closed') return null
  const change = (value: string | number) => {
    if (typeof value !== 'number' || value < 1) return
    setChosen(value)
    setProblem(null)
    bridge.runs.setConcurrency({ runId, concurrency: value }).catch((error: unknown) => {
      setProblem(toShownError(error).message)
    })
  }
  return (
    <NumberInput
      className={styles.pace}
      label="In flight at most"
      description={`${formatCount(inFlight)} now`}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      value={chosen ?? pace.concurrency}
      min={1}
      max={MOST}
      clampBehavior="strict"
      allowDecimal={false}
      error={problem}
      onChange={change}
    />
  )
}
