import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A client that still sends when it is rejected has this long to read the response. */
const lingerMs = 1000

/** Returns whether the client has announced a body that has not arrived in full. */
export function isBodyPending({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/**
 * Lets a client read its response although the rest of its body is not read, then closes the
 * connection. If the body arrives in full in the meantime, the connection stays open for the next
 * request. At most one buffer of 64 KiB is read. An immediate close would reset the connection, and
 * many clients then report the reset instead of the response.
 */
export function startLingeringClose(request: IncomingMessage, response: ServerResponse): void {
  request.read(0) // Marks the body as read. Otherwise Node reads and discards all of it.
  request.on('error', () => {}) // The client may close the connection first.
  response.once('finish', () => {
    const end = (): void => {
      if (!request.complete) request.socket.destroy()
    }
    setTimeout(end, lingerMs).unref()
  })
}

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
