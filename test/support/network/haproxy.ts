import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './free-port.ts'
import { rootDir } from '../paths.ts'

/** HAProxy with the configuration of `deploy/haproxy`, in front of two installations. */
export type HaProxy = AsyncDisposable & {
  readonly url: string
  /** The address with TLS, if the options name a certificate. */
  readonly tlsUrl: string
  /** Replaces the map of the keys and reloads the configuration, as an operator does. */
  readonly routeKeys: (map: string) => Promise<void>
}

const program = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy'].find((file) => existsSync(file))

/** The reason why HAProxy cannot be started on this machine; undefined: it can. */
export const haproxySkipReason: string | undefined = program
  ? undefined
  : 'HAProxy is not installed here: .ci/haproxy installs it'

type HaProxyOptions = {
  /** The URLs of the servers of both installations. */
  readonly a: string
  readonly b: string
  /** The content of the maps. */
  readonly keys: string
  readonly hosts: string
  /** A file with a certificate and its key: HAProxy also listens with TLS, at `tlsUrl`. */
  readonly certificate?: string
}

export async function startHaProxy({
  a,
  b,
  keys,
  hosts,
  certificate,
}: HaProxyOptions): Promise<HaProxy> {
  assert.ok(program, haproxySkipReason)
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-haproxy-'))
  const writeMap = (name: string, text: string) => writeFile(path.join(folder, name), text)
  await Promise.all([writeMap('keys.map', keys), writeMap('hosts.map', hosts)])
  const listen = `127.0.0.1:${await freePort()}`
  const tlsPort = await freePort()
  const shipped = path.join(rootDir, 'deploy/haproxy/haproxy.cfg')
  const file = certificate === undefined ? shipped : path.join(folder, 'haproxy.cfg')
  if (certificate !== undefined) {
    const bind = 'bind "${LISTEN}"\n'
    const withTls = `${bind}    bind 127.0.0.1:${tlsPort} ssl crt ${certificate}\n`
    await writeFile(file, (await readFile(shipped, 'utf8')).replace(bind, withTls))
  }
  const child = spawn(program, ['-W', '-f', file], {
    env: {
      LISTEN: listen,
      MAPS: folder,
      A_1: new URL(a).host,
      B_1: new URL(b).host,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const exited = once(child, 'exit')
  const url = `http://${listen}`
  await waitForResponse(url)
  return {
    url,
    tlsUrl: `https://127.0.0.1:${tlsPort}`,
    routeKeys: async (map) => {
      await writeMap('keys.map', map)
      child.kill('SIGUSR2')
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function waitForResponse(url: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    const status = await fetch(`${url}/healthz`).then(
      (response) => response.status,
      () => undefined,
    )
    if (status === 404) return
    assert.ok(tries < 600, 'HAProxy did not start')
    await sleep(50)
  }
}
