/** Milliseconds since 1970 UTC. Passed in wherever time decides, so that tests can turn it. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()

/**
 * Whole microseconds since 1970 UTC by a clock that nobody can set: it starts at the time of day of
 * the process's start and only ever runs forward, at its own pace. Rate limits and deadlines live by
 * it, so that a step of the time of day gives no free burst and locks nobody out.
 */
export type SteadyClock = () => number

export const steadyClock: SteadyClock = () =>
  Math.floor((performance.timeOrigin + performance.now()) * 1000)
