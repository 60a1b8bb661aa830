import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { linkSockets } from './link-sockets.ts'
import { observePostgresWire } from './postgres-wire.ts'

/**
 * Where a connection is cut: the server never learns of the commit; nobody knows what became of it;
 * the server has committed, and nobody hears of it.
 */
export type CommitDisconnectPoint = 'before' | 'amid' | 'after'

/** The line between a service and its database, to be cut. */
export type DatabaseProxy = AsyncDisposable & {
  /** The database's address by way of this line. */
  readonly url: string
  /** Cuts every connection and refuses new ones, until it is mended. */
  readonly disconnect: () => void
  readonly reconnect: () => void
  /** How long what the service says is on its way. */
  readonly setDelay: (delayMs: number) => void
  readonly disconnectCounts: () => Readonly<Record<CommitDisconnectPoint, number>>
}

/**
 * A TCP proxy that reads PostgreSQL's protocol, and cuts some connections at their commit. A
 * statement outside a transaction commits by itself.
 *
 * @param cutFor which cut the commit with this number, from 0, gets, if any.
 */
export async function openDatabaseProxy(
  target: string,
  cutFor: (commit: number) => CommitDisconnectPoint | undefined = () => undefined,
): Promise<DatabaseProxy> {
  const { hostname, port } = new URL(target)
  const open = new Set<Socket>()
  const cuts = { before: 0, amid: 0, after: 0 }
  let commitCount = 0
  let isSevered = false
  let delayMs = 0

  const server = createServer({ noDelay: true }, (client) => {
    if (isSevered) {
      client.on('error', () => {}).resetAndDestroy()
      return
    }
    const database = connect({ host: hostname, port: Number(port), noDelay: true })
    linkSockets([client, database], open)
    let cut: CommitDisconnectPoint | undefined
    const sever = (): void => {
      if (cut) cuts[cut]++
      cut = undefined
      client.resetAndDestroy()
      database.destroy()
    }
    const wire = observePostgresWire({
      onCommitSent: () => {
        cut ??= cutFor(commitCount++)
      },
      onCommitCompleted: () => {
        if (cut === 'after') sever()
      },
    })
    const forward = (bytes: Buffer): void => {
      wire.onClientBytes(bytes)
      if (cut === 'before') return sever()
      database.write(bytes)
      if (cut === 'amid') sever()
    }
    client.on('data', (bytes: Buffer) => {
      if (delayMs === 0) forward(bytes)
      else setTimeout(forward, delayMs, bytes)
    })
    database.on('data', (bytes: Buffer) => {
      wire.onServerBytes(bytes)
      if (cut !== 'after' && !client.destroyed) client.write(bytes)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(target)
  // It listens on a port.
  url.port = String((server.address() as AddressInfo).port)
  const cutAll = (): void => {
    for (const socket of open) socket.resetAndDestroy()
  }
  return {
    url: url.href,
    disconnect: () => {
      isSevered = true
      cutAll()
    },
    reconnect: () => {
      isSevered = false
    },
    setDelay: (ms) => {
      delayMs = ms
    },
    disconnectCounts: () => ({ ...cuts }),
    [Symbol.asyncDispose]: async () => {
      cutAll()
      server.close()
      await once(server, 'close')
    },
  }
}
