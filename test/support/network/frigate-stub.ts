import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The part of Frigate's HTTP API that the bridge uses. */
export type FrigateStub = AsyncDisposable & {
  readonly url: string
  /** Sets the snapshots of an event; the last one is repeated. Null: the connection ends. */
  readonly setSnapshots: (eventId: string, snapshots: readonly (Buffer | null)[]) => void
  /** Whether the configuration can be read. Otherwise it returns 503, as during a start. */
  readonly setReady: (isReady: boolean) => void
  /** The number of snapshots that were read, by event. */
  readonly readCounts: ReadonlyMap<string, number>
  readonly subLabels: readonly { readonly eventId: string; readonly body: unknown }[]
}

export async function startFrigateStub(cameras: readonly string[]): Promise<FrigateStub> {
  const snapshots = new Map<string, readonly (Buffer | null)[]>()
  const readCounts = new Map<string, number>()
  const subLabels: { eventId: string; body: unknown }[] = []
  let isReady = true
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { pathname } = new URL(request.url ?? '', 'http://frigate')
      const [, eventId = '', resource] = /^\/api\/events\/([^/]+)\/(.+)$/u.exec(pathname) ?? []
      if (pathname === '/api/config' && !isReady) {
        response.statusCode = 503
        return response.end('{}')
      }
      if (pathname === '/api/config')
        return response.end(
          JSON.stringify({ cameras: Object.fromEntries(cameras.map((name) => [name, {}])) }),
        )
      if (resource === 'sub_label' && request.method === 'POST') {
        subLabels.push({ eventId, body: JSON.parse(Buffer.concat(chunks).toString()) })
        return response.end('{"success":true}')
      }
      const readCount = readCounts.get(eventId) ?? 0
      readCounts.set(eventId, readCount + 1)
      const ofEvent = snapshots.get(eventId) ?? []
      const snapshot = ofEvent[Math.min(readCount, ofEvent.length - 1)]
      if (snapshot === null) return request.socket.destroy()
      if (resource !== 'snapshot.jpg' || !snapshot) response.statusCode = 404
      return response.end(snapshot)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setSnapshots: (eventId, images) => void snapshots.set(eventId, images),
    setReady: (isNowReady) => {
      isReady = isNowReady
    },
    readCounts,
    subLabels,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
