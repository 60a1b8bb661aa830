import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A TCP connection that sends any bytes, for requests that no HTTP client would send. */
export type RawClient = {
  readonly socket: Socket
  /** Sends the text; without `read`, nothing of the response is read. */
  readonly send: (text: string) => void
  /** Reads from now on. Returns the text received so far. */
  readonly received: () => string
  /** Reads until the predicate accepts the received text. @throws Error if the connection ends first. */
  readonly readUntil: (isComplete: (text: string) => boolean) => Promise<string>
  /** Reads until the server closes the connection. */
  readonly readToEnd: () => Promise<string>
}

export async function openRawClient(url: string): Promise<RawClient> {
  const { hostname, port } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, noDelay: true })
  socket.on('error', () => {}) // A reset ends the connection like any other close.
  await once(socket, 'connect')
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  let text = ''
  const read = (): void => {
    if (socket.listenerCount('data') > 0) return
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      socket.emit('received')
    })
  }
  return {
    socket,
    send: (request) => void socket.write(request, 'latin1'),
    received: () => {
      read()
      return text
    },
    readUntil: async (isComplete) => {
      read()
      while (!isComplete(text)) {
        const isClosed = await Promise.race([
          closed.then(() => true),
          once(socket, 'received').then(() => false),
        ])
        if (isClosed && !isComplete(text)) throw new Error(`the connection ended after: ${text}`)
      }
      return text
    },
    readToEnd: async () => {
      read()
      await closed
      return text
    },
  }
}

/** Returns a GET request without a body. */
export function rawGet(path: string, headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: test\r\n${headers}\r\n`
}

/** Returns the number of responses with the status. */
export function countResponses(text: string, status: number): number {
  return text.split(`HTTP/1.1 ${status} `).length - 1
}
