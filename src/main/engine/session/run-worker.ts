import { startRunWorker } from './start-run-worker.ts'

startRunWorker()
