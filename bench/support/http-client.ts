import { connect } from 'node:net'

export type BenchClient = Disposable & {
  /** Sends a JSON body to the endpoint. Returns the response body. */
  readonly post: (body: string) => Promise<string>
}

/** For a text, Node allocates three bytes per character before it writes them. */
const longBodyChars = 16_384

/**
 * One keep-alive connection with one request in flight. It supports only the part of HTTP that our
 * responses use. On two cores a complete client would cost as much as the measured service.
 */
export async function openClient(url: string, key: string): Promise<BenchClient> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.setNoDelay(true)
  let pending: PromiseWithResolvers<string> | undefined
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
    const headEnd = text.indexOf('\r\n\r\n')
    if (headEnd < 0) return
    const length = Number(/content-length: (\d+)/iu.exec(text)?.[1])
    if (text.length < headEnd + 4 + length) return
    const body = text.slice(headEnd + 4)
    text = ''
    pending?.resolve(body)
  })
  socket.on('error', (error) => pending?.reject(error))
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()))
  return {
    post: (body) => {
      pending = Promise.withResolvers<string>()
      const head =
        `POST /v1/face/execute HTTP/1.1\r\nHost: bench\r\nX-Api-Key: ${key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`
      if (body.length < longBodyChars) socket.write(head + body)
      else socket.write(Buffer.from(head + body))
      return pending.promise
    },
    [Symbol.dispose]: () => socket.destroy(),
  }
}
