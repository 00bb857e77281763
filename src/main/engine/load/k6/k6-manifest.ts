import type { K6Plan, K6RowsFile } from './k6-script.ts'

/** Most that one configMap holds, in bytes (Kubernetes). */
export const CONFIG_MAP_MAX_BYTES = 1024 * 1024

/** Names of the objects in the cluster. */
export const K6_NAMES = {
  test: 'sluice-load',
  secret: 'sluice-api-key',
  results: 'sluice-load-results',
} as const

/** Where results are written inside a pod. */
const RESULTS_FOLDER = '/results'

/**
 * A TestRun of k6-operator. Where script and rows fit, they are a configMap, otherwise a volumeClaim. Every pod
 * writes its samples to a file of its own, which are merged when they are read back: percentiles of pods cannot be.
 */
export function formatK6Manifest(plan: K6Plan, isConfigMap: boolean): string {
  const { connection, load } = plan
  const { test, secret, results } = K6_NAMES
  const isPinned = load.httpVersion === '1.1'
  return `apiVersion: k6.io/v1alpha1
kind: TestRun
metadata:
  name: ${test}
spec:
  parallelism: 2
  script:
    ${isConfigMap ? 'configMap' : 'volumeClaim'}:
      name: ${test}
      file: script.js
  runner:
    env:
      - name: ${connection.apiKeyEnv}
        valueFrom:
          secretKeyRef:
            name: ${secret}
            key: key
      - name: POD_NAME
        valueFrom:
          fieldRef:
            fieldPath: metadata.name
      - name: K6_OUT
        value: json=${RESULTS_FOLDER}/samples-$(POD_NAME).json.gz
      - name: SLUICE_SUMMARY_DIR
        value: ${RESULTS_FOLDER}
${isPinned ? `      - name: GODEBUG\n        value: http2client=0\n` : ''}    volumes:
      - name: results
        persistentVolumeClaim:
          claimName: ${results}
    volumeMounts:
      - name: results
        mountPath: ${RESULTS_FOLDER}
`
}

/** The commands that put a project into a cluster and start it. */
export function listK6Commands(plan: K6Plan, files: readonly K6RowsFile[], isConfigMap: boolean): string[] {
  const { test, secret } = K6_NAMES
  const parts = ['script.js', ...files.map(({ name }) => name)].map((name) => `--from-file=${name}`)
  return [
    `kubectl create secret generic ${secret} --from-literal=key="$${plan.connection.apiKeyEnv}"`,
    ...(isConfigMap ? [`kubectl create configmap ${test} ${parts.join(' ')}`] : []),
    'kubectl apply -f testrun.yaml',
  ]
}
