import { Worker } from 'node:worker_threads'
import type { Check } from './verify.ts'

/**
 * Checks the books in a thread with a connection of its own: hashing every transfer takes seconds per
 * million, and calls go on meanwhile. Whoever asks while a check runs gets its result.
 */
export function createVerifier(dataDir: string): () => Promise<readonly Check[]> {
  let running: Promise<readonly Check[]> | undefined
  return () => {
    running ??= verifyBeside(dataDir).finally(() => (running = undefined))
    return running
  }
}

function verifyBeside(dataDir: string): Promise<readonly Check[]> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('verify-thread.ts', import.meta.url), {
      workerData: { dataDir },
    })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('the check of the books ended without a result')))
  })
}
