import type { Clock } from '../../lib/clock.ts'
import type { Store } from '../../store/database.ts'
import type { RandomInteger } from './draw-steps.ts'

export type LivenessSessionsOptions = {
  readonly store: Pick<Store, 'read' | 'write'>
  /** On PostgreSQL the clock of the database, so that all servers agree. */
  readonly clock: Clock
  readonly masterKeyFile: string
  readonly randomInteger: RandomInteger
  readonly failuresPerMinuteMax: number
  /** Of each project. */
  readonly openMax: number
  /** Of the stored reference frames of each project. */
  readonly frameBytesMax: number
}

export const attemptsMax = 3

/** The result and the reference frame of a session are kept for this time. */
export const sessionLifeMs = 900_000

/**
 * The requests that the token of a session may send. Three attempts with four angles have 231: at most
 * 12 checks of the frontal frame, 16 of each angle, and the frames. The others are for retries.
 */
export const sessionRequestsMax = 240
