import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../network/free-port.ts'
import { serverUser } from './postmaster.ts'

/** A running PgBouncer in front of a database. */
export type PgBouncer = AsyncDisposable & {
  /** The URL of the database through PgBouncer. */
  readonly url: string
}

export type PoolMode = 'session' | 'transaction' | 'statement'

const program = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'].find(
  (file) => existsSync(file),
)

/** The reason why PgBouncer cannot be started on this machine; undefined: it can. */
export const pgbouncerSkipReason: string | undefined = program
  ? undefined
  : 'PgBouncer is not installed here: .ci/pgbouncer installs it'

/**
 * Starts PgBouncer with its default settings, apart from the pool mode and a small pool, so that
 * transactions of different clients share server connections.
 */
export async function startPgBouncer(target: string, mode: PoolMode): Promise<PgBouncer> {
  if (!program) throw new Error(pgbouncerSkipReason)
  const { hostname, port, username } = new URL(target)
  const account = await serverUser()
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-pgbouncer-'))
  const listenPort = await freePort()
  const users = path.join(folder, 'users.txt')
  await writeFile(users, `"${username}" ""\n`)
  const settings = path.join(folder, 'pgbouncer.ini')
  await writeFile(
    settings,
    `[databases]
    * = host=${hostname} port=${port}
    [pgbouncer]
    listen_addr = 127.0.0.1
    listen_port = ${listenPort}
    unix_socket_dir =
    auth_type = trust
    auth_file = ${users}
    pool_mode = ${mode}
    default_pool_size = ${mode === 'session' ? 60 : 4}
    `.replaceAll(/^ +/gmu, ''),
  )
  if (account)
    for (const file of [folder, users, settings]) await chown(file, account.uid, account.gid)
  const child = spawn(program, ['--quiet', settings], { ...account, stdio: 'ignore' })
  const exited = once(child, 'exit')
  for (let tries = 1; !(await accepts(listenPort)); tries++) {
    if (child.exitCode !== null || tries > 600) throw new Error('PgBouncer did not start')
    await sleep(50)
  }
  const url = new URL(target)
  url.host = `127.0.0.1:${listenPort}`
  return {
    url: url.href,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null) child.kill('SIGKILL')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port })
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
