/** Milliseconds since 1970 UTC. The clock is a parameter, so that tests can set the time. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()

/**
 * Whole microseconds since 1970 UTC from a monotonic clock. It starts with the system time at the start
 * of the process and only runs forward. Rate limits and deadlines use it, so that a change of the
 * system time neither allows an extra burst nor blocks calls.
 */
export type SteadyClock = () => number

export const steadyClock: SteadyClock = () =>
  Math.floor((performance.timeOrigin + performance.now()) * 1000)
