import { setImmediate as nextTurn } from 'node:timers/promises'

let lastTurn: Promise<unknown> = Promise.resolve()

/**
 * Resolves in a turn of the event loop in which no other caller of this function goes on. Long work
 * whose steps begin with it takes one step per turn, however many requests do such work.
 */
export function ownTurn(): Promise<unknown> {
  lastTurn = lastTurn.then(() => nextTurn())
  return lastTurn
}
