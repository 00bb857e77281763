import { formatBytes } from '../../src/shared/messages/figure-text.ts'
import type { IntendedDifference } from './intended-differences.ts'

/** How the golden runs that did not go to their end were ended. */
const ENDED_EARLY = {
  interrupted: '20261125-232756-527bv2w: interrupted',
  killed: '20261125-232813-383ptc4: interrupted',
  stopped: '20261125-232842-5568cnp: stopped',
} as const

/** What the JUnit files of the golden load tests say besides. */
const SAID_IN_JUNIT: Readonly<Record<string, string>> = {
  load: 'No thresholds set: 6 of 150 requests did not succeed, which does not fail the test. To fail it, add http_req_failed:rate&lt;0.01.',
  'load-async': '2 callbacks did not arrive in time. callback_latency would be higher with them.',
}

/** Differences about notices that only some of the places had where a person reads. */
export const ABOUT_LATER_NOTICES: readonly IntendedDifference[] = [
  {
    reason: 'a ledger of an index counts the runs of that index only',
    apply(answer, workspace) {
      const { args, stdout } = answer
      if (workspace !== 'index-sync' || args[0] !== 'ledger' || args[1] !== 'index') return answer
      if (/"list":null/.test(JSON.stringify(stdout))) return answer
      const text = JSON.stringify(stdout)
        .replace(', from 4 runs', ', from 3 runs')
        .replace('"runs":4,', '"runs":3,')
      return { ...answer, stdout: JSON.parse(text) }
    },
  },
  {
    reason: 'a trend names runs that ended early',
    apply(answer, workspace) {
      const { args, stdout } = answer
      if (args[0] !== 'trend' || !Array.isArray(stdout)) return answer
      const notice = Object.entries(ENDED_EARLY).find(([name]) => name === workspace)?.[1]
      return notice === undefined ? answer : { ...answer, stdout: [...stdout, notice, ''] }
    },
  },
  {
    reason: 'a JUnit file has the notices of a load test',
    apply(answer, workspace) {
      const [[name = '', lines = []] = []] = Object.entries(answer.files)
      const notice = SAID_IN_JUNIT[workspace]
      if (notice === undefined || !name.endsWith('.junit.xml') || !Array.isArray(answer.stdout)) return answer
      const said = lines.flatMap((line) => {
        const text = String(line)
        if (!text.endsWith('</system-out>')) return [line]
        return [text.replace('</system-out>', ''), `${notice}</system-out>`]
      })
      const size = formatBytes(Buffer.byteLength(said.join('\n')))
      const stdout = answer.stdout.map((line) => String(line).replace(/\(.*\)$/, `(${size})`))
      return { ...answer, files: { ...answer.files, [name]: said }, stdout }
    },
  },
  {
    reason: 'callbacks that came too late are among those that did not arrive in time',
    apply(answer) {
      const { stdout } = answer
      if (!Array.isArray(stdout)) return answer
      const say = (line: unknown) =>
        String(line).replace(/(\d callbacks? did not arrive)(\. callback_latency would)/, '$1 in time$2')
      return { ...answer, stdout: answer.args.includes('--json') ? stdout : stdout.map(say) }
    },
  },
]
