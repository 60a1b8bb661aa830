/**
 * The time between two runs of the job that deletes expired subjects and those past their retention.
 * Each server runs it.
 */
export const sweepIntervalMs = 60_000
