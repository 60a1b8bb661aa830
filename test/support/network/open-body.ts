import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export type OpenCall = {
  readonly url: string
  readonly key: string
  readonly path?: string
  readonly announcedBytes: number | 'chunked'
  /** The part of the body that is sent. */
  readonly sent: Buffer
  /** Further lines of the head. */
  readonly headers?: readonly string[]
}

/** Sends the head of a call, and of its body only a part: the call stays open. */
export async function openBody(call: OpenCall): Promise<Socket> {
  const { url, key, path = '/v1/face/execute', announcedBytes, sent, headers = [] } = call
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {}).resume()
  await once(socket, 'connect')
  const length =
    announcedBytes === 'chunked'
      ? 'Transfer-Encoding: chunked'
      : `Content-Length: ${announcedBytes}`
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    `X-Api-Key: ${key}`,
    'Content-Type: application/json',
    length,
    ...headers,
  ]
  socket.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), sent]))
  return socket
}
