import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { verifyWebhook } from '../../../client/src/webhooks/verify-webhook.ts'
import type { WebhookEvent } from '../../../client/src/webhooks/webhook-event.ts'

export type ReceivedRequest = {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** Responds to one request; without a response, the connection stays open. */
export type Respond = (response: ServerResponse, request: ReceivedRequest) => void

/** A server on loopback that receives the events of webhooks. */
export type WebhookReceiver = AsyncDisposable & {
  readonly url: string
  /** The requests in the order of their arrival. */
  readonly requests: readonly ReceivedRequest[]
  /** Sets the responses; by default, the status is 204. */
  readonly respond: (respond: Respond) => void
  /** Waits until a request matches, and returns all that do. */
  readonly waitFor: (
    matches: (request: ReceivedRequest) => boolean,
    count?: number,
  ) => Promise<readonly ReceivedRequest[]>
}

/** A webhook responds within a second on a free machine. */
const waitMsMax = 60_000

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const requests: ReceivedRequest[] = []
  let respond: Respond = accept
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const { url: path = '', headers } = incoming
      const request = { path, headers, body: Buffer.concat(chunks).toString() }
      requests.push(request)
      respond(response, request)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    respond: (next) => (respond = next),
    waitFor: async (matches, count = 1) => {
      const endMs = Date.now() + waitMsMax
      for (;;) {
        const found = requests.filter(matches)
        if (found.length >= count) return found
        if (Date.now() > endMs)
          throw new Error(`${found.length} of ${count} events arrived, of ${requests.length}`)
        await sleep(20)
      }
    },
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

export const accept: Respond = (response) => void response.writeHead(204).end()

export function respondWith(status: number, headers: Record<string, string> = {}): Respond {
  return (response) => void response.writeHead(status, headers).end()
}

/** Returns the event of a request. @throws WebhookSignatureError unless it is signed. */
export function eventOf(
  { headers, body }: ReceivedRequest,
  secret: string | readonly string[],
  nowMs = Date.now(),
): Promise<WebhookEvent> {
  const signature = headers['facegate-signature'] as string | undefined
  return verifyWebhook({ body, signature, secret, nowMs })
}
