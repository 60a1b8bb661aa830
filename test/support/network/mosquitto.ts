import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from './free-port.ts'
import { linkSockets } from './link-sockets.ts'

const program = ['/usr/sbin/mosquitto', '/usr/local/sbin/mosquitto'].find((file) =>
  existsSync(file),
)

/** The reason why Mosquitto cannot be started on this machine; undefined: it can. */
export const mosquittoSkipReason: string | undefined = program
  ? undefined
  : 'Mosquitto is not installed here: .ci/mosquitto installs it'

export type Broker = AsyncDisposable & { readonly url: string }

/** Starts Mosquitto on a loopback port. It keeps its messages in memory. */
export async function startMosquitto(): Promise<Broker> {
  assert.ok(program, mosquittoSkipReason)
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-mosquitto-'))
  const port = await freePort()
  const file = path.join(folder, 'mosquitto.conf')
  const lines = [`listener ${port} 127.0.0.1`, 'allow_anonymous true', 'persistence false']
  await writeFile(file, `${lines.join('\n')}\n`)
  const child = spawn(program, ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = once(child, 'exit')
  const hasStarted = new Promise<void>((resolve) => {
    createInterface(child.stderr).on('line', (line) => line.endsWith(' running') && resolve())
  })
  await Promise.race([
    hasStarted,
    exited.then(([code]) => assert.fail(`Mosquitto ended with ${code}`)),
  ])
  return {
    url: `mqtt://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export type BrokerProxy = AsyncDisposable & {
  readonly url: string
  /** Breaks the connection, and waits until the client has subscribed in the next one. */
  readonly reconnect: () => Promise<void>
}

/** The packet with which a broker confirms a subscription. */
const subAck = 0x90

/** Opens a TCP proxy in front of a broker, for one client. */
export async function openBrokerProxy(target: string): Promise<BrokerProxy> {
  const { hostname, port } = new URL(target)
  const openSockets = new Set<Socket>()
  let subscribed = Promise.withResolvers<void>()
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    linkSockets([client, upstream], openSockets)
    const { resolve } = subscribed
    upstream.on('data', (bytes) => bytes.includes(subAck) && resolve())
    client.pipe(upstream).pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reconnect: async () => {
      subscribed = Promise.withResolvers()
      for (const socket of openSockets) socket.destroy()
      await subscribed.promise
    },
    [Symbol.asyncDispose]: async () => {
      server.close()
      for (const socket of openSockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

/** Starts a server that refuses each MQTT connection as not authorized. */
export async function startRefusingBroker() {
  const second = Promise.withResolvers<void>()
  let connections = 0
  const server = createServer((socket) => {
    connections++
    if (connections === 2) second.resolve()
    socket.on('error', () => {})
    // CONNACK with the return code 5.
    socket.once('data', () => socket.end(Buffer.from([0x20, 2, 0, 5])))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Resolves when a second connection was opened. */
    secondConnection: second.promise,
    [Symbol.asyncDispose]: async () => void server.close(),
  }
}
