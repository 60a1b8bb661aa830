import { Worker } from 'node:worker_threads'
import type { OpenThreadData, OpenThreadRequest, OpenThreadResponse } from './open-thread.ts'
import type { LoadRange } from './read-range.ts'

/** A thread that reads and decrypts one range after another. */
export type OpenThread = AsyncDisposable & {
  /** @throws Error if the range cannot be read, or the thread ended. */
  readonly read: (range: LoadRange) => Promise<Extract<OpenThreadResponse, { content: unknown }>>
}

const threadFile = new URL('./open-thread.ts', import.meta.url)

export function startOpenThread(workerData: OpenThreadData): OpenThread {
  const worker = new Worker(threadFile, { name: 'template loading', workerData })
  let pending: PromiseWithResolvers<OpenThreadResponse> | undefined
  let endReason: unknown
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const end = (reason: unknown): void => {
    endReason ??= reason
    pending?.reject(endReason)
  }
  worker.on('error', end)
  worker.on('exit', (code) => end(new Error(`a loading thread exited with code ${code}`)))
  worker.on('message', (response: OpenThreadResponse) => pending?.resolve(response))
  const send = (request: OpenThreadRequest): void => worker.postMessage(request, [])
  return {
    read: async (range) => {
      if (endReason !== undefined) throw endReason
      pending = Promise.withResolvers()
      send({ range })
      const response = await pending.promise
      if ('error' in response) throw response.error
      return response
    },
    [Symbol.asyncDispose]: async () => {
      send({ range: undefined })
      await ended
    },
  }
}
