import type { AppealEntry } from '../../../../shared/lookback/ledger.ts'
import { isAppealAnswer } from '../../../../shared/run/item-state.ts'
import { type AppealFindings, readAppealFindings } from '../../../../shared/service/answer-findings.ts'
import { parseJson } from '../../../../shared/service/parse-json.ts'
import { createExchangeReader } from '../../journal/stored-bodies.ts'
import { type LedgerReader, toIsoTime } from './ledger-tables.ts'
import { readSentRows } from './sent-rows.ts'

/** The result of asking for an appeal, or why there is none. */
type AppealDetail =
  | { kind: 'answered'; state: AppealEntry['state']; findings: AppealFindings | null }
  | { kind: 'unanswered'; outcome: string }

const NOTHING_FOUND: AppealFindings = {
  status: null,
  actionId: null,
  actionName: null,
  reasons: [],
  originalActionId: null,
  originalActionName: null,
  originalReasons: [],
}

/** Appeals over time (docs/interface.md §2.6): every answer to a request for their status. */
export const APPEALS_LEDGER: LedgerReader<AppealDetail> = {
  collect(run, events) {
    const { runId } = run.record
    const exchanges = createExchangeReader(run.db)
    for (const sent of readSentRows(run, { splits: false })) {
      const { numbers, state, answer, errorCode, tries, triedAtUs } = sent
      const { appeal_id: key } = sent.body
      if (typeof key !== 'string' || key === '' || tries === 0) continue
      const add = (atUs: number, detail: AppealDetail) =>
        events.add({ list: '', key, atUs, runId, numbers, detail })
      const answeredAtUs = sent.answeredAtUs ?? triedAtUs
      if (state === 'succeeded' && answer !== null && isAppealAnswer(answer)) {
        const findings = readAppealFindings(parseJson(exchanges.readAnswer(sent.item)?.text ?? ''))
        add(answeredAtUs, { kind: 'answered', state: answer as AppealEntry['state'], findings })
      } else if (state === 'rejected' && errorCode === 'INVALID_APPEAL') {
        add(answeredAtUs, { kind: 'answered', state: 'not_found', findings: null })
      } else {
        const isSending = state === null && run.isHeld
        add(triedAtUs, { kind: 'unanswered', outcome: isSending ? 'sending' : (state ?? 'unknown') })
      }
    }
  },

  fold(events) {
    const [first] = events
    const last = events.at(-1)
    if (first === undefined || last === undefined) return null
    const history: AppealEntry['history'] = []
    let findings = NOTHING_FOUND
    let answeredAt: string | null = null
    let unanswered = 0
    for (const { detail, atUs } of events) {
      if (detail.kind === 'unanswered') {
        unanswered += 1
        continue
      }
      answeredAt = toIsoTime(atUs)
      findings = detail.findings ?? NOTHING_FOUND
      const { actionName } = findings
      const current = history.at(-1)
      if (current?.state === detail.state && current.action_name === actionName) {
        current.until = answeredAt
        current.answers += 1
      } else {
        history.push({
          state: detail.state,
          action_name: actionName,
          from: answeredAt,
          until: answeredAt,
          answers: 1,
        })
      }
    }
    const state = history.at(-1)?.state ?? 'unknown'
    const appealId = first.key
    return {
      entry: {
        appeal_id: appealId,
        state,
        history,
        unanswered,
        asked: events.length,
        outcome: last.detail.kind === 'answered' ? last.detail.state : last.detail.outcome,
        status: findings.status,
        action_id: findings.actionId,
        action_name: findings.actionName,
        reasons: findings.reasons,
        original_action_id: findings.originalActionId,
        original_action_name: findings.originalActionName,
        original_reasons: findings.originalReasons,
        first_at: toIsoTime(first.atUs),
        changed_at: history.at(-1)?.from ?? toIsoTime(first.atUs),
        asked_at: toIsoTime(last.atUs),
        answered_at: answeredAt,
        run_id: last.runId,
        ...last.numbers,
      },
      texts: [appealId, findings.status, findings.actionName, findings.originalActionName],
    }
  },
}
