/** Milliseconds since 1970 UTC. Passed in wherever time decides, so that tests can turn it. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()
