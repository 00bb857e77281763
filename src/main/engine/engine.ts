import { resolve } from 'node:path'
import type { RowFilter } from '../../shared/run/results.ts'
import { WORKER_URLS } from '../program-files.ts'
import type { Engine, EngineOptions } from './engine-interface.ts'
import { readBaselines, removeBaselines, setBaseline } from './lookback/baseline-store.ts'
import { StoredRuns } from './query/stored-runs.ts'
import { WorkspaceReceiver } from './receiver/workspace-receiver.ts'
import { createScratchpad } from './scratchpad/scratchpad.ts'
import { createEnvironmentProxies, findSystemRoute } from './secrets/system-proxy.ts'
import { HeldRuns } from './session/held-runs.ts'
import { readStoredSecrets } from './workspace/connection-secrets.ts'
import { createWorkspaceFolders } from './workspace/workspace-files.ts'

/**
 * Builds the engine over a workspace: runs and load tests each in a thread of its own, what journals say from the
 * queries' thread, and one receiver for the callbacks of all. Throws `WORKSPACE_UNUSABLE`.
 */
export function createEngine({
  runWorkerUrl = WORKER_URLS.run,
  findSystemProxy = createEnvironmentProxies(process.env),
  ...options
}: EngineOptions): Engine {
  const workspace = resolve(options.workspace)
  createWorkspaceFolders(workspace)
  const stored = new StoredRuns(workspace, WORKER_URLS.query, () => held.ids)
  const receiver = new WorkspaceReceiver({
    workspace,
    url: WORKER_URLS.receiver,
    readLiveTokens: () => stored.readRunTokens(),
    // Runs of other processes may send these, so callbacks are stored without them, too.
    readKnownSecrets: () => readStoredSecrets(workspace, process.env).map((secret) => secret.seal()),
  })
  const { load: loadWorkerUrl } = WORKER_URLS
  const askRows = (filter: RowFilter = {}) =>
    filter.cell === undefined ? stored.ask.bind(stored) : stored.askEvaluations.bind(stored)
  const held = new HeldRuns({
    ...{ workspace, runWorkerUrl, loadWorkerUrl, stored, receiver },
    findSystemProxy,
  })

  return {
    workspace,

    startRun: (plan, start = {}) => held.start(plan, start),
    resumeRun: (runId, resume) => held.resume(runId, resume),
    retryRun: (runId, retry) => held.retry(runId, retry),
    importK6: (files, importing) => held.importK6(files, importing),
    heldRun: (runId) => held.find(runId),
    settleLate: (runId) => held.settleLate(runId),
    deleteRun: (runId) => held.removal.delete(runId),
    deleteRuns: (runIds) => held.removal.deleteAll(runIds),
    wipe: () => held.removal.wipe(),

    previewSource: (source, limit) => stored.previewSource(source, limit),
    sampleSource: (source, sampling) => stored.sampleSource(source, sampling),
    listRuns: (query = {}) => stored.list(query),
    findPrunable: (retention) => stored.findPrunable(retention),
    findRuns: (reference) => stored.find(reference),
    findLastMapping: (operation, columns) => stored.findLastMapping(operation, columns),
    summarizeRun: (runId) => stored.summarize(runId),
    readPlan: (runId) => stored.readPlan(runId),
    readColumns: (runId) => stored.ask('readColumns', runId),
    readPage: (runId, query) => askRows(query.filter)('readPage', runId, query),
    findOffset: (runId, query) => askRows(query.filter)('findOffset', runId, query),
    readRow: (runId, row) => stored.ask('readRow', runId, row),
    findRow: (runId, row) => stored.ask('findRow', runId, row),
    readFacets: (runId, filter) => askRows(filter)('readFacets', runId, filter),
    readFoundFacets: (runId, filter) => askRows(filter)('readFoundFacets', runId, filter),
    listColumns: (runId) => stored.ask('listColumns', runId),
    readProblems: (runId) => stored.ask('readProblems', runId),
    readOpenWarnings: (runId) => stored.ask('readOpenWarnings', runId),
    storeFindings: (runId) => stored.ask('storeFindings', runId),
    readLatency: (runId, metrics) => stored.ask('readLatency', runId, metrics),
    readLoadReport: (runId) => stored.ask('readLoadReport', runId),
    compareRuns: (a, b) => stored.compare(a, b),
    compareDecisions: (a, b, comparing) => stored.compareDecisions(a, b, comparing),
    listChanges: (a, b, listing) => stored.listChanges(a, b, listing),
    compareLatencies: (first, ...others) => stored.compareLatencies(first, ...others),
    readBaselines: () => readBaselines(workspace),
    setBaseline: async (runId, name) => setBaseline(workspace, await stored.summarize(runId), name),
    removeBaselines: (runId, name) => removeBaselines(workspace, runId, name),
    readTrend: (source, labels) => stored.readTrend(source, labels),
    exportRun: (runId, exporting) =>
      exporting.filter?.cell === undefined
        ? stored.askApart('exportRun', runId, exporting)
        : stored.askEvaluations('exportRun', runId, exporting),
    readLedger: (query, page) => stored.readLedger(query, page),
    exportLedger: (query, file) => stored.exportLedger(query, file),
    checkExport: async (plan, file) => {
      const { checkExport } = await import('./results/export-run.ts')
      await checkExport(plan, file)
    },
    evaluateRun: (runId, evaluating) => stored.askApart('evaluateRun', runId, evaluating),
    evaluateInSteps: (runId, question) => stored.askEvaluations('evaluateInSteps', runId, question),
    readLabelChoices: (runId) => stored.ask('readLabelChoices', runId),
    reportRun: (runId, reporting) => stored.askApart('reportRun', runId, reporting),
    sampleRun: (runId, sampling) => stored.askApart('sampleRun', runId, sampling),
    startLabelling: (runId, drawing) => stored.askApart('startLabelling', runId, drawing),
    readLabelling: (runId) => stored.ask('readLabelling', runId),
    changeLabelling: (runId, change) => stored.ask('changeLabelling', runId, change),
    endLabelling: (runId) => stored.ask('endLabelling', runId),
    readVerdicts: (runId) => stored.ask('readVerdicts', runId),
    storeVerdicts: (runId, verdicts) => stored.ask('storeVerdicts', runId, verdicts),
    replaceVerdicts: (runId, row, verdicts, before) =>
      stored.ask('replaceVerdicts', runId, row, verdicts, before),
    importVerdicts: (runId, source) => stored.ask('importVerdicts', runId, source),
    findSourceChange: (runId, source) => stored.ask('findSourceChange', runId, source),
    annotateRun: (runId, change) => stored.ask('annotateRun', runId, change),
    exportVerdicts: (runId, file) => stored.ask('exportVerdicts', runId, file),

    async checkConnection(connection, secrets) {
      const { checkConnection } = await import('./service/check-connection.ts')
      return checkConnection(connection, secrets, findSystemProxy)
    },
    findSystemRoute: (connection) => findSystemRoute(connection.baseUrl, connection, findSystemProxy),

    scratchpad: createScratchpad(workspace, receiver, findSystemProxy),

    async openReceiver(opening = {}) {
      await receiver.open(opening)
      const status = await receiver.status()
      if (status === null) throw new Error('the receiver is not open')
      return status
    },
    receiverStatus: () => receiver.status(),
    testReceiver: (publicUrl) => receiver.test(publicUrl),
    readCallbackOverview: () => stored.readCallbackOverview(),
    readCallbackBody: (id) => stored.readCallbackBody(id),

    async close() {
      await held.close()
      await Promise.all([receiver.close(), stored.close()])
    },
  }
}
