/** Why the server closed a connection. */
export type CloseReason = 'connections_max' | 'connections_per_address_max' | 'write_timeout'

/** Counts the connections of the process, for the metrics. */
export type ConnectionStats = ReturnType<typeof createConnectionStats>

export function createConnectionStats() {
  let open = 0
  const closed = new Map<CloseReason, number>([
    ['connections_max', 0],
    ['connections_per_address_max', 0],
    ['write_timeout', 0],
  ])
  return {
    recordOpened: (): void => {
      open++
    },
    recordEnd: (): void => {
      open--
    },
    recordClosed: (reason: CloseReason) => void closed.set(reason, (closed.get(reason) ?? 0) + 1),
    /** Returns the open connections, and those that a limit closed. */
    read: () => ({ open, closed }),
  }
}
