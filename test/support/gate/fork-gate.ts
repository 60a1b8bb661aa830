import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { databaseSettings } from '../database/engine.ts'
import { createTestClient, type TestClient } from '../facegate/test-client.ts'

/** A gate in a separate process, so that it can be killed; its data folder remains. */
export type GateProcess = AsyncDisposable &
  TestClient & {
    readonly process: ChildProcess
    /** Resolves when the process has exited. */
    readonly exited: Promise<void>
    /** Returns how many times its actions ran. */
    readonly runCount: () => Promise<number>
  }

export async function forkGate(
  dataDir: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<GateProcess> {
  const child = fork(path.join(import.meta.dirname, 'gate-process-main.ts'), {
    env: {
      ...process.env,
      ...(await databaseSettings(dataDir, environment)),
      ...environment,
      DATA_DIR: dataDir,
    },
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const started = new Promise<{ url: string; key: string }>((resolve, reject) => {
    child.once('message', (message) => resolve(message as { url: string; key: string }))
    void exited.then(() => reject(new Error('the gate did not start')))
  })
  const { url, key } = await started
  return {
    ...createTestClient(url, key),
    process: child,
    exited,
    runCount: async () => {
      child.send('runs')
      const [{ runs }] = (await once(child, 'message')) as [{ runs: number }]
      return runs
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}
