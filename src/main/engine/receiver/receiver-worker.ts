import { workerData } from 'node:worker_threads'
import { serveCalls } from '../../worker-rpc.ts'
import { Receiver, type ReceiverTask } from './receiver.ts'
import type { ReceiverEvents } from './workspace-receiver.ts'

const receiver = new Receiver(workerData as ReceiverTask, (standing) => sendEvent('standing', standing))
const sendEvent = serveCalls<Receiver, ReceiverEvents>(receiver)
