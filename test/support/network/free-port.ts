import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Systems take the ports of outgoing connections, and of servers on port 0, above these. */
const portMin = 10_000
const portMax = 32_000

/**
 * Returns a free port that no process gets by chance: a server can close it and listen again later,
 * and while no server listens, connections to it are refused.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(portMin, portMax)
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
    } catch {
      // Another process uses the port.
      continue
    }
    server.close()
    await once(server, 'close')
    return port
  }
}
