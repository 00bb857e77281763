import { IconMinus, IconPlus } from '@tabler/icons-react'
import type { PointerEvent } from 'react'
import { COLUMN_REM } from '../../../shared/run/result-view.ts'
import { IconButton } from '../controls.tsx'
import { useRem } from '../theme.ts'
import styles from './grid.module.css'

/** Change of a column's width per press, rem. */
const STEP_REM = 2

/** Resizes a column by keyboard; `onResize` gets the difference in rem. */
export function WidthButtons({ title, onResize }: { title: string; onResize: (byRem: number) => void }) {
  const [narrower, wider] = [`Make ${title} narrower`, `Make ${title} wider`]
  return (
    <span className="inline-flex flex-none">
      <IconButton icon={IconMinus} label={narrower} title={narrower} onClick={() => onResize(-STEP_REM)} />
      <IconButton icon={IconPlus} label={wider} title={wider} onClick={() => onResize(STEP_REM)} />
    </span>
  )
}

/** The edge of a column, for dragging it to another width in rem. {@link WidthButtons} serve the keyboard. */
export function ColumnEdge(props: { onResizing: (rem: number) => void; onResized: (rem: number) => void }) {
  const { onResizing, onResized } = props
  const remPx = useRem()
  const press = (event: PointerEvent<HTMLSpanElement>) => {
    const edge = event.currentTarget
    const left = edge.parentElement?.getBoundingClientRect().left ?? 0
    event.preventDefault()
    edge.setPointerCapture(event.pointerId)
    const toRem = (x: number) => {
      const rem = Math.round(((x - left) / remPx) * 4) / 4
      return Math.min(COLUMN_REM.max, Math.max(COLUMN_REM.min, rem))
    }
    let rem = toRem(event.clientX)
    const move = ({ clientX }: globalThis.PointerEvent) => {
      rem = toRem(clientX)
      onResizing(rem)
    }
    const end = () => {
      edge.removeEventListener('pointermove', move)
      onResized(rem)
    }
    edge.addEventListener('pointermove', move)
    edge.addEventListener('lostpointercapture', end, { once: true })
  }
  return (
    <span
      className={styles.edge}
      aria-hidden
      draggable
      onDragStart={(event) => {
        event.preventDefault()
        event.stopPropagation()
      }}
      onPointerDown={press}
    />
  )
}
