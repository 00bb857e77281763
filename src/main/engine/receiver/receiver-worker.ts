import { parentPort, workerData } from 'node:worker_threads'
import { toErrorMessage } from '../../../shared/messages/errors.ts'
import type { ReceiverCall, ReceiverEvent, ReceiverTask } from './messages.ts'
import { Receiver } from './receiver.ts'

/** Entry of the receiver's thread: its {@link ReceiverTask} is the worker's data. */
const port = parentPort
if (port === null) throw new Error('receiver-worker.ts is the entry of a worker thread')

const post = (event: ReceiverEvent): void => port.postMessage(event)
const receiver = new Receiver(workerData as ReceiverTask, (standing) => post({ kind: 'standing', standing }))

async function answer(call: ReceiverCall): Promise<unknown> {
  switch (call.kind) {
    case 'counts':
      return receiver.counts()
    case 'selfTest':
      return receiver.selfTest(call.give)
    case 'serveFolder':
      return receiver.serveFolder(call.give)
    case 'stopServing':
      return receiver.stopServing(call.give)
    case 'guard':
      return receiver.guard(call.give)
    case 'forget':
      return receiver.forget(call.give)
    case 'close':
      return receiver.close()
  }
}

port.on('message', (call: ReceiverCall) => {
  const { id } = call
  void answer(call)
    .then(
      (value) => post({ kind: 'answer', id, value }),
      (error: unknown) => post({ kind: 'error', id, error: toErrorMessage(error) }),
    )
    .finally(() => {
      if (call.kind === 'close') port.close()
    })
})

try {
  await receiver.start()
} catch (error) {
  post({ kind: 'failed', error: toErrorMessage(error) })
  await receiver.close()
  port.close()
}
