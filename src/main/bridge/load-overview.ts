import { LOAD_SECONDS_MAX, type LoadChartSecond, type LoadOverview } from '../../shared/bridge/load.ts'
import { decodeHistogram, toLatencyBars } from '../../shared/load/latency-meter.ts'
import type { LoadReport, LoadSecond } from '../../shared/load/load-report.ts'

/** A report as a window shows it: small enough to travel, however long the test was. */
export function toLoadOverview(report: LoadReport): LoadOverview {
  const { seconds, histograms, comparison: _none, ...rest } = report
  const { http_req_duration: duration } = histograms
  return {
    ...rest,
    seconds: thinSeconds(seconds),
    measuredSeconds: seconds.length,
    bars: duration === undefined ? [] : toLatencyBars(decodeHistogram(duration)),
  }
}

function thinSeconds(seconds: readonly LoadSecond[]): LoadChartSecond[] {
  const stretch = Math.max(1, Math.ceil(seconds.length / LOAD_SECONDS_MAX))
  return Array.from({ length: Math.ceil(seconds.length / stretch) }, (_, i) =>
    seconds.slice(i * stretch, (i + 1) * stretch),
  ).flatMap((among) => {
    const [first, ...others] = among
    if (first === undefined) return []
    const { second, latencyMs } = others.reduce((kept, one) => (toP99(one) > toP99(kept) ? one : kept), first)
    const { http_req_duration, response_time } = latencyMs
    return [
      {
        second,
        limited: among.some(({ limited }) => limited),
        latencyMs: {
          ...(http_req_duration && { http_req_duration }),
          ...(response_time && { response_time }),
        },
      },
    ]
  })
}

function toP99({ latencyMs }: LoadSecond): number {
  return (latencyMs.response_time ?? latencyMs.http_req_duration)?.p99 ?? -1
}
