import { startLoadWorker } from './start-load-worker.ts'

startLoadWorker()
