import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { linkSockets } from './link-sockets.ts'
import { observePostgresWire } from './postgres-wire.ts'

/**
 * When a connection is closed: before the server receives the commit; when the server may or may not
 * have received it; or after the server committed and before the client receives the result.
 */
export type CommitDisconnectPoint = 'before' | 'during' | 'after'

/** A proxy between a service and its database, which can close connections. */
export type DatabaseProxy = AsyncDisposable & {
  /** The database's URL through this proxy. */
  readonly url: string
  /** Closes all connections and refuses new ones until `reconnect` is called. */
  readonly disconnect: () => void
  readonly reconnect: () => void
  /** Delays everything that the service sends. */
  readonly setDelay: (delayMs: number) => void
  readonly disconnectCounts: () => Readonly<Record<CommitDisconnectPoint, number>>
}

/**
 * Opens a TCP proxy that parses PostgreSQL's protocol and closes some connections at their commit. A
 * statement outside a transaction counts as a commit.
 *
 * @param disconnectAt returns when to close the connection of a commit, numbered from 0, if at all.
 */
export async function openDatabaseProxy(
  target: string,
  disconnectAt: (commit: number) => CommitDisconnectPoint | undefined = () => undefined,
): Promise<DatabaseProxy> {
  const { hostname, port } = new URL(target)
  const openSockets = new Set<Socket>()
  const counts = { before: 0, during: 0, after: 0 }
  let commitCount = 0
  let isDisconnected = false
  let delayMs = 0

  const server = createServer({ noDelay: true }, (client) => {
    if (isDisconnected) {
      client.on('error', () => {}).resetAndDestroy()
      return
    }
    const database = connect({ host: hostname, port: Number(port), noDelay: true })
    linkSockets([client, database], openSockets)
    let point: CommitDisconnectPoint | undefined
    const closeBoth = (): void => {
      if (point) counts[point]++
      point = undefined
      client.resetAndDestroy()
      database.destroy()
    }
    const wire = observePostgresWire({
      onCommitSent: () => {
        point ??= disconnectAt(commitCount++)
      },
      onCommitCompleted: () => {
        if (point === 'after') closeBoth()
      },
    })
    const forward = (bytes: Buffer): void => {
      wire.onClientBytes(bytes)
      if (point === 'before') return closeBoth()
      database.write(bytes)
      if (point === 'during') closeBoth()
    }
    client.on('data', (bytes: Buffer) => {
      if (delayMs === 0) forward(bytes)
      else setTimeout(forward, delayMs, bytes)
    })
    database.on('data', (bytes: Buffer) => {
      wire.onServerBytes(bytes)
      if (point !== 'after' && !client.destroyed) client.write(bytes)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(target)
  // The server listens on a port, so its address is an object.
  url.port = String((server.address() as AddressInfo).port)
  const closeAll = (): void => {
    for (const socket of openSockets) socket.resetAndDestroy()
  }
  return {
    url: url.href,
    disconnect: () => {
      isDisconnected = true
      closeAll()
    },
    reconnect: () => {
      isDisconnected = false
    },
    setDelay: (ms) => {
      delayMs = ms
    },
    disconnectCounts: () => ({ ...counts }),
    [Symbol.asyncDispose]: async () => {
      closeAll()
      server.close()
      await once(server, 'close')
    },
  }
}
