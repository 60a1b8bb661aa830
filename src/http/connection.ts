import type { Socket } from 'node:net'

// An import statement would also load the HTTP and WebSocket clients of Node, 50 ms at each start.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** Responds to requests that the HTTP parser rejects: broken syntax, headers too large or too slow. */
export function handleClientError(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable) return
  const status = statusOf(error.code)
  const reason = STATUS_CODES[status] ?? ''
  const body = JSON.stringify({ detail: `${reason}.` })
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

function statusOf(code: string | undefined): number {
  if (code === 'HPE_HEADER_OVERFLOW') return 431
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
}
