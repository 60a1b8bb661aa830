import { spawn, type ChildProcess } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { databaseSettings, dropDatabase } from '../database/engine.ts'
import {
  createTestClient,
  createDataDir,
  unlimitedRates,
  type TestClient,
} from './test-facegate.ts'
import { mainFile } from '../paths.ts'

/** The service as a process of its own, as `npm start` runs it. */
export type FacegateProcess = AsyncDisposable &
  TestClient & {
    readonly process: ChildProcess
    readonly dataDir: string
    /** Everything it has printed so far. */
    readonly stdout: () => string
    /** Resident memory of the HTTP process, bytes. */
    readonly rssBytes: () => Promise<number>
  }

export async function spawnFacegate(
  environment: Readonly<Record<string, string>> = {},
  known: { readonly dataDir?: string; readonly key?: string } = {},
): Promise<FacegateProcess> {
  const dataDir = known.dataDir ?? (await createDataDir())
  const child = spawn(process.execPath, [mainFile], {
    env: {
      ...process.env,
      ...unlimitedRates,
      PORT: '0',
      DATA_DIR: dataDir,
      LOG_LEVEL: 'warn',
      ...(await databaseSettings(dataDir, environment)),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString()
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = await waitForAddress(child, () => printed)
  const key = known.key ?? /fsk_live_\S+/u.exec(printed)?.[0] ?? ''
  return {
    ...createTestClient(url, key),
    process: child,
    dataDir,
    stdout: () => printed,
    rssBytes: async () => {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
      return Number(/VmRSS:\s+(\d+) kB/u.exec(status)?.[1]) * 1024
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
      await ended
      if (known.dataDir) return
      await dropDatabase(dataDir)
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function waitForAddress(child: ChildProcess, printed: () => string): Promise<string> {
  for await (const _chunk of child.stdout ?? []) {
    const address = /Facegate is running at (\S+)/u.exec(printed())?.[1]
    if (address && (!printed().includes('shown only once') || printed().includes('/docs')))
      return address
  }
  throw new Error(`the service did not start: ${printed()}`)
}
