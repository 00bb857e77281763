import type { LoadSample } from '../../../../shared/load/load-report.ts'

/**
 * A line of a JSONL file of samples: what was kept whole of a load test, each request with its times in milliseconds
 * and its bodies as they were sent and received.
 */
export function formatSample(sample: LoadSample): string {
  return `${JSON.stringify({
    kept: sample.kept,
    sent_ms: sample.sentMs,
    row: sample.row,
    post_id: sample.postId,
    outcome: sample.outcome,
    status: sample.status,
    error_code: sample.errorCode,
    message: sample.message,
    task_id: sample.taskId,
    http_req_duration_ms: sample.httpReqDurationMs,
    http_req_waiting_ms: sample.httpReqWaitingMs,
    http_req_connecting_ms: sample.httpReqConnectingMs,
    http_req_tls_handshaking_ms: sample.httpReqTlsHandshakingMs,
    response_time_ms: sample.responseTimeMs,
    start_lag_ms: sample.startLagMs,
    callback_latency_ms: sample.callbackLatencyMs,
    request: sample.request,
    response: sample.response,
  })}\n`
}
