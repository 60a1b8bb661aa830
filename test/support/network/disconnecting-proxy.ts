import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { linkSockets } from './link-sockets.ts'

/** When a connection is cut: `answered` is after the last byte, on a line that is kept open. */
export type DisconnectPoint =
  | 'beforeRequest'
  | 'amidRequest'
  | 'beforeAnswer'
  | 'amidAnswer'
  | 'answered'

export type DisconnectingProxy = AsyncDisposable & {
  readonly url: string
  /** How many requests have come, and how many of them were cut, by when. */
  readonly requestCount: () => number
  readonly disconnectCounts: () => Readonly<Record<DisconnectPoint, number>>
}

/**
 * A TCP proxy that cuts the connections of some requests.
 *
 * @param cutFor which cut the request with this number, from 0, gets, if any.
 */
export async function openDisconnectingProxy(
  target: string,
  cutFor: (request: number) => DisconnectPoint | undefined,
): Promise<DisconnectingProxy> {
  const { hostname, port } = new URL(target)
  const open = new Set<Socket>()
  let requestCount = 0
  const cuts = { beforeRequest: 0, amidRequest: 0, beforeAnswer: 0, amidAnswer: 0, answered: 0 }

  const server = createServer((client) => {
    const service = connect(Number(port), hostname)
    linkSockets([client, service], open)
    const sever = (cut: DisconnectPoint): void => {
      cuts[cut]++
      client.resetAndDestroy()
      service.destroy()
    }
    let isAsking = false
    let cut: DisconnectPoint | undefined
    // A client of HTTP/1.1 asks again only after the answer: bytes after it begin a new request.
    client.on('data', (bytes: Buffer) => {
      if (!isAsking) cut = cutFor(requestCount++)
      isAsking = true
      if (cut === 'beforeRequest') return sever(cut)
      if (cut === 'amidRequest') service.write(bytes.subarray(0, bytes.length / 2))
      else return void service.write(bytes)
      return sever(cut)
    })
    service.on('data', (bytes: Buffer) => {
      isAsking = false
      if (cut === 'beforeAnswer') return sever(cut)
      if (cut === 'amidAnswer')
        return void client.write(bytes.subarray(0, bytes.length / 2), () => sever('amidAnswer'))
      if (cut !== 'answered') return void client.write(bytes)
      cuts.answered++
      service.destroy()
      return void client.end(bytes)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // It listens on a port.
  const { port: ownPort } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${ownPort}`,
    requestCount: () => requestCount,
    disconnectCounts: () => ({ ...cuts }),
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
