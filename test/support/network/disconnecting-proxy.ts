import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { linkSockets } from './link-sockets.ts'

/** When a connection is closed. `afterResponse` is after the last byte of a kept-alive connection. */
export type DisconnectPoint =
  | 'beforeRequest'
  | 'duringRequest'
  | 'beforeResponse'
  | 'duringResponse'
  | 'afterResponse'

export type DisconnectingProxy = AsyncDisposable & {
  readonly url: string
  /** The number of requests, and how many of their connections were closed at which point. */
  readonly requestCount: () => number
  readonly disconnectCounts: () => Readonly<Record<DisconnectPoint, number>>
}

/**
 * Opens a TCP proxy that closes the connections of some requests.
 *
 * @param disconnectAt returns when to close the connection of a request, numbered from 0, if at all.
 */
export async function openDisconnectingProxy(
  target: string,
  disconnectAt: (request: number) => DisconnectPoint | undefined,
): Promise<DisconnectingProxy> {
  const { hostname, port } = new URL(target)
  const openSockets = new Set<Socket>()
  let requestCount = 0
  const counts: Record<DisconnectPoint, number> = {
    beforeRequest: 0,
    duringRequest: 0,
    beforeResponse: 0,
    duringResponse: 0,
    afterResponse: 0,
  }

  const server = createServer((client) => {
    const service = connect(Number(port), hostname)
    linkSockets([client, service], openSockets)
    const closeBoth = (point: DisconnectPoint): void => {
      counts[point]++
      client.resetAndDestroy()
      service.destroy()
    }
    let isSending = false
    let point: DisconnectPoint | undefined
    // An HTTP/1.1 client sends its next request after the response: later bytes begin a new request.
    client.on('data', (bytes: Buffer) => {
      if (!isSending) point = disconnectAt(requestCount++)
      isSending = true
      if (point === 'beforeRequest') return closeBoth(point)
      if (point === 'duringRequest') service.write(bytes.subarray(0, bytes.length / 2))
      else return void service.write(bytes)
      return closeBoth(point)
    })
    service.on('data', (bytes: Buffer) => {
      isSending = false
      if (point === 'beforeResponse') return closeBoth(point)
      if (point === 'duringResponse')
        return void client.write(bytes.subarray(0, bytes.length / 2), () =>
          closeBoth('duringResponse'),
        )
      if (point !== 'afterResponse') return void client.write(bytes)
      counts.afterResponse++
      service.destroy()
      return void client.end(bytes)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // The server listens on a port, so its address is an object.
  const { port: ownPort } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${ownPort}`,
    requestCount: () => requestCount,
    disconnectCounts: () => ({ ...counts }),
    [Symbol.asyncDispose]: async () => {
      for (const socket of openSockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
