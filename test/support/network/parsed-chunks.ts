import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { EventEmitter, once } from 'node:events'
import type { IncomingMessage } from 'node:http'

/** The chunks of request bodies that servers of this process parse. */
export type ParsedChunks = Disposable & {
  readonly count: () => number
  /** Resolves when the server stops reading the connection of a request. */
  readonly paused: Promise<unknown>
  /** Resolves when the server has received the heads of this number of requests. */
  readonly started: (requests: number) => Promise<void>
}

const channel = 'http.server.request.start'

export function countParsedChunks(): ParsedChunks {
  let count = 0
  let requestCount = 0
  const onStart = new EventEmitter()
  const { promise: paused, resolve } = Promise.withResolvers<unknown>()
  const onRequest = (message: unknown): void => {
    const { request } = message as { readonly request: IncomingMessage }
    const push = request.push.bind(request)
    request.push = (chunk: Buffer | null) => {
      if (chunk) count += 1
      return push(chunk)
    }
    resolve(once(request.socket, 'pause'))
    requestCount += 1
    onStart.emit('start')
  }
  subscribe(channel, onRequest)
  return {
    count: () => count,
    paused,
    started: async (requests) => {
      const isLast = () => requestCount >= requests
      while (!isLast()) await once(onStart, 'start')
    },
    [Symbol.dispose]: () => void unsubscribe(channel, onRequest),
  }
}

/** A chunk of one byte, a space. */
export const tinyChunk = '1\r\n \r\n'

/** The most chunks of one byte that are parsed at a time. */
export const chunksParsedMax = 64
