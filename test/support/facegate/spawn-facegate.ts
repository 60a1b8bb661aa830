import { spawn, type ChildProcess } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { addEmptyDatabase } from '../database/data-folder.ts'
import { databaseSettings, dropDatabase } from '../database/engine.ts'
import {
  createTestClient,
  createDataDir,
  serviceSettings,
  type TestClient,
} from './test-facegate.ts'
import { mainFile } from '../paths.ts'

/** The service in a child process, as `npm start` runs it. */
export type FacegateProcess = AsyncDisposable &
  TestClient & {
    readonly process: ChildProcess
    readonly dataDir: string
    /** Returns the standard output so far. */
    readonly stdout: () => string
    /** Returns the resident memory of the HTTP process in bytes. */
    readonly rssBytes: () => Promise<number>
  }

type ExistingInstallation = {
  readonly dataDir?: string
  readonly key?: string
  /** The program and its arguments; default: the service of this checkout. */
  readonly command?: readonly [program: string, ...args: string[]]
}

/**
 * Starts the service and waits until it listens.
 *
 * @param existing the installation to start again; without it, a new one is created, and removed at
 *   the end.
 */
export async function spawnFacegate(
  environment: Readonly<Record<string, string>> = {},
  existing: ExistingInstallation = {},
): Promise<FacegateProcess> {
  const dataDir = existing.dataDir ?? (await createDataDir())
  if (!existing.dataDir) await addEmptyDatabase(dataDir, environment)
  const [program, ...args] = existing.command ?? [process.execPath, mainFile]
  const child = spawn(program, args, {
    env: {
      ...process.env,
      ...serviceSettings,
      PORT: '0',
      DATA_DIR: dataDir,
      LOG_LEVEL: 'warn',
      ...(await databaseSettings(dataDir, environment)),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = await waitForAddress(child, () => output)
  const key = existing.key ?? /fsk_live_\S+/u.exec(output)?.[0] ?? ''
  return {
    ...createTestClient(url, key),
    process: child,
    dataDir,
    stdout: () => output,
    rssBytes: async () => {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
      return Number(/VmRSS:\s+(\d+) kB/u.exec(status)?.[1]) * 1024
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
      await exited
      if (existing.dataDir) return
      await dropDatabase(dataDir)
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function waitForAddress(child: ChildProcess, output: () => string): Promise<string> {
  for await (const _chunk of child.stdout ?? []) {
    const address = /Facegate is running at ([^\s,]+)/u.exec(output())?.[1]
    if (address && (!output().includes('shown only once') || output().includes('/docs')))
      return address
  }
  throw new Error(`the service did not start: ${output()}`)
}
