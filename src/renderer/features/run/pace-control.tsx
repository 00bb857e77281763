import { NumberInput } from '@mantine/core'
import { useState } from 'react'
import { IN_FLIGHT_MAX } from '../../../shared/load/load-pace.ts'
import { formatCount } from '../../../shared/messages/figure-text.ts'
import { bridge } from '../../bridge/client.ts'
import { toShownError } from '../../bridge/shown-error.ts'
import { useQuery } from '../../bridge/use-query.ts'
import styles from './run.module.css'

/**
 * How many requests may be in flight, changed during the run. A typed number applies on Enter or on leaving the
 * field, so that no single digit is applied; Escape brings the old one back.
 */
export function PaceControl({ runId, inFlight }: { runId: string; inFlight: number }) {
  const plan = useQuery(`${runId} pace`, (signal) => bridge.runs.readPlan({ runId }, { signal }))
  const [chosen, setChosen] = useState<number | null>(null)
  const [typed, setTyped] = useState<string | number | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const pace = plan.data?.pace
  if (pace?.kind !== 'closed') return null
  const current = chosen ?? pace.concurrency
  const apply = () => {
    setTyped(null)
    if (typeof typed !== 'number' || typed < 1 || typed === current) return
    setChosen(typed)
    setProblem(null)
    bridge.runs.setConcurrency({ runId, concurrency: typed }).catch((error: unknown) => {
      setChosen(null)
      setProblem(toShownError(error).message)
    })
  }
  return (
    <NumberInput
      className={styles.pace}
      label="In flight at most"
      description={typed === null ? `${formatCount(inFlight)} now` : 'Press Enter to apply'}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      value={typed ?? current}
      min={1}
      max={IN_FLIGHT_MAX}
      clampBehavior="strict"
      allowDecimal={false}
      error={problem}
      onChange={setTyped}
      onBlur={apply}
      onKeyDown={(event) => {
        if (event.key === 'Enter') apply()
        if (event.key === 'Escape') setTyped(null)
      }}
    />
  )
}
