import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { openSync, closeSync } from 'node:fs'
import { chown, mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { startExitScript, type ExitScript } from '../exit-script.ts'
import { freePort } from '../network/free-port.ts'

/** Controls the processes of a PostgreSQL server. */
export type Postmaster = {
  /** The URL of the superuser. */
  readonly adminUrl: string
  readonly port: number
  /** Kills all processes of the server together, like a power failure. */
  readonly killAll: () => Promise<void>
  /** Stops the server if it runs, and starts it. Resolves when it accepts connections. */
  readonly restart: () => Promise<void>
  /** Stops the server and deletes its files. */
  readonly stop: () => Promise<void>
}

const runFile = promisify(execFile)
const superuser = 'postgres'
const startMsMax = 60_000

/**
 * Settings as in production, but smaller. Parallel maintenance workers are off, because pgvector 0.8.0 has a buffer overflow in parallel index builds (CVE-2026-3172).
 */
const serverOptions = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  shared_buffers: '128MB',
  max_parallel_maintenance_workers: '0',
  log_min_messages: 'warning',
}

/**
 * @param binaries the folder of initdb and postgres.
 * @param options further settings of the server.
 */
export async function startPostmaster(
  binaries: string,
  options: Readonly<Record<string, string>>,
): Promise<Postmaster> {
  const account = await serverUser()
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-postgres-'))
  if (account) await chown(folder, account.uid, account.gid)
  const data = path.join(folder, 'data')
  const processOptions = { ...account, cwd: folder }
  const initdb = ['-D', data, '-U', superuser, '-A', 'trust', '-E', 'UTF8', '--locale=C']
  await runFile(path.join(binaries, 'initdb'), [...initdb, '--no-sync'], processOptions)
  const cleanup = startCleanup(folder)
  const port = await freePort()
  const adminUrl = `postgres://${superuser}@127.0.0.1:${port}/postgres`
  const settings = Object.entries({ ...serverOptions, ...options, port: String(port) })
  const args = ['-D', data, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  const start = async (): Promise<ChildProcess> => {
    const log = openSync(path.join(folder, 'log'), 'a', 0o666)
    const child = spawn(path.join(binaries, 'postgres'), args, {
      ...processOptions,
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    child.unref()
    await waitUntilReady(adminUrl, child, path.join(folder, 'log'))
    return child
  }
  let child = await start()
  return {
    adminUrl,
    port,
    killAll: () => killProcessTree(child),
    restart: async () => {
      if (isRunning(child)) await endProcess(child, 'SIGINT')
      child = await start()
    },
    stop: async () => {
      if (isRunning(child)) await endProcess(child, 'SIGQUIT')
      await cleanup.run()
    },
  }
}

/** Returns the user of PostgreSQL's package if this process runs as root, which PostgreSQL refuses. */
export async function serverUser(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async (option) => Number((await runFile('id', [option, 'postgres'])).stdout)),
  )
  if (uid === undefined || gid === undefined) throw new Error('there is no user postgres')
  return { uid, gid }
}

/** Stops the server and deletes its files when this process ends, or earlier on request. */
function startCleanup(folder: string): ExitScript {
  return startExitScript(
    `pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid" 2>/dev/null
    for turn in 1 2 3 4 5 6 7 8 9 10; do kill -0 "$pid" 2>/dev/null || break; sleep 0.2; done
    rm -rf "$1"`,
    folder,
  )
}

async function waitUntilReady(url: string, child: ChildProcess, log: string): Promise<void> {
  for (const toMs = performance.now() + startMsMax; performance.now() < toMs; await sleep(20)) {
    if (!isRunning(child)) break
    const client = new Client({ connectionString: url })
    client.on('error', () => {})
    try {
      await client.connect()
      return
    } catch {
      // The server is still starting.
    } finally {
      await client.end().catch(() => {})
    }
  }
  throw new Error(`PostgreSQL did not start: ${await readFile(log, 'utf8')}`)
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}

async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const ended = once(child, 'exit')
  child.ref()
  child.kill(signal)
  await ended
}

/** Pauses the postmaster first, so that it cannot start new children while they are killed. */
async function killProcessTree(child: ChildProcess): Promise<void> {
  child.kill('SIGSTOP')
  const { stdout } = await runFile('ps', ['-A', '-o', 'pid=,ppid='])
  const lines = stdout.split('\n').map((line) => line.trim().split(/\s+/u).map(Number))
  for (const [pid, parent] of lines)
    if (pid !== undefined && parent === child.pid) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // The process has already ended.
      }
    }
  await endProcess(child, 'SIGKILL')
}
