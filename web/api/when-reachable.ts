import { canReachServer } from './api.ts'
import { reportReachable } from './connection.ts'

/** The time until the next attempt to reach the server. */
export const reconnectMs = 3000

/** Loads a script. Without a connection it waits until the server can be reached, then tries again. */
export async function whenReachable<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
  try {
    return await load()
  } catch (error) {
    // The server can be reached: the script is missing, such as after an update of the service.
    if (await canReachServer()) throw error
    reportReachable(false)
  }
  while (!(await canReachServer()))
    await new Promise((resolve) => {
      setTimeout(resolve, reconnectMs)
    })
  return load()
}
