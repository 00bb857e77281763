/** A metric of a k6 summary, whatever its shape was. */
export interface K6Metric {
  /** Without tags. */
  name: string
  /** What stands between the braces, such as `scenario:main`; '' where nothing does. */
  tags: string
  /** By k6's long names: `avg`, `med`, `p(95)`, `count`, `rate`, `passes`, `fails`. */
  values: Readonly<Record<string, number>>
  thresholds: readonly K6Verdict[]
}

/** What k6 says of a threshold. */
export interface K6Verdict {
  expression: string
  ok: boolean
}

/** The metrics of a summary and what it says about the run. */
export interface K6Summary {
  metrics: K6Metric[]
  k6Version: string | null
  /** All of the run, warm-up and last answers included; null where it is not said. */
  totalS: number | null
  /** What a project that Sluice exported adds; null in all others. */
  planned: { warmupMs: number; measuredMs: number | null } | null
}

/** Takes a metric's name apart: `http_req_duration{scenario:main}`. */
export function parseMetricName(text: string): { name: string; tags: string } {
  const match = /^([^{]*)\{(.*)\}$/s.exec(text)
  return { name: match?.[1] ?? text, tags: match?.[2] ?? '' }
}

/** Keeps what is a number. */
export function toNumbers(values: Readonly<Record<string, unknown>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  )
}
