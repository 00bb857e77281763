/** The axis at the left of a drawing: a line across it for each tick, pixels, with a label before it. */
export function LeftAxis(props: {
  ticks: readonly { y: number; label: string }[]
  left: number
  right: number
  /** Between the labels and the lines. */
  gap?: number
}) {
  const { left, gap = 6 } = props
  return props.ticks.map(({ y, label }) => (
    <g key={y}>
      <line stroke="var(--chart-grid)" x1={left} x2={Math.max(left, props.right)} y1={y} y2={y} />
      <text fill="var(--text-2)" fontSize="0.75rem" textAnchor="end" x={left - gap} y={y + 4}>
        {label}
      </text>
    </g>
  ))
}

/** Labels side by side under a drawing, each at its place. */
export function BottomLabels(props: {
  labels: readonly { x: number; label: string; anchor?: 'start' | 'middle' | 'end' }[]
  y: number
}) {
  return props.labels.map(({ x, label, anchor = 'middle' }) => (
    <text key={x} fill="var(--text-2)" fontSize="0.75rem" textAnchor={anchor} x={x} y={props.y}>
      {label}
    </text>
  ))
}
